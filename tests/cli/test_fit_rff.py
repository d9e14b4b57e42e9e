"""fit rff: ridge regression on random Fourier features, from a table through a file to answers."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import io

import numpy as np
import pytest


def predictions(text, column="prediction"):
    rows = list(csv.reader(io.StringIO(text)))
    return [row[rows[0].index(column)] for row in rows[1:]]


@pytest.fixture
def waves(mercer):
    mercer("convert", "builtin:waves", "waves.csv")
    return "waves.csv"


def test_near_kernel_ridge_and_back_from_its_file(mercer, waves):
    exact = mercer("fit", "krr", waves, "--kernel", "gaussian(0.3)", "--alpha", "0.1", "--intercept", "--out", "krr.mercer")
    assert "Cholesky" in exact.out
    result = mercer(
        "fit", "rff", waves, "--kernel", "gaussian(0.3)", "--alpha", "0.1", "--components", "4000", "--out", "rff.mercer", "--json"
    ).json
    assert (result["model"], result["components"], result["form"], result["orthogonal"]) == ("rff", 4000, "sincos", False)
    assert (result["alpha"], result["precision"], result["held_out"]) == (0.1, "float64", None)
    assert result["kernel_error"] == pytest.approx(np.sqrt(4 * np.log(2 / 0.05) / 4000))
    want = np.array(predictions(mercer("predict", "krr.mercer", waves).out), float)
    got = np.array(predictions(mercer("predict", "rff.mercer", waves).out), float)
    assert np.std(got - want) < 0.05 * np.std(want)
    assert result["train"]["rmse"] == pytest.approx(mercer("score", "rff.mercer", waves, "--json").json["rmse"], rel=1e-9)
    text = mercer("info", "rff.mercer").out
    assert "4000 random Fourier features of 1 columns, sines and cosines" in text and "gaussian(0.3)" in text
    info = mercer("info", "rff.mercer", "--json").json
    assert info["kind"] == "rff" and info["alpha"] == [0.1]


def test_validation_seed_and_forms(mercer, waves):
    def fit(*options):
        return mercer("fit", "rff", waves, "--kernel", "matern(2.5, 0.5)", "--components", "60", *options, "--json").json

    one = fit("--validation", "0.3", "--seed", "4")
    assert 0 < one["held_out"]["n"] < one["n"] and one["held_out"]["r2"][0] > 0.5
    assert one["held_out"] == fit("--validation", "0.3", "--seed", "4", "--threads", "1")["held_out"]
    assert one["held_out"] != fit("--validation", "0.3", "--seed", "5")["held_out"]
    assert fit("--form", "cos")["form"] == "cos"
    assert fit("--orthogonal")["kernel_error"] is None
    assert fit("--precision", "float32")["precision"] == "float32"
    said = mercer("fit", "rff", waves, "--kernel", "gaussian(0.3)", "--components", "60", "--validation", "0.3").out
    assert "held-out rows" in said and "(Hoeffding)" in said


def test_classes(mercer):
    result = mercer("fit", "rff", "builtin:moons", "--kernel", "gaussian(0.5)", "--components", "200", "--alpha", "0.1", "--out", "m.mercer", "--json").json
    assert result["task"] == "classification" and result["train"]["accuracy"] > 0.9
    assert set(predictions(mercer("predict", "m.mercer", "builtin:moons").out)) == {"0", "1"}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--components", "7"], 2, "must be even"),
        (["--components", "0"], 2, "--components"),
        (["--form", "sine"], 2, "--form"),
        (["--validation", "1"], 2, "--validation"),
        (["--kernel", "linear"], 1, "use gaussian, laplacian, matern"),
        (["--kernel", "laplacian(1, norm=l1)", "--orthogonal"], 1, "every direction"),
        (["--components", "20000", "--memory", "1M"], 1, "random features"),
    ],
)
def test_says_what_is_wrong(mercer, waves, options, code, words):
    assert words in mercer.fails(code, "fit", "rff", waves, *options)
