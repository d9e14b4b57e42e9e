"""fit, info, predict, score: one model from a table through a file to answers, checked against numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import gzip
import io
import json

import numpy as np
import pytest


def columns(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def numbers(path):
    return np.loadtxt(path, delimiter=",", skiprows=1)


def gaussian(A, B, length):
    return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2).sum(-1) / (2 * length**2))


def scaled(X):
    return (X - X.mean(0)) / X.std(0)


def test_krr_agrees_with_numpy(mercer, table):
    mercer("fit", "krr", table, "--kernel", "gaussian(0.7)", "--alpha", "0.5", "--out", "m.mercer")
    got = np.array(columns(mercer("predict", "m.mercer", table).out)["prediction"], float)
    data = numbers(table)
    X, y = scaled(data[:, :2]), data[:, 2]
    K = gaussian(X, X, 0.7)
    want = K @ np.linalg.solve(K + 0.5 * np.eye(len(y)), y)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    score = mercer("score", "m.mercer", table, "--json").json
    assert score["rmse"] == pytest.approx(np.sqrt(np.mean((want - y) ** 2)), rel=1e-10)
    assert score["mae"] == pytest.approx(np.mean(abs(want - y)), rel=1e-10)
    assert score["r2"] == pytest.approx(1 - np.sum((want - y) ** 2) / np.sum((y - y.mean()) ** 2), rel=1e-10)


def test_lambda_is_alpha_per_row(mercer, table):
    one = mercer("fit", "krr", table, "--alpha", "2", "--json").json
    two = mercer("fit", "krr", table, "--lambda", 2 / 40, "--json").json
    assert one["train"] == two["train"]
    assert two["alpha"] == pytest.approx(2) and one["lambda"] == pytest.approx(0.05)


def test_defaults_are_the_median_heuristic_and_alpha_1(mercer, table):
    result = mercer("fit", "krr", table, "--json").json
    X = scaled(numbers(table)[:, :2])
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))[np.triu_indices(40, 1)]
    length = float(result["kernel"].removeprefix("gaussian(").removesuffix(")"))
    assert length == pytest.approx(np.median(distances), rel=1e-12)
    assert result["alpha"] == 1


def test_intercept_and_weights(mercer, table):
    data = numbers(table)
    weights = 1 + np.arange(40) % 4
    text = "x1,x2,w,y\n" + "".join(f"{a},{b},{w},{y + 100}\n" for (a, b, y), w in zip(data.tolist(), weights.tolist()))
    (table.parent / "w.csv").write_text(text)
    mercer("fit", "krr", "w.csv", "--kernel", "gaussian(1)", "--scale", "none", "--intercept", "--sample-weight", "w", "--out", "m.mercer")
    got = np.array(columns(mercer("predict", "m.mercer", table).out)["prediction"], float)
    X, y = data[:, :2], data[:, 2] + 100
    K = gaussian(X, X, 1)
    system = np.block([[K + np.diag(1 / weights), np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.append(y, 0))
    np.testing.assert_allclose(got, K @ solved[:-1] + solved[-1], atol=1e-9)


def test_ridge_of_degree_2_finds_the_formula(mercer, table):
    result = mercer("fit", "ridge", table, "--degree", "2", "--alpha", "0", "--out", "m.mercer", "--json").json
    assert result["model"] == "ridge" and result["degree"] == 2
    assert result["train"]["rmse"] < 0.01  # the noise
    assert result["summary"]["rank"] == 5
    assert mercer("score", "m.mercer", table, "--json").json["rmse"] == pytest.approx(result["train"]["rmse"], rel=1e-12)


def test_fit_text_and_json(mercer, table):
    result = mercer("fit", "krr", table, "--out", "m.mercer")
    assert "The target is column 3 (y)" in result.out
    assert "kernel ridge, gaussian(" in result.out and "solved: Cholesky of 40 x 40" in result.out
    assert "R2" in result.out and "The model is m.mercer." in result.out
    assert "The model was not saved; --out model.mercer saves it." in mercer("fit", "krr", table).out
    report = mercer("fit", "krr", table, "--json", "--out", "m.mercer").json
    assert list(report) == ["model", "n", "features", "target", "task", "kernel", "alpha", "lambda", "precision", "summary", "train",
                            "notes", "seconds", "files"]
    assert set(report["summary"]) == {"method", "positive_definite", "converged", "iterations", "rank", "residual", "seconds", "bytes", "sentence"}
    assert set(report["train"]) == {"n", "r2", "rmse", "mae"}
    assert (report["model"], report["n"], report["features"], report["target"], report["task"]) == ("krr", 40, 2, "y", "regression")
    assert report["files"] == {"model": "m.mercer"}


def test_classes_come_back_as_labels(mercer, flowers):
    report = mercer("fit", "krr", flowers, "--one-hot", "--out", "m.mercer", "--json").json
    assert report["classes"] == ["elm", "fir, blue", "oak"] and report["task"] == "classification"
    assert any("identifies rows" in note for note in report["notes"])
    assert set(report["train"]) == {"n", "accuracy", "precision", "recall", "ci", "confusion"}
    answers = columns(mercer("predict", "m.mercer", flowers, "--scores").out)
    assert list(answers) == ["prediction", "score_elm", "score_fir, blue", "score_oak"]
    truth = columns(flowers.read_text())["kind"]
    assert answers["prediction"] == truth  # the sizes tell the kinds apart
    for i, label in enumerate(answers["prediction"]):
        assert float(answers["score_" + label][i]) == max(float(answers["score_" + c][i]) for c in report["classes"])
    score = mercer("score", "m.mercer", flowers, "--json").json
    assert score["accuracy"] == 1 and score["confusion"] == [[10, 0, 0], [0, 10, 0], [0, 0, 10]]
    text = mercer("score", "m.mercer", flowers).out
    assert "accuracy   1  (30 of 30 right; 95 % interval" in text and "truth \\ predicted" in text


def test_width_of_sparse_files(mercer, tmp_path):
    (tmp_path / "t.svm").write_text("1.5 1:1 2:3\n0.5 2:1\n2.5 1:2\n")
    (tmp_path / "n.svm").write_text("0 4:1\n")
    mercer("fit", "krr", "t.svm", "--scale", "none", "--out", "m.mercer")
    assert "has 4 features, but the model was trained on 2; leave out the others, or train with --width 4" in mercer.fails(
        1, "predict", "m.mercer", "n.svm"
    )
    mercer("fit", "krr", "t.svm", "--scale", "none", "--width", "4", "--out", "m.mercer")
    assert len(mercer("predict", "m.mercer", "n.svm").out.splitlines()) == 2
    assert mercer("fit", "krr", "t.svm", "--scale", "none", "--zero-based", "--json").json["features"] == 3


def test_words_never_seen_are_said(mercer, tmp_path):
    (tmp_path / "t.csv").write_text("colour,a,y\nred,1,0.5\nblue,2,1.5\nred,3,2.5\n")
    (tmp_path / "n.csv").write_text("colour,a\nred,1\nmauve,2\n")
    mercer("fit", "krr", "t.csv", "--one-hot", "--out", "m.mercer")
    result = mercer("predict", "m.mercer", "n.csv")
    assert len(result.out.splitlines()) == 3
    assert result.err.startswith('mercer: column colour has a word that the model never saw, "mauve" (n.csv:3), in 1 row')


def test_two_classes_have_one_score(mercer, tmp_path):
    mercer("fit", "krr", "builtin:moons", "--out", "m.mercer")
    mercer("convert", "builtin:moons", "moons.csv", "--seed", "1")
    answers = columns(mercer("predict", "m.mercer", "moons.csv", "--scores").out)
    assert list(answers) == ["prediction", "score_1"]
    for label, score in zip(answers["prediction"], answers["score_1"]):
        assert label == ("1" if float(score) > 0 else "0")
    score = mercer("score", "m.mercer", "builtin:moons", "--seed", "1", "--json").json
    truth = columns((tmp_path / "moons.csv").read_text())["class"]
    right = sum(a == b for a, b in zip(answers["prediction"], truth))
    assert score["n"] == 400 and score["accuracy"] == right / 400 > 0.85
    assert score["ci"][0] < score["accuracy"] < score["ci"][1]


def test_task_can_be_chosen(mercer, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(12)))
    assert mercer("fit", "krr", "t.csv", "--json").json["task"] == "classification"
    assert mercer("fit", "krr", "t.csv", "--task", "regress", "--json").json["task"] == "regression"


def test_columns_are_found_by_name_in_any_order(mercer, table):
    mercer("fit", "krr", table, "--out", "m.mercer")
    want = mercer("predict", "m.mercer", table).out
    data = columns(table.read_text())
    shuffled = "more,x2,x1\n" + "".join(f"9,{b},{a}\n" for a, b in zip(data["x1"], data["x2"]))
    assert mercer("predict", "m.mercer", "-", stdin=shuffled).out == want
    message = mercer.fails(1, "predict", "m.mercer", "-", stdin="x1,z\n1,2\n3,4\n")
    assert "x2" in message and "trained on" in message
    message = mercer.fails(1, "score", "m.mercer", "-", stdin=shuffled)
    assert 'lacks the target "y"' in message


def test_standard_input_gzip_and_output_files(mercer, table, tmp_path):
    mercer("fit", "krr", table, "--out", "m.mercer")
    want = mercer("predict", "m.mercer", table)
    assert want.out.startswith("prediction\n") and want.err == "40 predictions\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    assert mercer("predict", "m.mercer", "t.csv.gz").out == want.out
    assert mercer("predict", "m.mercer", "-", stdin=gzip.compress(table.read_bytes())).out == want.out
    result = mercer("predict", "m.mercer", table, "--out", "p.csv")
    assert (tmp_path / "p.csv").read_text() == want.out and result.out == "40 predictions in p.csv\n"
    mercer("predict", "m.mercer", table, "--out", "p.csv.gz")
    assert gzip.decompress((tmp_path / "p.csv.gz").read_bytes()).decode() == want.out
    mercer("predict", "m.mercer", table, "--out", "p.npy")
    assert np.load(tmp_path / "p.npy").ravel().tolist() == [float(v) for v in columns(want.out)["prediction"]]
    report = mercer("predict", "m.mercer", table, "--json").json
    assert report["predictions"]["prediction"] == [float(v) for v in columns(want.out)["prediction"]]
    assert {k: report[k] for k in ("model", "n", "columns", "files")} == {"model": "krr", "n": 40, "columns": ["prediction"], "files": {}}
    report = mercer("predict", "m.mercer", table, "--json", "--out", "p.csv").json
    assert "predictions" not in report and report["files"] == {"predictions": "p.csv"}


def test_scores_are_for_classes(mercer, table):
    mercer("fit", "krr", table, "--out", "m.mercer")
    assert mercer.fails(2, "predict", "m.mercer", table, "--scores") == "--scores is for classification; m.mercer is a model of numbers"


def test_info(mercer, flowers):
    mercer("fit", "krr", flowers, "--one-hot", "--kernel", "laplacian(2)", "--alpha", "0.25", "--out", "m.mercer")
    text = mercer("info", "m.mercer").out
    for words in ("krr, format version 1, saved by Mercer 0.1.0", "laplacian(2)", "0.25", "30 x 3, dense float64",
                  "kind (classification)", "elm, fir, blue, oak", "size, colour=green, colour=red", "standard", "crc32:"):
        assert words in text
    report = mercer("info", "m.mercer", "--json").json
    assert report["kind"] == "krr" and report["kernel"] == "laplacian(2)" and report["alpha"] == [0.25] * 3
    assert report["encoder"]["classes"] == ["elm", "fir, blue", "oak"]
    assert report["tensors"]["samples"] == {"dtype": "F64", "shape": [30, 3]}
    assert report["file"] == "m.mercer" and report["bytes"] > 1000
    assert {"options", "summary", "samples", "format_version", "mercer_version", "checksum"} <= set(report)
    mercer("fit", "ridge", flowers, "--one-hot", "--degree", "2", "--out", "r.mercer")
    assert "2 (9 monomials)" in mercer("info", "r.mercer").out


def test_damaged_models_are_refused(mercer, table, tmp_path):
    mercer("fit", "krr", table, "--out", "m.mercer")
    good = (tmp_path / "m.mercer").read_bytes()
    for name, bytes_ in (("flipped", good[:-9] + bytes([good[-9] ^ 1]) + good[-8:]), ("short", good[:-8]), ("empty", b"")):
        (tmp_path / "bad.mercer").write_bytes(bytes_)
        for words in (["info", "bad.mercer"], ["predict", "bad.mercer", table], ["score", "bad.mercer", table]):
            assert mercer.fails(1, *words).startswith("bad.mercer: "), name


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("a,b,y\n1,2,3\n4,,6\n", [], "b"),
        ("a,b,y\n1,2,3\n4,red,6\n5,red,7\n", [], "--one-hot"),
        ("a,b,y\n1,2,3\n4,5,\n", [], "y"),
        ("a,b,y\n1,2,3\n4,5,6\n", ["--target", "z"], '"z"'),
        ("a,b,y\n1,2,3\n4,5,6\n", ["--drop", "q"], '"q"'),
        ("a,y\n1,x\n2,x\n", [], "only one class"),
        ("a,b,y\n1,2,3\n4,5,6\n", ["--sample-weight", "w"], 'no column "w"'),
        ("a,b,y\n1,-2,3\n4,5,6\n", ["--sample-weight", "b"], "weight"),
        ("", [], "standard input: is empty"),
        ("y\n1\n2\n", [], "feature"),
        ("a,b,y\n1,2,3\n4,5,1e999\n", [], "1e999"),
    ],
)
def test_bad_data_is_status_1(mercer, text, words, message):
    assert message in mercer.fails(1, "fit", "krr", "-", *words, stdin=text)


def test_missing_values_can_be_filled(mercer):
    text = "a,b,y\n1,2,3.5\n4,,6\n5,8,7\n"
    report = mercer("fit", "ridge", "-", "--impute", "mean", "--json", stdin=text).json
    filled = text.replace("4,,6", "4,5,6")
    assert report["train"] == mercer("fit", "ridge", "-", "--json", stdin=filled).json["train"]


def test_data_options(mercer):
    plain = mercer("fit", "krr", "-", "--json", stdin="a,b,y\n1,2,3.5\n4,3,6\n5,8,7\n").json["train"]
    assert mercer("fit", "krr", "-", "--json", "--delimiter", "semicolon", stdin="a;b;y\n1;2;3.5\n4;3;6\n5;8;7\n").json["train"] == plain
    assert mercer("fit", "krr", "-", "--json", "--no-header", stdin="1,2,3.5\n4,3,6\n5,8,7\n").json["train"] == plain
    assert mercer("fit", "krr", "-", "--json", "--drop", "c,d", stdin="a,b,c,d,y\n1,2,0,9,3.5\n4,3,1,9,6\n5,8,1,8,7\n").json["train"] == plain
    twice = mercer("fit", "krr", "--drop", "c", "--json", "--drop", "d", "-", stdin="a,b,c,d,y\n1,2,0,9,3.5\n4,3,1,9,6\n5,8,1,8,7\n")
    assert twice.json["train"] == plain
    libsvm = "3.5 1:1 2:2\n6 1:4 2:3\n7 1:5 2:8\n"
    sparse = mercer("fit", "krr", "-", "--json", "--scale", "none", "--format", "libsvm", stdin=libsvm).json["train"]
    dense = mercer("fit", "krr", "-", "--json", "--scale", "none", stdin="a,b,y\n1,2,3.5\n4,3,6\n5,8,7\n").json["train"]
    assert sparse["rmse"] == pytest.approx(dense["rmse"], rel=1e-10)


def test_memory_budget_is_obeyed(mercer, table):
    lines = ["x,y"] + [f"{i},{i}.5" for i in range(3000)]
    message = mercer.fails(1, "fit", "krr", "-", "--memory", "10M", "--solver", "cholesky", stdin="\n".join(lines))
    assert "kernel ridge regression on 3000 samples" in message and "solver cg" in message
    report = mercer("fit", "krr", "-", "--memory", "10M", "--json", stdin="\n".join(lines)).json["summary"]  # left to choose, it finds a way
    assert report["method"] == "conjugate gradients" and report["bytes"] <= 10 * 2**20 and report["residual"] <= 1e-10


def test_threads_do_not_change_the_answer(mercer, table):
    reports = [mercer("fit", "krr", table, "--threads", n, "--json").json["train"] for n in (1, 2, 3)]
    assert reports[0] == reports[1] == reports[2]


def test_float32_is_near(mercer, table):
    one = mercer("fit", "krr", table, "--json").json
    two = mercer("fit", "krr", table, "--precision", "float32", "--json").json
    assert two["precision"] == "float32" and two["train"]["rmse"] == pytest.approx(one["train"]["rmse"], rel=1e-4)


def test_odd_names_survive(mercer, tmp_path):
    text = '"a ""b"", c",</script><b>,\xe9\n' + "".join(f"{i},{i * i},{'<i>' if i % 2 else 'ok'}\n" for i in range(8))
    (tmp_path / "odd.csv").write_text(text, encoding="utf-8")
    mercer("fit", "krr", "odd.csv", "--out", "m.mercer")
    assert set(columns(mercer("predict", "m.mercer", "odd.csv").out)["prediction"]) <= {"<i>", "ok"}
    assert '</script><b>' in json.dumps(mercer("info", "m.mercer", "--json").json)
    (tmp_path / "latin.csv").write_bytes(text.encode("latin-1"))
    assert "latin.csv:1:3: a column name is not UTF-8" in mercer.fails(1, "fit", "krr", "latin.csv")
