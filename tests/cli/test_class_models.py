"""fit sgd-svm and fit mean, checked against numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import io

import numpy as np
import pytest


def columns(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


@pytest.fixture
def kinds(tmp_path):
    """90 rows of three kinds in two columns, as a table."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    labels = np.array(["ash", "birch", "cedar"])[np.argmax(np.c_[X, -X.sum(1)] + 0.3 * rng.normal(size=(90, 3)), axis=1)]
    path = tmp_path / "kinds.csv"
    path.write_text("a,b,kind\n" + "".join(f"{x:.17g},{y:.17g},{label}\n" for (x, y), label in zip(X, labels)))
    return str(path), X, labels


def gaussian(X):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)


def test_means_are_those_of_numpy(mercer, kinds):
    path, X, labels = kinds
    words = ("fit", "mean", path, "--target", "kind", "--kernel", "gaussian(1)", "--scale", "none", "--out", "m.mercer")
    result = mercer(*words, "--json").json
    assert result["model"] == "mean" and result["rule"] == "nearest" and result["priors"] is None
    A = np.array([(labels == c) / (labels == c).sum() for c in result["classes"]])
    K = gaussian(X)
    M = A @ K @ A.T
    got = columns(mercer("predict", "m.mercer", path, "--scores").out)
    scores = np.array([got[f"score_{c}"] for c in result["classes"]], float)
    np.testing.assert_allclose(scores, A @ K - M.diagonal()[:, None] / 2, atol=1e-12)
    np.testing.assert_allclose(result["intercept"], -M.diagonal() / 2, atol=1e-13)
    distances = np.sqrt(np.maximum(0, M.diagonal()[:, None] + M.diagonal() - 2 * M))
    np.testing.assert_allclose(result["summary"]["distances"], distances, atol=1e-7)
    assert got["prediction"] == [result["classes"][c] for c in scores.argmax(0)]
    assert mercer("score", "m.mercer", path, "--json").json["accuracy"] == pytest.approx(np.mean(np.array(got["prediction"]) == labels))
    text = mercer(*words).out
    assert "class means, gaussian(1)" in text and "distance (MMD)" in text
    assert "nearest mean" in mercer("info", "m.mercer").out and mercer("info", "m.mercer", "--json").json["options"]["rule"] == "nearest"


def test_parzen_windows_have_probabilities(mercer, kinds):
    path, X, labels = kinds
    for priors in ("equal", "empirical"):
        words = ("--target", "kind", "--kernel", "gaussian(1)", "--scale", "none", "--rule", "parzen", "--priors", priors, "--out", "p.mercer", "--json")
        result = mercer("fit", "mean", path, *words).json
        share = np.array([(labels == c).mean() for c in result["classes"]]) if priors == "empirical" else np.full(3, 1 / 3)
        np.testing.assert_allclose(result["priors"], share, rtol=1e-14)
        P = share[:, None] * np.array([(labels == c) / (labels == c).sum() for c in result["classes"]]) @ gaussian(X)
        got = columns(mercer("predict", "p.mercer", path, "--proba").out)
        np.testing.assert_allclose(np.array([got[f"probability_{c}"] for c in result["classes"]], float), P / P.sum(0), atol=1e-12)
        assert got["prediction"] == [result["classes"][c] for c in P.argmax(0)]
    assert "Parzen windows" in mercer("info", "p.mercer").out


def test_means_that_coincide_are_said(mercer, tmp_path):
    (tmp_path / "c.csv").write_text("x,kind\n-1,a\n1,a\n-2,b\n2,b\n")
    assert "coincide" in mercer("fit", "mean", str(tmp_path / "c.csv"), "--kernel", "linear", "--scale", "none").out
    assert mercer("fit", "mean", str(tmp_path / "c.csv"), "--kernel", "linear", "--scale", "none", "--json").json["summary"]["coincide"] is True


def test_sgd_reaches_what_the_exact_solver_does(mercer):
    words = ("builtin:moons", "--kernel", "gaussian(0.5)", "--json")
    exact = mercer("fit", "representer", *words, "--loss", "hinge", "--lambda", "0.01", "--no-intercept").json["summary"]["objective"]
    result = mercer("fit", "sgd-svm", *words, "--lambda", "0.02", "--iterations", "300000", "--out", "s.mercer").json
    s = result["summary"]
    assert exact * (1 - 1e-6) <= s["objective"] <= 1.01 * exact and s["objective"] - s["gap"] <= exact * (1 + 1e-6)
    assert result["lambda"] == 0.02 and result["C"] == pytest.approx(1 / (400 * 0.02)) and s["iterations"] == 300000
    got = columns(mercer("predict", "s.mercer", "builtin:moons", "--scores").out)
    assert [int(float(score) > 0) for score in got["score_1"]] == [int(float(p)) for p in got["prediction"]]
    assert mercer("score", "s.mercer", "builtin:moons", "--json").json["accuracy"] == result["train"]["accuracy"] > 0.9
    info = mercer("info", "s.mercer").out
    assert "sgd-svm" in info and "support vectors" in info


def test_sgd_says_its_defaults_and_keeps_a_budget(mercer, kinds):
    text = mercer("fit", "sgd-svm", kinds[0], "--target", "kind").out
    assert "C 1 (the default)" in text and "100000 steps with lambda 0.0111111 for each of 3 classes" in text
    few = mercer("fit", "sgd-svm", "builtin:moons", "--budget", "10", "--iterations", "2000", "--json").json["summary"]
    assert few["support_vectors"] <= 10 and few["removals"] > 0 and few["output"] == "last iterate"
    short = mercer("fit", "sgd-svm", "builtin:moons", "--iterations", "100", "--json").json["summary"]
    assert short["gap"] is None and short["objective"] is None
    seeds = [mercer("fit", "sgd-svm", kinds[0], "--iterations", "500", "--seed", seed, "--json").json["summary"]["updates"] for seed in "0012"]
    assert seeds[0] == seeds[1] and len(set(seeds)) > 1


def test_weights_of_rows(mercer, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 1))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "up", "down")
    w = np.arange(60) % 3
    (tmp_path / "w.csv").write_text("x,w,y\n" + "".join(f"{a!r},{b},{c}\n" for a, b, c in zip(X[:, 0].tolist(), w, y)))
    words = (str(tmp_path / "w.csv"), "--target", "y", "--sample-weight", "w", "--kernel", "gaussian(1)", "--scale", "none", "--json")
    got = mercer("fit", "mean", *words).json["summary"]
    assert got["samples"] == (w > 0).sum()
    a, b = (w * (y == side) / (w * (y == side)).sum() for side in ("down", "up"))
    assert got["distances"][0][1] == pytest.approx(np.sqrt((a - b) @ gaussian(X) @ (a - b)), rel=1e-9)
    exact = mercer("fit", "representer", *words, "--loss", "hinge", "--lambda", "0.05", "--no-intercept").json["summary"]["objective"]
    assert mercer("fit", "sgd-svm", *words, "--lambda", "0.1").json["summary"]["objective"] == pytest.approx(exact, rel=0.01)


def test_wrong_use_is_said(mercer, table, tmp_path):
    mercer("fit", "mean", "builtin:moons", "--out", "n.mercer")
    (tmp_path / "zero.csv").write_text("x,w,y\n1,1,a\n2,1,a\n3,0,b\n")
    for status, arguments, message in (
        (1, ("fit", "sgd-svm", table, "--task", "regress"), "sgd-svm is for classes"),
        (1, ("fit", "mean", table, "--task", "regress"), "mean is for classes"),
        (2, ("fit", "sgd-svm", "builtin:moons", "--lambda", "0"), "--lambda"),
        (2, ("fit", "sgd-svm", "builtin:moons", "--iterations", "0"), "--iterations"),
        (2, ("fit", "sgd-svm", "builtin:moons", "--output", "first"), "must be auto|averaged|last, got first"),
        (2, ("fit", "sgd-svm", "builtin:moons", "--output", "averaged", "--budget", "9"), "leave one of them out"),
        (1, ("fit", "sgd-svm", "builtin:moons", "--kernel", "sigmoid"), "not positive semi-definite"),
        (2, ("fit", "mean", "builtin:moons", "--priors", "empirical"), "--priors is for --rule parzen"),
        (2, ("fit", "mean", "builtin:moons", "--rule", "parzen", "--priors", "some"), "must be equal|empirical, got some"),
        (1, ("fit", "mean", "builtin:moons", "--rule", "parzen", "--kernel", "linear"), "no Parzen window"),
        (1, ("fit", "mean", str(tmp_path / "zero.csv"), "--target", "y", "--sample-weight", "w"), "the class b has no row of positive weight"),
        (1, ("fit", "sgd-svm", str(tmp_path / "zero.csv"), "--target", "y", "--sample-weight", "w"), "the class b has no row of positive weight"),
        (2, ("predict", "n.mercer", "builtin:moons", "--proba"), "fit mean --rule parzen"),
    ):
        assert message in mercer.fails(status, *arguments)
