"""learn: the JSON that API promises, the text, the files."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest

KEYS = ["model", "kernel", "test", "baseline", "linear", "candidates", "seconds", "peak_bytes", "files"]


def test_regression_json(mercer, tmp_path):
    result = mercer("learn", "builtin:waves", "--out", "m.mercer", "--report", "r.html", "--json").json
    assert set(KEYS) <= set(result)
    assert result["model"] == "krr" and result["kernel"].startswith("gaussian(") and result["task"] == "regression"
    for part in ("test", "baseline", "linear"):
        assert set(result[part]) == {"n", "rmse", "r2", "mae", "ci"}
        assert result[part]["ci"][0] <= result[part]["rmse"] <= result[part]["ci"][1]
    assert result["test"]["n"] == 120 and result["n_train"] == 280
    assert 0.25 < result["test"]["rmse"] < 0.4 < result["linear"]["rmse"] <= result["baseline"]["rmse"] * 1.1  # the noise is 0.3
    assert all(set(c) == {"model", "kernel", "alpha", "score", "deviation"} for c in result["candidates"])
    scores = [c["score"] for c in result["candidates"]]
    assert scores == sorted(scores) and len(scores) > 5
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
    scores = [c["score"] for c in result["candidates"]]
    assert scores == sorted(scores, reverse=True)
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
