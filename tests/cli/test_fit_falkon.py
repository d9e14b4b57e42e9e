"""fit falkon: against kernel ridge, and files read in parts against files read whole."""
# SPDX-License-Identifier: BSD-3-Clause
import gzip

import numpy as np
import pytest


@pytest.fixture
def waves(tmp_path):
    """4000 rows: 350 kB of text."""
    rng = np.random.RandomState(1)
    X = rng.randn(4000, 3)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * rng.randn(4000)
    path = tmp_path / "waves.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    return path


def test_all_rows_as_landmarks_is_krr(mercer, table):
    for model in ("krr", "falkon"):
        mercer("fit", model, table, "--alpha", "0.5", "--intercept", "--out", f"{model}.mercer")
    krr, falkon = (np.loadtxt(mercer("predict", f"{m}.mercer", table).out.splitlines()[1:], delimiter=",", usecols=-1) for m in ("krr", "falkon"))
    np.testing.assert_allclose(falkon, krr, rtol=0, atol=1e-6)
    assert "landmarks" in mercer("info", "falkon.mercer").out


def test_files_in_parts_give_the_same_model(mercer, waves):
    words = ("--kernel", "gaussian(1.5)", "--landmarks", "100", "--validation", "0.2", "--json")
    whole = mercer("fit", "falkon", waves, *words, "--out", "whole.mercer").json
    assert "in_parts" not in whole
    parts = mercer("fit", "falkon", waves, *words, "--memory", "800K", "--out", "parts.mercer").json
    assert "waves.csv (" in parts["in_parts"] and "read in parts of" in parts["in_parts"]
    assert parts["n"] == whole["n"] == 4000 and parts["notes"] == whole["notes"]
    for key in ("rmse", "r2", "mae"):
        assert parts["train"][key] == pytest.approx(whole["train"][key], rel=1e-6)
    assert parts["summary"]["validation"] == pytest.approx(whole["summary"]["validation"], rel=1e-6)
    assert whole["summary"]["validation"]["r2"] > 0.9
    packed = waves.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(waves.read_bytes()))
    zipped = mercer("fit", "falkon", packed, *words, "--in-parts").json
    assert zipped["train"]["rmse"] == pytest.approx(whole["train"]["rmse"], rel=1e-6)
    predictions = [mercer("predict", f"{m}.mercer", waves).out for m in ("whole", "parts")]
    a, b = (np.loadtxt(p.splitlines()[1:], delimiter=",", usecols=-1) for p in predictions)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def test_a_file_that_does_not_fit_is_said_to_be_read_in_parts(mercer, waves):
    text = mercer("fit", "falkon", waves, "--landmarks", "50", "--memory", "800K").out
    assert "for all of it would not fit the memory budget" in text and "one pass over 4000 rows, 50 landmarks (uniform)" in text


def test_small_files_of_large_tables_are_read_in_parts(mercer, tmp_path):
    rng = np.random.RandomState(0)
    bytes_ = rng.randint(0, 9, (100000, 20)).astype(np.uint8)  # 2 MB, of which a table takes 16
    np.save(tmp_path / "bytes.npy", bytes_)
    words = ("--landmarks", "20", "--task", "regress", "--kernel", "gaussian(10)")
    text = mercer("fit", "falkon", tmp_path / "bytes.npy", *words, "--memory", "8M").out
    assert "for all of it would not fit the memory budget" in text and "over 100000 rows" in text
    packed = tmp_path / "same.csv.gz"  # 4 MB of text in some 10 kB
    packed.write_bytes(gzip.compress(b"a,b,y\n" + b"1.25,2.5,3.75\n2.25,3.5,5.75\n" * 200000))
    text = mercer("fit", "falkon", packed, *words, "--memory", "7M").out
    assert "for all of it would not fit the memory budget" in text and "over 400000 rows" in text
    error = mercer.fails(1, "fit", "falkon", packed, "--landmarks", "20000", "--memory", "7M")
    assert "use fewer landmarks" in error


def test_an_intercept_is_the_default(mercer, waves, tmp_path):
    rows = np.loadtxt(waves, delimiter=",", skiprows=1)
    rows[:, -1] += 1000
    np.savetxt(tmp_path / "far.csv", rows, delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    common = ("--kernel", "gaussian(1.5)", "--landmarks", "100", "--json")
    near, far = (mercer("fit", "falkon", path, *common).json for path in (waves, tmp_path / "far.csv"))
    assert far["train"]["r2"] == pytest.approx(near["train"]["r2"], rel=1e-6) and near["train"]["r2"] > 0.9
    assert mercer("fit", "falkon", tmp_path / "far.csv", *common, "--no-intercept").json["train"]["r2"] < near["train"]["r2"]


def test_classes(mercer, flowers):
    words = ("fit", "falkon", flowers, "--target", "kind", "--one-hot", "--json")
    whole, parts = mercer(*words).json, mercer(*words, "--in-parts").json
    assert whole["classes"] == parts["classes"] == ["elm", "fir, blue", "oak"]
    assert whole["train"]["accuracy"] == parts["train"]["accuracy"] == 1


@pytest.mark.parametrize("choose", ["uniform", "kmeans", "rpcholesky", "leverage"])
def test_choices_and_solvers(mercer, waves, choose):
    common = ("fit", "falkon", waves, "--kernel", "gaussian(1)", "--landmarks", "60", "--choose", choose, "--json")
    one = mercer(*common, "--solver", "one-pass").json
    two = mercer(*common, "--solver", "cg", "--tolerance", "1e-9").json
    assert one["summary"]["landmarks"] == choose and one["landmarks"] == 60
    assert two["summary"]["method"] == "conjugate gradients" and two["summary"]["iterations"] > 3
    assert one["train"]["rmse"] == pytest.approx(two["train"]["rmse"], rel=1e-4)
    assert 0 < one["summary"]["trace_error"] < 0.5


def test_wrong_use(mercer, table):
    assert "--landmarks" in mercer.fails(2, "fit", "falkon", table, "--landmarks", "0")
    assert "--choose must be uniform|kmeans|rpcholesky|leverage" in mercer.fails(2, "fit", "falkon", table, "--choose", "best").replace(": ", " ")
    assert "can be read only once" in mercer.fails(1, "fit", "falkon", "-", "--in-parts", stdin="a,b\n1,2\n")
    assert "cannot be read" in mercer.fails(1, "fit", "falkon", "none.csv")


def test_the_kernel_is_learned_first(mercer, waves):
    common = ("fit", "falkon", waves, "--landmarks", "100", "--json")
    plain, learned = mercer(*common).json, mercer(*common, "--learn-kernel", "evidence", "--ard").json
    assert learned["learned"]["objective"] == "evidence" and learned["kernel"].startswith("gaussian([")
    assert learned["train"]["rmse"] < plain["train"]["rmse"]
    assert "in memory" in mercer.fails(1, "fit", "falkon", waves, "--learn-kernel", "loo", "--in-parts")
