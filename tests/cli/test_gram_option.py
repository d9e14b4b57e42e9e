"""--gram: kernel values from a file in fits, predictions, scores, maps, clusters and tests, against numpy and against the same kernel on columns."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json

import numpy as np
import pytest

N, M = 40, 7


def gaussian(X, Y, scale=1.5):
    return np.exp(-((X[:, None, :] - Y[None, :, :]) ** 2).sum(2) / (2 * scale**2))


def column(path, name):
    with open(path, newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


@pytest.fixture
def objects(tmp_path):
    """Forty objects as rows and as a Gram matrix, a table of targets beside it, and seven new ones."""
    random = np.random.default_rng(3)
    X, new = random.normal(size=(N, 3)), random.normal(size=(M, 3))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    kind = np.where(X[:, 0] + 0.3 * X[:, 2] > 0, "up", "down")
    np.save(tmp_path / "K.npy", gaussian(X, X))
    np.savetxt(tmp_path / "K.csv", gaussian(X, X), delimiter=",", fmt="%.17g")
    np.save(tmp_path / "new.npy", gaussian(new, X))
    (tmp_path / "y.csv").write_text("id,y\n" + "".join(f"a{i},{float(y[i])!r}\n" for i in range(N)))
    (tmp_path / "kind.csv").write_text("kind\n" + "".join(f"{word}\n" for word in kind))
    (tmp_path / "rows.csv").write_text("a,b,c,kind\n" + "".join(",".join(map(repr, map(float, X[i]))) + f",{kind[i]}\n" for i in range(N)))
    (tmp_path / "newrows.csv").write_text("a,b,c\n" + "".join(",".join(map(repr, map(float, row))) + "\n" for row in new))
    return X, new, y, kind


def test_kernel_ridge_is_the_closed_form(mercer, objects, tmp_path):
    X, new, y, _ = objects
    out = mercer("fit", "krr", "y.csv", "--gram", "K.npy", "--alpha", "0.1", "--out", "m.mercer").out
    assert "The kernel values are those of K.npy, 40 objects; columns of DATA are no features." in out
    assert "kernel ridge, precomputed, alpha 0.1" in out and "The target is column 2 (y), by its name; the task is regression" in out
    wanted = gaussian(new, X) @ np.linalg.solve(gaussian(X, X) + 0.1 * np.eye(N), y)
    mercer("predict", "m.mercer", "--gram", "new.npy", "--out", "p.csv")
    np.testing.assert_allclose(np.array(column(tmp_path / "p.csv", "prediction"), float), wanted, rtol=1e-9)
    mercer("predict", "m.mercer", "new.npy", "--out", "q.csv")  # rows of kernel values are also the columns the model knows
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "p.csv").read_text()
    mercer("fit", "krr", "y.csv", "--gram", "K.csv", "--alpha", "0.1", "--out", "csv.mercer")
    mercer("predict", "csv.mercer", "--gram", "new.npy", "--out", "r.csv")
    np.testing.assert_allclose(np.array(column(tmp_path / "r.csv", "prediction"), float), wanted, rtol=1e-9)
    score = mercer("score", "m.mercer", "y.csv", "--gram", "K.npy", "--json").json
    fitted = gaussian(X, X) @ np.linalg.solve(gaussian(X, X) + 0.1 * np.eye(N), y)
    assert score["rmse"] == pytest.approx(np.sqrt(np.mean((fitted - y) ** 2)), rel=1e-8)
    info = mercer("info", "m.mercer").out
    assert "40 objects of a given Gram matrix of 40" in info and "precomputed" in info


def test_folds_take_rows_and_columns(mercer, objects):
    """Chosen by folds and by leave-one-out: the same as with the kernel of the columns, which subsets itself."""
    shared = ["--alphas", "0.01,0.1,1,10", "--json"]
    with_columns = ["rows.csv", "--drop", "kind", "--target", "a", "--task", "regress", "--scale", "none", "--kernel", "gaussian(1)"]
    mercer("gram", "rows.csv", "--drop", "kind,a", "--kernel", "gaussian(1)", "--out", "G.npy")
    for how in (["--folds", "4"], ["--loo"]):
        a = mercer("fit", "krr", *with_columns, *shared, *how).json
        b = mercer("fit", "krr", "rows.csv", "--target", "a", "--task", "regress", "--gram", "G.npy", *shared, *how).json
        assert a["alpha"] == b["alpha"]
        np.testing.assert_allclose([p["score"] for p in a["path"]], [p["score"] for p in b["path"]], rtol=1e-9)


@pytest.mark.parametrize("model", ["svc", "nu-svc", "logistic", "mean", "sgd-svm", "krr", "falkon"])
def test_classifiers_agree_with_the_kernel_on_columns(mercer, objects, tmp_path, model):
    options = {"svc": ["--C", "3"], "nu-svc": ["--nu", "0.2"], "sgd-svm": ["--iterations", "2000"], "falkon": ["--landmarks", "40"]}.get(model, [])
    mercer("fit", model, "kind.csv", "--gram", "K.npy", *options, "--out", "gram.mercer")
    mercer("fit", model, "rows.csv", "--scale", "none", "--kernel", "gaussian(1.5)", *options, "--out", "rows.mercer")
    mercer("predict", "gram.mercer", "--gram", "new.npy", "--scores", "--out", "a.csv")
    mercer("predict", "rows.mercer", "newrows.csv", "--scores", "--out", "b.csv")
    assert column(tmp_path / "a.csv", "prediction") == column(tmp_path / "b.csv", "prediction")
    scores = [np.array(column(tmp_path / name, "score_up"), float) for name in ("a.csv", "b.csv")]
    np.testing.assert_allclose(*scores, rtol=2e-3, atol=2e-3)  # solvers stop at a gap of 1e-3


def test_svc_chooses_C_by_cross_validation(mercer, objects):
    a = mercer("fit", "svc", "kind.csv", "--gram", "K.npy", "--json").json
    b = mercer("fit", "svc", "rows.csv", "--scale", "none", "--kernel", "gaussian(1.5)", "--json").json
    assert a["choice"]["tried"] == b["choice"]["tried"] and a["C"] == b["C"]


def test_regressions_and_one_class(mercer, objects, tmp_path):
    X, new, y, _ = objects
    for model, options in (("svr", ["--C", "10"]), ("gp", ["--no-optimize"]), ("representer", ["--lambda", "0.01"])):
        mercer("fit", model, "y.csv", "--gram", "K.npy", *options, "--out", f"{model}.mercer")
        assert mercer("score", f"{model}.mercer", "y.csv", "--gram", "K.npy", "--json").json["r2"] > 0.8
        assert len(mercer("predict", f"{model}.mercer", "--gram", "new.npy", "--json").json["predictions"]["prediction"]) == M
    out = mercer("fit", "one-class", "--gram", "K.npy", "--nu", "0.1", "--json", "--out", "one.mercer").json
    assert out["target"] is None and out["task"] == "one-class" and out["train"]["n"] == N
    mercer("fit", "one-class", "rows.csv", "--target", "kind", "--scale", "none", "--kernel", "gaussian(1.5)", "--nu", "0.1", "--out", "rows.mercer")
    mercer("predict", "one.mercer", "--gram", "new.npy", "--scores", "--out", "a.csv")
    mercer("predict", "rows.mercer", "newrows.csv", "--scores", "--out", "b.csv")
    scores = [np.array(column(tmp_path / name, "score"), float) for name in ("a.csv", "b.csv")]
    np.testing.assert_allclose(*scores, atol=2e-3 * np.abs(scores[1]).max())  # solvers stop at a violation of 1e-3


def test_maps_and_clusters(mercer, objects, tmp_path):
    X, new, _, kind = objects
    K = gaussian(X, X)
    H = np.eye(N) - 1 / N
    found = mercer("embed", "kpca", "--gram", "K.npy", "--components", "3", "--model", "map.mercer", "--json").json
    values = np.linalg.eigvalsh(H @ K @ H)[::-1]
    np.testing.assert_allclose(found["explained_variance_ratio"], values[:3] / values.sum(), rtol=1e-8)
    kept = mercer("embed", "kpca", "kind.csv", "--gram", "K.npy", "--target", "kind", "--json").json
    assert kept["target"] == "kind" and kept["embedding"]["kind"] == list(kind)
    mapped = mercer("embed", "apply", "map.mercer", "--gram", "new.npy", "--json").json["embedding"]
    assert len(mapped["PC1"]) == M
    clusters = mercer("cluster", "kmeans", "--gram", "K.npy", "-k", "2", "--model", "c.mercer", "--json").json
    assert sum(clusters["sizes"]) == N and clusters["kernel"] == "precomputed"
    assert mercer("cluster", "kmeans", "--gram", "K.npy", "-k", "2-4", "--json").json["choice"]["criterion"] == "silhouette"
    labels = mercer("cluster", "apply", "c.mercer", "--gram", "K.npy", "--json").json
    assert labels["labels"] == clusters["labels"]
    spectral = mercer("cluster", "spectral", "kind.csv", "--gram", "K.npy", "-k", "2", "--target", "kind", "--json").json
    assert sum(spectral["sizes"]) == N and spectral["adjusted_rand_index"] is not None


def mmd_u(K, first):
    a, b = np.flatnonzero(first), np.flatnonzero(~first)
    xx, yy, xy = K[np.ix_(a, a)], K[np.ix_(b, b)], K[np.ix_(a, b)]
    n, m = len(a), len(b)
    return (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1)) - 2 * xy.mean()


def test_compare(mercer, objects, tmp_path):
    X, _, _, kind = objects
    K = gaussian(X, X)
    by = mercer("compare", "kind.csv", "--by", "kind", "--gram", "K.npy", "--json").json
    assert by["statistic"] == pytest.approx(mmd_u(K, kind == "down"), rel=1e-10) and by["kernel"] == "precomputed"
    assert [s["name"] for s in by["samples"]] == ["kind = down", "kind = up"] and by["rejected"] and by["columns"] is None
    sizes = mercer("compare", "--gram", "K.npy", "--sizes", "15,25", "--json", "--witness", "w.csv").json
    assert sizes["statistic"] == pytest.approx(mmd_u(K, np.arange(N) < 15), rel=1e-10)
    witness = np.array(column(tmp_path / "w.csv", "witness"), float)
    np.testing.assert_allclose(witness, K[:, :15].mean(1) - K[:, 15:].mean(1), rtol=1e-9, atol=1e-12)
    three = mercer("compare", "--gram", "K.npy", "--sizes", "10,10,20", "--json").json
    assert len(three["pairs"]) == 3
    (tmp_path / "a.csv").write_text("u\n" + "1\n" * 15)
    (tmp_path / "b.csv").write_text("u\n" + "1\n" * 25)
    files = mercer("compare", "a.csv", "b.csv", "--gram", "K.npy", "--json").json
    assert files["statistic"] == sizes["statistic"] and files["p_value"] == sizes["p_value"]
    agg = mercer("compare", "kind.csv", "--by", "kind", "--gram", "K.npy", "--aggregate", "--permutations", "200", "--json").json
    assert agg["rejected"]
    assert "The report is r.html." in mercer("compare", "--gram", "K.npy", "--sizes", "15,25", "--report", "r.html").out


def test_depend(mercer, objects, tmp_path):
    X, _, y, _ = objects
    Ky = gaussian(y[:, None], y[:, None])
    np.save(tmp_path / "Ky.npy", Ky)
    result = mercer("depend", "--gram-x", "K.npy", "--gram-y", "Ky.npy", "--json").json
    H = np.eye(N) - 1 / N
    K = gaussian(X, X)
    assert result["rejected"] and result["kernels"] == ["precomputed", "precomputed"]
    biased = np.trace(K @ H @ Ky @ H) / N**2
    assert result["statistic_name"] == "hsic" and result["statistic"] == pytest.approx(biased, rel=1e-8)
    out = mercer("depend", "--gram-x", "K.npy", "--gram-y", "Ky.npy").out
    assert out.startswith("The kernel values of x are those of K.npy.\n")
    assert "The objects of x and the objects of y depend on each other" in out
    np.save(tmp_path / "Kz.npy", gaussian(X[:, :1], X[:, :1]))
    assert mercer("depend", "--gram-x", "K.npy", "--gram-y", "Ky.npy", "--gram-z", "Kz.npy", "--json").json["z"] is not None


def test_check_of_a_matrix(mercer, objects, tmp_path):
    out = mercer("gram", "--gram", "K.npy", "--check").out
    assert "a Gram matrix: symmetric and positive semi-definite" in out
    with_target = mercer("gram", "y.csv", "--gram", "K.npy", "--check", "--json").json["check"]
    K, y = np.load(tmp_path / "K.npy"), objects[2]
    assert with_target["alignment"] == pytest.approx(y @ K @ y / (np.linalg.norm(K) * (y @ y)), rel=1e-10)
    np.save(tmp_path / "bad.npy", np.array([[1.0, 2], [2, 1]]))
    assert "not a Gram matrix" in mercer("gram", "--gram", "bad.npy", "--check").out


def test_wrong_matrices(mercer, objects, tmp_path):
    K = np.load(tmp_path / "K.npy")
    np.save(tmp_path / "wide.npy", K[:30])
    assert mercer.fails(1, "fit", "krr", "y.csv", "--gram", "wide.npy") == (
        "wide.npy: is 30 x 40; a Gram matrix is square, a row and a column for each object")
    np.save(tmp_path / "small.npy", K[:30, :30])
    assert mercer.fails(1, "fit", "krr", "y.csv", "--gram", "small.npy") == (
        "small.npy: has kernel values of 30 objects, and y.csv has 40 rows; row i of one must be row i of the other")
    skew = K.copy()
    skew[0, 1] += 1
    np.save(tmp_path / "skew.npy", skew)
    assert "skew.npy: the given Gram matrix is not symmetric: K(1, 0) = " in mercer.fails(1, "fit", "svc", "kind.csv", "--gram", "skew.npy")
    holes = K.copy()
    holes[2, 3] = np.nan
    np.save(tmp_path / "holes.npy", holes)
    assert mercer.fails(1, "embed", "kpca", "--gram", "holes.npy") == "holes.npy: row 3, column 4 has no finite kernel value"
    (tmp_path / "words.csv").write_text("1,a\nb,1\n")
    assert "words.csv: column " in mercer.fails(1, "embed", "kpca", "--gram", "words.csv")
    assert "none.npy" in mercer.fails(1, "embed", "kpca", "--gram", "none.npy")
    mercer("fit", "krr", "y.csv", "--gram", "K.npy", "--out", "m.mercer")
    assert mercer.fails(1, "predict", "m.mercer", "--gram", "small.npy") == (
        "small.npy: is 30 x 30; wanted 40 columns, one for each object that m.mercer was fitted on: k(new, object)")
    assert "has kernel values of 7 objects, and y.csv has 40 rows" in mercer.fails(1, "score", "m.mercer", "y.csv", "--gram", "new.npy")
    assert "the samples have 12 rows together (--sizes 5,7)" in mercer.fails(1, "compare", "--gram", "K.npy", "--sizes", "5,7")
    assert "they must be of the same rows" in mercer.fails(1, "depend", "--gram-x", "K.npy", "--gram-y", "small.npy")


def test_changes_are_those_of_the_kernel(mercer, tmp_path):
    x = np.random.default_rng(8).normal(size=(60, 1))
    x[35:] += 4
    np.save(tmp_path / "K.npy", gaussian(x, x))
    (tmp_path / "x.csv").write_text("day,x\n" + "".join(f"d{i},{float(v)!r}\n" for i, v in enumerate(x[:, 0])))
    shared = ["--permutations", "99", "--json"]
    given = mercer("changes", "--gram", "K.npy", *shared).json
    column = mercer("changes", "x.csv", "--time", "day", "--kernel", "gaussian(1.5)", "--scale", "none", *shared).json
    assert [change["row"] for change in given["changes"]] == [change["row"] for change in column["changes"]] == [35]
    assert given["cost"] == pytest.approx(column["cost"], rel=1e-9) and given["test"]["p_value"] == column["test"]["p_value"] == 0.01
    assert "d35" in mercer("changes", "x.csv", "--gram", "K.npy", "--time", "day", "--report", "r.html").out
    mercer("changes", "--gram", "K.npy", "--report", "bare.html")
    assert "K.npy" in (tmp_path / "bare.html").read_text()
    assert "give SERIES too" in mercer.fails(2, "changes", "--gram", "K.npy", "--time", "day")
    (tmp_path / "short.csv").write_text("day\n1\n2\n")
    assert "has kernel values of 60 objects, and short.csv has 2 rows" in mercer.fails(1, "changes", "short.csv", "--gram", "K.npy")
    assert "SERIES is required" in mercer.fails(2, "changes")


@pytest.mark.parametrize("method", ["squash", "herd", "thin"])
def test_few_rows_are_those_of_the_kernel(mercer, objects, tmp_path, method):
    shared = ["-m", "8", "--json"]
    given = mercer("weights", method, "--gram", "K.npy", "--out", "few.csv", "--report", "few.html", *shared).json
    columns = mercer("weights", method, "rows.csv", "--drop", "kind", "--kernel", "gaussian(1.5)", "--scale", "none", *shared).json
    assert given["rows"] == columns["rows"] and given["mmd"] == pytest.approx(columns["mmd"], rel=1e-7)
    assert column(tmp_path / "few.csv", "row") == [str(i) for i in given["rows"]]
    mercer("weights", method, "kind.csv", "--gram", "K.npy", "-m", "8", "--out", "kinds.csv")
    assert column(tmp_path / "kinds.csv", "kind") == [objects[3][i] for i in given["rows"]]


def test_weights_of_several_files_share_a_matrix(mercer, objects, tmp_path):
    X, new, _, _ = objects
    np.save(tmp_path / "all.npy", gaussian(np.vstack([X, new]), np.vstack([X, new])))
    shared = ["--kernel", "gaussian(1.5)", "--scale", "none", "--json"]
    given = mercer("weights", "shift", "rows.csv", "newrows.csv", "--gram", "all.npy", "--json").json
    columns = mercer("weights", "shift", "rows.csv", "newrows.csv", "--drop", "kind", *shared).json
    np.testing.assert_allclose(given["weights"], columns["weights"], atol=1e-6)
    mercer("weights", "shift", "rows.csv", "newrows.csv", "--gram", "all.npy", "--out", "w.csv", "--report", "w.html")
    np.testing.assert_allclose(np.array(column(tmp_path / "w.csv", "weight"), float), given["weights"], rtol=1e-6)
    (tmp_path / "part.csv").write_text("a,b,c\n" + "".join(",".join(map(repr, map(float, row))) + "\n" for row in X))
    K = gaussian(np.vstack([new, X, new]), np.vstack([new, X, new]))
    np.save(tmp_path / "three.npy", K)
    given = mercer("weights", "mixture", "newrows.csv", "--components", "part.csv", "newrows.csv", "--gram", "three.npy", "--json").json
    columns = mercer("weights", "mixture", "newrows.csv", "--components", "part.csv", "newrows.csv", *shared).json
    np.testing.assert_allclose(given["weights"], columns["weights"], atol=1e-6)
    assert given["weights"][1] == pytest.approx(1, abs=1e-6)
    assert "all.npy: is the Gram matrix of 47 objects, and the files have 80 rows together (40 + 40)" in (
        mercer.fails(1, "weights", "shift", "rows.csv", "rows.csv", "--gram", "all.npy"))


def test_wrong_use(mercer, objects):
    assert "--kernel and --gram cannot go together" in mercer.fails(2, "fit", "krr", "y.csv", "--gram", "K.npy", "--kernel", "linear")
    assert mercer.fails(2, "fit", "krr", "--gram", "K.npy") == "--gram has the kernel values alone; give DATA too, the file with the target"
    assert "DATA and --gram name the same file" in mercer.fails(2, "fit", "krr", "K.npy", "--gram", "K.npy")
    assert "DATA is required" in mercer.fails(2, "fit", "krr")
    assert "say which sample each is of" in mercer.fails(2, "compare", "--gram", "K.npy")
    assert "--sizes is for --gram" in mercer.fails(2, "compare", "rows.csv", "--by", "kind", "--sizes", "3,4")
    assert "must be two whole numbers >= 2 or more" in mercer.fails(2, "compare", "--gram", "K.npy", "--sizes", "3")
    assert "depend needs --gram-y too" in mercer.fails(2, "depend", "--gram-x", "K.npy")
    assert "in place of columns" in mercer.fails(2, "depend", "rows.csv", "--x", "a", "--gram-x", "K.npy", "--gram-y", "K.npy")
    mercer("fit", "krr", "rows.csv", "--target", "a", "--drop", "kind", "--out", "plain.mercer")
    assert "--gram is for models that were fitted with --gram; plain.mercer is a krr model of gaussian" in (
        mercer.fails(2, "predict", "plain.mercer", "--gram", "new.npy"))


def test_json_of_a_fit(mercer, objects):
    result = mercer("fit", "krr", "kind.csv", "--gram", "K.npy", "--json").json
    assert (result["n"], result["features"], result["target"], result["task"]) == (N, N, "kind", "classification")
    assert result["kernel"] == "precomputed" and json.dumps(result["notes"]).count("K.npy") == 1


def test_remarks_on_kernel_values(mercer, objects, tmp_path):
    X, *_ = objects
    np.save(tmp_path / "minus.npy", -X @ X.T)
    note = "given kernel values are not positive semi-definite"
    assert note in mercer("fit", "svc", "kind.csv", "--gram", "minus.npy", "--C", "1").out
    assert any(note in line for line in mercer("fit", "svc", "kind.csv", "--gram", "minus.npy", "--C", "1", "--json").json["notes"])
    assert note in mercer("compare", "--gram", "minus.npy", "--sizes", "20,20").out
    assert note not in mercer("fit", "svc", "kind.csv", "--gram", "K.npy", "--C", "1").out


def test_new_objects_without_their_kernel_values(mercer, objects):
    mercer("fit", "krr", "y.csv", "--gram", "K.npy", "--out", "m.mercer")
    assert "--gram gives those of new objects, 40 in each row" in mercer.fails(2, "predict", "m.mercer", "y.csv")
