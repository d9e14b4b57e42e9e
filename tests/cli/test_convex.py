"""fit logistic, fit representer and predict --proba, checked against numpy."""
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
    """60 rows of three kinds in two columns, as a table."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    labels = np.array(["ash", "birch", "cedar"])[np.argmax(np.c_[X, -X.sum(1)] + 0.5 * rng.normal(size=(60, 3)), axis=1)]
    path = tmp_path / "kinds.csv"
    path.write_text("a,b,kind\n" + "".join(f"{x:.17g},{y:.17g},{label}\n" for (x, y), label in zip(X, labels)))
    return str(path), X, labels


def test_logistic_is_stationary_and_predicts_probabilities(mercer, kinds):
    path, X, labels = kinds
    result = mercer("fit", "logistic", path, "--target", "kind", "--C", "3", "--kernel", "gaussian(1)", "--scale", "none", "--out", "m.mercer", "--json").json
    assert result["model"] == "logistic" and result["classes"] == ["ash", "birch", "cedar"]
    assert result["summary"]["status"] == "converged" and result["summary"]["relative_gap"] <= 1e-7
    assert result["lambda"] == pytest.approx(1 / (2 * 3 * 60))
    got = columns(mercer("predict", "m.mercer", path, "--proba").out)
    assert list(got) == ["prediction", "probability_ash", "probability_birch", "probability_cedar"]
    P = np.array([got[f"probability_{name}"] for name in result["classes"]], float).T
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-12)
    assert [result["classes"][j] for j in P.argmax(1)] == got["prediction"]
    # The optimum: f_j = C K (y_j - p_j) up to a constant per class, and the mean probability is the share of each class.
    Y = (labels[:, None] == np.array(result["classes"])).astype(float)
    np.testing.assert_allclose(P.mean(0), Y.mean(0), atol=1e-8)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    F = 3 * K @ (Y - P)
    off = np.log(P) - F
    off -= off.mean(1, keepdims=True)  # a softmax does not see what all classes share
    np.testing.assert_allclose(off, np.broadcast_to(off.mean(0), off.shape), atol=1e-3)


def test_two_classes_and_landmarks(mercer):
    text = mercer("fit", "logistic", "builtin:moons", "--C", "10", "--out", "m.mercer").out
    assert "kernel logistic regression" in text and "converged" in text
    got = columns(mercer("predict", "m.mercer", "builtin:moons", "--proba", "--scores").out)
    score = np.array(next(v for k, v in got.items() if k.startswith("score_")), float)
    second = np.array(list(got.values())[-1], float)
    np.testing.assert_allclose(second, 1 / (1 + np.exp(-score)), rtol=1e-9)
    assert "logistic" in mercer("info", "m.mercer").out
    few = mercer("fit", "logistic", "builtin:moons", "--solver", "nystrom", "--landmarks", "20", "--json").json
    assert few["summary"]["landmarks"] == 20


def test_quantiles_from_the_shell(mercer, table):
    mercer("fit", "representer", table, "--loss", "quantile", "--quantile", "0.9", "--lambda", "1e-4", "--out", "q.mercer")
    data = np.loadtxt(table, delimiter=",", skiprows=1)
    above = data[:, 2] > np.array(columns(mercer("predict", "q.mercer", table).out)["prediction"], float) + 1e-6
    assert above.sum() <= 0.1 * len(data)
    assert mercer("info", "q.mercer", "--json").json["options"]["loss"] == "quantile(0.9)"
    same = mercer("fit", "representer", table, "--loss", "quantile(0.9)", "--lambda", "1e-4", "--json").json
    assert same["loss"] == "quantile(0.9)" and same["summary"]["status"] == "converged"


def test_hinge_on_classes(mercer, kinds):
    result = mercer("fit", "representer", kinds[0], "--loss", "hinge", "--lambda", "0.005", "--json").json
    assert result["task"] == "classification" and result["train"]["accuracy"] > 0.7


def test_wrong_use_is_said(mercer, table):
    mercer("fit", "krr", table, "--out", "k.mercer")
    mercer("fit", "krr", "builtin:moons", "--out", "c.mercer")
    for status, arguments, message in (
        (1, ("fit", "logistic", table, "--task", "regress"), "logistic regression is for classes"),
        (1, ("fit", "representer", table, "--loss", "hinge", "--task", "regress"), "the loss hinge is for classes"),
        (2, ("fit", "representer", table, "--loss", "hugs"), '"hugs" is not a loss'),
        (2, ("fit", "representer", table, "--loss", "squared", "--quantile", "0.9"), "--quantile does not belong to the loss squared"),
        (2, ("fit", "representer", table, "--loss", "quantile(0.9)", "--quantile", "0.5"), "--loss quantile(0.9) and --quantile 0.5 both give"),
        (1, ("fit", "representer", "builtin:moons", "--loss", "quantile"), "the loss quantile(0.5) is for numbers"),
        (1, ("fit", "representer", "builtin:moons", "--loss", "poisson"), "the loss poisson is for counts"),
        (1, ("fit", "representer", "builtin:moons", "--memory", "300K"), "--landmarks 1000"),
        (2, ("fit", "rff", table, "--components", "7"), "got 7; use 8, or --form cos"),
        (2, ("fit", "gp", table, "--noise", "0"), "--fixed noise keeps it at 0"),
        (2, ("fit", "representer", table, "--lambda", "0"), "--lambda"),
        (2, ("predict", "k.mercer", table, "--proba"), "--proba is for models with probabilities"),
        (2, ("predict", "c.mercer", "builtin:moons", "--proba"), "--proba is for models with probabilities"),
    ):
        assert message in mercer.fails(status, *arguments)


def test_a_quantile_says_its_loss_and_its_share(mercer, table):
    train = mercer("fit", "representer", table, "--loss", "quantile(0.8)", "--lambda", "1e-3", "--out", "q.mercer", "--json").json["train"]
    scored = mercer("score", "q.mercer", table, "--json").json
    y = np.loadtxt(table, delimiter=",", skiprows=1)[:, 2]
    f = np.array(columns(mercer("predict", "q.mercer", table).out)["prediction"], float)
    assert scored["pinball"] == pytest.approx(np.mean(np.where(y > f, 0.8 * (y - f), 0.2 * (f - y))), rel=1e-9) == train["pinball"]
    assert scored["share_below"] == np.mean(y <= f) == train["share_below"]
    text = mercer("score", "q.mercer", table).out
    assert "pinball loss" in text and "share of rows below the prediction" in text
    band = mercer("fit", "representer", table, "--loss", "epsilon_insensitive(0.5)", "--json").json["train"]
    assert 0 <= band["share_within"] <= 1 and "pinball" not in band


def test_balanced_classes_are_weights(mercer, tmp_path):
    rows = [(i / 10, "rare" if i % 5 == 0 else "often") for i in range(30)]
    rows = [(x, kind, 30 / (2 * (6 if kind == "rare" else 24))) for x, kind in rows]
    (tmp_path / "c.csv").write_text("x,kind,w\n" + "".join(f"{x},{kind},{w!r}\n" for x, kind, w in rows))
    words = ("fit", "logistic", str(tmp_path / "c.csv"), "--target", "kind", "--json")
    balanced = mercer(*words, "--drop", "w", "--class-weight", "balanced").json
    weighted = mercer(*words, "--sample-weight", "w").json
    assert balanced["summary"]["objective"] == pytest.approx(weighted["summary"]["objective"], rel=1e-6)
    assert balanced["train"]["confusion"] == weighted["train"]["confusion"]
