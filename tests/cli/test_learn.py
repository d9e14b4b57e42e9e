"""learn: the JSON that API promises, the text, the files."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest

KEYS = ["model", "kernel", "test", "baseline", "linear", "candidates", "seconds", "peak_bytes", "files"]


def test_regression_json(mercer, tmp_path):
    result = mercer("learn", "builtin:waves", "--out", "m.mercer", "--report", "r.html", "--json").json
    assert set(KEYS) <= set(result)
    assert result["kernel"] != "linear" and result["task"] == "regression"
    for part in ("test", "baseline", "linear"):
        assert set(result[part]) == {"n", "rmse", "r2", "mae", "ci"}
        assert result[part]["ci"][0] <= result[part]["rmse"] <= result[part]["ci"][1]
    assert result["test"]["n"] == 120 and result["n_train"] == 280
    assert 0.25 < result["test"]["rmse"] < 0.4 < result["linear"]["rmse"] <= result["baseline"]["rmse"] * 1.1  # the noise is 0.3
    assert all({"model", "kernel", "score", "deviation", "judged_by"} <= set(c) for c in result["candidates"])
    assert {"ridge", "krr", "svr", "gp"} <= {c["model"] for c in result["candidates"]}
    scores = [c["score"] for c in result["candidates"] if c["judged_by"] == "5 folds" and c["score"] is not None]
    assert scores == sorted(scores) and len(scores) > 5
    assert result["intervals"]["level"] == 0.9 and 0.8 < result["intervals"]["coverage"] < 0.98
    assert list(result["stages"]) == ["search", "final fit", "measuring", "pictures"]
    assert result["files"] == {"model": "m.mercer", "report": "r.html"}
    assert result["seconds"] > 0 and result["peak_bytes"] > 1e6
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!DOCTYPE html>") or page.lower().startswith("<!doctype html>")
    assert "mercer learn builtin:waves" in page
    assert mercer("info", "m.mercer", "--json").json["kernel"] == result["kernel"]


def test_classification_json(mercer):
    result = mercer("learn", "builtin:moons", "--json", "--holdout", "0.25").json
    assert result["task"] == "classification" and result["classes"] == ["0", "1"]
    for part in ("test", "baseline", "linear"):
        assert set(result[part]) == {"n", "accuracy", "precision", "recall", "ci"}
        assert 0 <= result[part]["ci"][0] <= result[part]["accuracy"] <= result[part]["ci"][1] <= 1
    assert result["test"]["n"] == 100
    assert result["test"]["accuracy"] > 0.85 > result["baseline"]["accuracy"]
    scores = [c["score"] for c in result["candidates"] if c["judged_by"] == "5 folds" and c["score"] is not None]
    assert scores == sorted(scores, reverse=True) and len(scores) > 20
    assert sum(map(sum, result["confusion"])) == 100 and 0.9 < result["roc_auc"] <= 1 and 0.8 < result["average_precision"] <= 1
    assert result["files"] == {}


def test_saved_model_scores_as_measured(mercer, tmp_path):
    mercer("convert", "builtin:blobs", "train.csv")
    mercer("convert", "builtin:blobs", "test.csv", "--seed", "5")
    result = mercer("learn", "train.csv", "--test", "test.csv", "--out", "m.mercer", "--json").json
    score = mercer("score", "m.mercer", "test.csv", "--json").json
    assert result["test"]["n"] == score["n"] == 400
    for key in ("accuracy", "precision", "recall"):
        assert result["test"][key] == pytest.approx(score[key], abs=1e-12)


def test_text(mercer):
    text = mercer("learn", "builtin:waves", "--report", "r.html").out
    assert re.search(r"On 120 rows that the search never saw:\n +RMSE", text)
    assert re.search(r"The best of \d+ candidates, 5-fold cross-validation on 280 rows:\n  model", text)
    assert "The report is r.html." in text and "The model was not saved; --out model.mercer saves it." in text
    assert "this model" in text and "linear" in text and "The target is column 2 (y)" in text


def test_same_seed_same_answer(mercer):
    def once(*words):
        result = mercer("learn", "builtin:cubic", "--json", *words).json
        return {key: result[key] for key in ("kernel", "test", "candidates")}

    assert once() == once("--threads", "1")
    assert once("--seed", "7") != once()


def test_options_reach_the_search(mercer, table):
    fixed = mercer("learn", table, "--kernel", "laplacian(1)", "--folds", "4", "--json").json
    assert fixed["kernel"] == "laplacian(1)" and fixed["folds"] == 4
    ridge = mercer("learn", table, "--model", "ridge", "--json").json
    assert ridge["model"] == "ridge" and ridge["kernel"] == "linear"


def test_failures(mercer, table):
    assert "rows" in mercer.fails(1, "learn", "-", stdin="a,y\n1,2\n")
    assert '"z"' in mercer.fails(1, "learn", table, "--target", "z")
    assert "only one class" in mercer.fails(1, "learn", "-", stdin="a,y\n" + "".join(f"{i},x\n" for i in range(9)))
    assert "did you mean svc?" in mercer.fails(2, "learn", table, "--model", "svv")
    assert "mercer fit one-class" in mercer.fails(2, "learn", table, "--model", "one-class")
    assert "like 90s, 2m or 1h, got soon" in mercer.fails(2, "learn", table, "--budget", "soon")
    assert "needs classes" in mercer.fails(1, "learn", "builtin:waves", "--precision", "0.9")
    assert 'no column "z" to group rows by' in mercer.fails(1, "learn", "builtin:waves", "--groups", "z")
    assert '"7"' in mercer.fails(1, "learn", "builtin:moons", "--positive", "7")
    assert "works on the columns themselves" in mercer.fails(1, "learn", table, "--model", "ridge", "--kernel", "gaussian(1)")


def test_one_class_against_the_rest_at_an_operating_point(mercer):
    words = ("learn", "builtin:blobs", "--positive", "1", "--precision", "0.9", "--out", "m.mercer")
    result = mercer(*words, "--json").json
    assert result["classes"] == ["not 1", "1"]
    point = result["operating_point"]
    assert point["wanted"] == 0.9 and point["fold_precision"] >= 0.9
    assert point["precision"] == result["test"]["precision"] and point["recall"] == result["test"]["recall"]
    confusion = result["confusion"]
    assert point["precision"] == pytest.approx(confusion[1][1] / (confusion[0][1] + confusion[1][1]))
    score = mercer("score", "m.mercer", "builtin:blobs", "--json").json
    assert score["n"] == 400  # the other labels are known as "not 1"


def test_groups_time_and_reasons(mercer):
    rows = "".join(f"{i % 7},{i % 3},g{i // 10},{(i % 7) ** 2 + 0.01 * (i % 5)}\n" for i in range(120))
    grouped = mercer("learn", "-", "--groups", "g", "--target", "y", "--explain", "--json", stdin="a,b,g,y\n" + rows).json
    assert grouped["split"].startswith('whole groups of "g"')
    assert grouped["test"]["n"] % 10 == 0
    assert [c["column"] for c in grouped["importance"]] == ["a", "b"]
    assert grouped["importance"][0]["mean"] > 10 * abs(grouped["importance"][1]["mean"])
    if grouped["kernel"] != "linear":
        assert all(2 <= row["line"] <= 121 for row in grouped["influential"])
    timed = mercer("learn", "-", "--time", "--drop", "g", "--target", "y", "--json", stdin="a,b,g,y\n" + rows).json
    assert timed["split"] == "the last 30 % of the rows, in the order of time" and timed["test"]["n"] == 36


def test_prediction_takes_columns_by_name_in_any_order(mercer, tmp_path):
    mercer("learn", "builtin:moons", "--out", "m.mercer")
    mercer("convert", "builtin:moons", "a.csv")
    lines = [line.split(",") for line in (tmp_path / "a.csv").read_text().split()]
    (tmp_path / "b.csv").write_text("".join(",".join((row[2], row[1], row[0])) + "\n" for row in lines))
    (tmp_path / "c.csv").write_text("".join(",".join((row[0], row[2])) + "\n" for row in lines))
    first, turned = (mercer("score", "m.mercer", name, "--json").json for name in ("a.csv", "b.csv"))
    assert first["accuracy"] == turned["accuracy"]
    assert "x2" in mercer.fails(1, "predict", "m.mercer", "c.csv")
