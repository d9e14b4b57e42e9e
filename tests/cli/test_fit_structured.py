"""fit structured: classes of rows, and labels of the rows of sequences."""
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


def words(sentences, seed, noise=0.9):
    """Sequences whose tags go round a circle, the rows of all sentences mixed but each in its order."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(sentences):
        state = rng.integers(3)
        for t in range(rng.integers(4, 12)):
            rows.append((t, f"s{s}", state, np.eye(3)[state] + noise * rng.normal(size=3)))
            state = (state + 1) % 3 if rng.random() < 0.9 else rng.integers(3)
    rows.sort(key=lambda row: row[0])  # stable: positions of one sentence stay in order
    lines = [f"{x[0]:.17g},{x[1]:.17g},{x[2]:.17g},{s},{'ABC'[state]}\n" for _, s, state, x in rows]
    return "p,q,r,sentence,tag\n" + "".join(lines)


def test_the_objective_is_that_of_the_saved_model(mercer, kinds):
    path, X, labels = kinds
    told = ("fit", "structured", path, "--target", "kind", "--C", "0.5", "--scale", "none", "--out", "m.mercer")
    result = mercer(*told, "--json").json
    assert result["model"] == "structured" and result["form"] == "multiclass" and result["C"] == 0.5 and result["kernel"] == "linear"
    got = columns(mercer("predict", "m.mercer", path, "--scores").out)
    scores = np.array([got[f"score_{c}"] for c in result["classes"]], float).T
    W = np.linalg.lstsq(np.c_[X, np.ones(90)], scores, rcond=None)[0]
    truth = np.array([result["classes"].index(label) for label in labels])
    margins = scores + 1.0 - np.eye(3)[truth] - scores[np.arange(90), truth][:, None]
    objective = (W**2).sum() / 2 + 0.5 * margins.max(axis=1).sum()
    summary = result["summary"]
    assert summary["objective"] == pytest.approx(objective, rel=1e-10)
    assert summary["status"] == "converged" and 0 <= summary["gap"] <= 1e-3 * objective
    assert got["prediction"] == [result["classes"][c] for c in scores.argmax(1)]
    assert mercer("score", "m.mercer", path, "--json").json["accuracy"] == pytest.approx(np.mean(scores.argmax(1) == truth))
    assert "structured support vector machine, multi-class, kernel linear, C 0.5; converged: " in mercer(*told).out
    assert "multiclass" in mercer("info", "m.mercer").out


def test_kernels_and_lambda(mercer, kinds):
    path = kinds[0]
    by_C = mercer("fit", "structured", path, "--kernel", "gaussian(1)", "--C", "2", "--out", "k.mercer", "--json").json
    by_lambda = mercer("fit", "structured", path, "--kernel", "gaussian(1)", "--lambda", repr(1 / (2 * 90 * 2)), "--json").json
    assert by_lambda["C"] == pytest.approx(2) and by_lambda["train"]["accuracy"] == by_C["train"]["accuracy"]
    assert by_C["summary"]["support_vectors"] > 0
    assert "gaussian(1)" in mercer("info", "k.mercer").out
    assert mercer("score", "k.mercer", path, "--json").json["accuracy"] == by_C["train"]["accuracy"]


def test_sequences(mercer, tmp_path):
    (tmp_path / "train.csv").write_text(words(60, 1))
    (tmp_path / "test.csv").write_text(words(80, 2))
    told = ("fit", "structured", "train.csv", "--target", "tag", "--C", "0.1")
    chain = mercer(*told, "--sequence", "sentence", "--out", "chain.mercer", "--json").json
    assert chain["form"] == "chain" and chain["sequence"] == "sentence" and chain["sequences"] == 60 and chain["features"] == 3
    mercer(*told, "--drop", "sentence", "--out", "rows.mercer")
    with_neighbours = mercer("score", "chain.mercer", "test.csv", "--json").json["accuracy"]
    alone = mercer("score", "rows.mercer", "test.csv", "--json").json["accuracy"]
    assert with_neighbours > alone + 0.1
    assert "told apart by the column sentence" in mercer("info", "chain.mercer").out
    # Predictions are in the order of the table, and by another name of the column.
    table = (tmp_path / "test.csv").read_text()
    guess = columns(mercer("predict", "chain.mercer", "test.csv").out)["prediction"]
    assert np.mean(np.array(guess) == columns(table)["tag"]) == pytest.approx(with_neighbours)
    (tmp_path / "other.csv").write_text(table.replace("sentence", "line"))
    assert columns(mercer("predict", "chain.mercer", "other.csv", "--sequence", "line").out)["prediction"] == guess
    assert "has no column \"sentence\", which tells the sequences" in mercer.fails(1, "predict", "chain.mercer", "other.csv")
    assert "--sequence is for models that label sequences" in mercer.fails(2, "predict", "rows.mercer", "test.csv", "--sequence", "sentence")


@pytest.mark.parametrize(
    ("status", "more", "message"),
    [
        (1, ("--task", "regress", "--target", "a", "--drop", "kind"), "this machine is for classes"),
        (2, ("--C", "0"), "--C: must be a number > 0, got 0"),
        (2, ("--C", "1", "--lambda", "1"), "--lambda"),
        (1, ("--sequence", "nothing"), 'has no column "nothing" for --sequence'),
        (2, ("--sequence", "a", "--kernel", "gaussian(1)"), "with --sequence the machine is linear"),
        (2, ("--sequence", "a", "--sample-weight", "b"), "the examples are whole sequences"),
    ],
)
def test_wrong_use(mercer, kinds, status, more, message):
    assert message in mercer.fails(status, "fit", "structured", kinds[0], *more)
