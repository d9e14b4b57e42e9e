"""weights: the answers against the library in Python, files that other commands read, columns by name, the page, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

SHIFT = ["method", "n", "m", "features", "kernel", "bound", "epsilon", "ridge", "mmd_before", "mmd_after", "mmd_error", "effective_sample_size", "mean", "zeros",
         "at_bound", "gap", "converged", "sentence", "remarks", "notes", "seconds", "files"]
ROWS = ["method", "n", "features", "m", "kernel", "seed", "mmd", "mmd_error", "random_mmd", "effective_size", "sentence", "rows", "remarks", "notes", "seconds", "files"]
MIXTURE = ["method", "n", "features", "kernel", "components", "sizes", "weights", "mmd", "component_mmd", "gap", "unique", "sentence", "remarks", "notes", "seconds", "files"]


def table(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def write(path, names, *columns):
    lines = [",".join(names)] + [",".join(v if isinstance(v, str) else f"{v:.17g}" for v in row) for row in zip(*columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def distance(X, Y, v, gamma):
    w = np.full(len(X), 1 / len(X))
    return np.sqrt(max(0.0, w @ rbf_kernel(X, gamma=gamma) @ w - 2 * w @ rbf_kernel(X, Y, gamma=gamma) @ v + v @ rbf_kernel(Y, gamma=gamma) @ v))


@pytest.fixture
def shifted(tmp_path):
    random = np.random.RandomState(0)
    X, T = random.randn(150, 2) * [1, 10], (0.5 * random.randn(100, 2) + 0.7) * [1, 10]
    y = X[:, 0] ** 3 + 0.1 * random.randn(150)
    write(tmp_path / "train.csv", ["a", "b", "y"], *X.T, y)
    write(tmp_path / "target.csv", ["b", "other", "a"], T[:, 1], T[:, 0] * 0, T[:, 0])  # another order, and a column more
    return X, T


def test_shift(mercer, shifted, tmp_path):
    X, T = shifted
    result = mercer("weights", "shift", "train.csv", "target.csv", "--kernel", "gaussian(1)", "--bound", "5", "--out", "w.csv", "--report", "r.html", "--json").json
    assert set(SHIFT) <= set(result) and "weights" not in result and result["files"] == {"weights": "w.csv", "report": "r.html"}
    assert (result["method"], result["n"], result["m"], result["features"], result["bound"]) == ("shift", 150, 100, 2, 5)
    written = table(tmp_path / "w.csv")
    assert written[0] == ["a", "b", "y", "weight"] and len(written) == 151
    w = np.array([float(row[3]) for row in written[1:]])
    assert w.mean() == pytest.approx(1) and w.min() >= 0 and w.max() <= 5 + 1e-9
    scaler = StandardScaler().fit(X)
    A, B = scaler.transform(X), scaler.transform(T)
    assert result["mmd_after"] == pytest.approx(distance(B, A, w / 150, 0.5), abs=1e-6)
    assert result["mmd_before"] == pytest.approx(distance(B, A, np.full(150, 1 / 150), 0.5), abs=1e-9)
    assert result["effective_sample_size"] == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert result["mmd_after"] < 0.2 * result["mmd_before"]
    assert "<html" in (tmp_path / "r.html").read_text()[:200].lower()
    mercer("fit", "ridge", "w.csv", "--target", "y", "--sample-weight", "weight", "--out", "m.mercer")  # what the words after the job say


def test_shift_speaks(mercer, shifted):
    said = mercer("weights", "shift", "train.csv", "target.csv", "--bound", "none", "--epsilon", "0.1", "--ridge", "0.01").out
    assert "Column y is no feature" in said and "effective sample size" in said and "--out weighted.csv writes them" in said
    result = mercer("weights", "shift", "train.csv", "target.csv", "--bound", "none", "--json").json
    assert result["bound"] is None and len(result["weights"]) == 150 and result["kernel"].startswith("gaussian(")
    piped = mercer("weights", "shift", "train.csv", "target.csv", "--out", "-")
    assert piped.out.startswith("a,b,y,weight\n") and "effective sample size" in piped.err


def test_shift_matches_columns_by_name(mercer, shifted, tmp_path):
    write(tmp_path / "short.csv", ["a", "c"], [1.0, 2.0], [3.0, 4.0])
    assert "b" in mercer.fails(1, "weights", "shift", "train.csv", "short.csv")
    assert mercer.fails(1, "weights", "shift", "train.csv", "nowhere.csv") != ""
    assert "raise bound" in mercer.fails(1, "weights", "shift", "train.csv", "target.csv", "--bound", "0.5")
    assert "--bound" in mercer.fails(2, "weights", "shift", "train.csv", "target.csv", "--bound", "much")
    assert "--epsilon" in mercer.fails(2, "weights", "shift", "train.csv", "target.csv", "--epsilon", "1")
    assert "precomputed" in mercer.fails(2, "weights", "shift", "train.csv", "target.csv", "--kernel", "precomputed")


@pytest.mark.parametrize("method", ["squash", "herd", "thin"])
def test_few_rows_for_many(mercer, tmp_path, method):
    random = np.random.RandomState(1)
    X = random.randn(400, 2) * [1, 100]
    kind = [f"k{i % 3}" for i in range(400)]
    write(tmp_path / "data.csv", ["u", "v", "label"], *X.T, kind)
    result = mercer("weights", method, "data.csv", "-m", "25", "--kernel", "gaussian(1)", "--out", "few.csv", "--report", "r.html", "--json").json
    assert set(ROWS) <= set(result) and (result["method"], result["n"], result["m"]) == (method, 400, 25)
    assert result["files"] == {"rows": "few.csv", "report": "r.html"}
    written = table(tmp_path / "few.csv")
    assert written[0] == ["u", "v", "label"] + (["weight"] if method == "squash" else []) and len(written) == 26
    for row, i in zip(written[1:], result["rows"], strict=True):
        assert float(row[0]) == X[i, 0] and float(row[1]) == X[i, 1] and row[2] == kind[i]  # as they were, unscaled
    w = np.array(result["weights"]) if method == "squash" else np.full(25, 1 / 25)
    if method == "squash":
        np.testing.assert_allclose([float(row[3]) for row in written[1:]], w)
    Z = StandardScaler().fit_transform(X)
    assert result["mmd"] == pytest.approx(distance(Z, Z[result["rows"]], w, 0.5), abs=1e-7)
    assert result["mmd"] < 0.4 * result["random_mmd"]
    assert ("path" in result) == (method == "herd") and ("gap" in result) == (method == "squash")
    assert len(set(result["rows"])) == 25
    said = mercer("weights", method, "data.csv", "-m", "25").out
    assert "of as many random rows" in said and "--out few.csv writes them" in said


def test_thin_by_the_root_and_seeds(mercer, tmp_path):
    X = np.random.RandomState(2).randn(900, 3)
    np.save(tmp_path / "X.npy", X)
    one = mercer("weights", "thin", "X.npy", "--json").json
    assert one["m"] == 30 and one["rows"] == mercer("weights", "thin", "X.npy", "--json", "--threads", "1").json["rows"]
    assert one["rows"] != mercer("weights", "thin", "X.npy", "--json", "--seed", "1").json["rows"]
    mercer("weights", "thin", "X.npy", "-m", "10", "--out", "few.npy", "--measure", "none")
    assert np.load(tmp_path / "few.npy").shape == (10, 3)
    assert mercer("weights", "herd", "X.npy", "-m", "5", "--measure", "features", "--json").json["mmd_error"] > 0
    assert "trivial" in mercer.fails(1, "weights", "squash", "X.npy", "-m", "900")
    assert "at most 900" in mercer.fails(1, "weights", "thin", "X.npy", "-m", "901")
    assert "--rows is required" in mercer.fails(2, "weights", "herd", "X.npy") and "method" in mercer.fails(2, "weights")
    assert "did you mean squash" in mercer.fails(2, "weights", "sqash", "X.npy")
    assert "candidates" in mercer.fails(1, "weights", "herd", "X.npy", "-m", "5", "--candidates", "3")


def test_mixture(mercer, tmp_path):
    random = np.random.RandomState(3)
    A, B = random.randn(300, 2), random.randn(300, 2) + 2
    X = np.concatenate([random.randn(150, 2), random.randn(50, 2) + 2])
    write(tmp_path / "x.csv", ["u", "v"], *X.T)
    write(tmp_path / "a.csv", ["u", "v"], *A.T)
    write(tmp_path / "b.csv", ["v", "u"], B[:, 1], B[:, 0])
    result = mercer("weights", "mixture", "x.csv", "--components", "a.csv", "b.csv", "--kernel", "gaussian(1)", "--out", "shares.csv", "--json").json
    assert set(MIXTURE) <= set(result) and result["components"] == ["a.csv", "b.csv"] and result["sizes"] == [300, 300]
    np.testing.assert_allclose(result["weights"], [0.75, 0.25], atol=0.08)
    scaler = StandardScaler().fit(X)
    both = np.concatenate([scaler.transform(A), scaler.transform(B)])
    assert result["mmd"] == pytest.approx(distance(scaler.transform(X), both, np.repeat(np.array(result["weights"]) / 300, 300), 0.5), abs=1e-7)
    written = table(tmp_path / "shares.csv")
    assert written[0] == ["component", "weight", "mmd"] and written[1][0] == "a.csv" and float(written[2][1]) == pytest.approx(result["weights"][1])
    said = mercer("weights", "mixture", "x.csv", "--components", "a.csv", "b.csv").out
    assert "distance alone" in said and "b.csv" in said
    assert "--components" in mercer.fails(2, "weights", "mixture", "x.csv")
    write(tmp_path / "c.csv", ["u"], [1.0])
    assert "v" in mercer.fails(1, "weights", "mixture", "x.csv", "--components", "c.csv")


def test_sparse_rows_and_constant_columns(mercer, tmp_path):
    random = np.random.RandomState(4)
    (tmp_path / "d.libsvm").write_text("".join(f"{i % 2} 1:{random.randn():.6g} 3:{random.randn():.6g}\n" for i in range(60)))
    result = mercer("weights", "thin", "d.libsvm", "-m", "8", "--out", "rows.csv", "--json").json
    assert table(tmp_path / "rows.csv")[0] == ["row"] and [int(float(r[0])) for r in table(tmp_path / "rows.csv")[1:]] == result["rows"]
    write(tmp_path / "same.csv", ["a", "b"], [1.0] * 20, [2.0] * 20)
    assert mercer("weights", "squash", "same.csv", "-m", "3", "--json").json["mmd"] == pytest.approx(0, abs=1e-6)
    assert json.loads(mercer("weights", "shift", "same.csv", "same.csv", "--json").out)["mmd_after"] == pytest.approx(0, abs=1e-6)
