"""fit krr --alphas ... and predict --interval, checked against numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import io

import numpy as np
import pytest


def columns(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: np.array([float(row[j]) for row in rows[1:]]) for j, name in enumerate(rows[0])}


def gram(X, length):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * length**2))


def training(table):
    numbers = np.loadtxt(table, delimiter=",", skiprows=1)
    X = numbers[:, :2]
    return (X - X.mean(0)) / X.std(0), numbers[:, 2]


def test_path_agrees_with_numpy(mercer, table):
    words = ["fit", "krr", table, "--alphas", "0.01,0.1,1", "--loo", "--kernels", "gaussian(0.5); gaussian(2)"]
    report = mercer(*words, "--json").json
    X, y = training(table)
    assert len(report["path"]) == 6 and report["criterion"] == "loo"
    scores = []
    for point in report["path"]:
        length = {"gaussian(0.5)": 0.5, "gaussian(2)": 2}[point["kernel"]]
        inverse = np.linalg.inv(gram(X, length) + point["alpha"] * np.eye(len(y)))
        rmse = np.sqrt(np.mean((inverse @ y / np.diag(inverse)) ** 2))
        assert point["loo_rmse"] == pytest.approx(rmse, rel=1e-8)
        assert point["degrees_of_freedom"] == pytest.approx(len(y) - point["alpha"] * np.trace(inverse), rel=1e-8)
        scores.append(rmse)
    best = report["path"][int(np.argmin(scores))]
    assert (report["kernel"], report["alpha"]) == (best["kernel"], best["alpha"])
    text = mercer(*words).out
    assert "LOO RMSE" in text and text.count("<- chosen") == 1 and "by exact leave-one-out" in text and "intervals: jackknife+" in text


def test_automatic_alphas_criteria_and_folds(mercer, table):
    auto = mercer("fit", "krr", table, "--alphas", "auto", "--json").json
    assert len(auto["path"]) == 30
    loo = mercer("fit", "krr", table, "--loo", "--json").json
    assert loo["path"] == auto["path"]
    evidence = mercer("fit", "krr", table, "--alphas", "auto", "--criterion", "evidence", "--json").json
    assert evidence["best_score"] == max(point["log_evidence"] for point in evidence["path"])
    folds = mercer("fit", "krr", table, "--alphas", "0.1,1", "--folds", "4", "--json").json
    assert [len(point["fold_scores"]) for point in folds["path"]] == [4, 4] and folds["criterion"] == "folds"
    assert "fold RMSE" in mercer("fit", "krr", table, "--alphas", "0.1,1", "--folds", "4").out


def test_groups_stay_together(mercer, tmp_path):
    # Each group has its own level: only folds that split groups can know it.
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(8), 6)
    level = 5 * rng.normal(size=8)
    lines = [f"{g + 0.01 * k},g{g},{level[g]:.6f}" for k, g in enumerate(group)]
    (tmp_path / "g.csv").write_text("x,site,y\n" + "\n".join(lines) + "\n")
    words = ["fit", "krr", "g.csv", "--kernel", "gaussian(0.1)", "--alphas", "0.01", "--folds", "4", "--json"]
    whole = mercer(*words, "--groups", "site").json
    split = mercer(*words, "--drop", "site").json
    assert whole["features"] == split["features"] == 1
    assert whole["best_score"] < 5 * split["best_score"]  # both negative


def test_intervals_in_columns(mercer, table):
    mercer("fit", "krr", table, "--alphas", "0.1", "--kernel", "gaussian(1)", "--out", "m.mercer")
    got = columns(mercer("predict", "m.mercer", table, "--interval", "0.9").out)
    assert list(got) == ["prediction", "lower", "upper"]
    X, y = training(table)
    K = gram(X, 1)
    inverse = np.linalg.inv(K + 0.1 * np.eye(len(y)))
    coef = inverse @ y
    residuals = coef / np.diag(inverse)
    without = (K @ coef)[:, None] - (K @ inverse) * residuals
    up = int(np.ceil(0.9 * (len(y) + 1) - 1e-9))
    np.testing.assert_allclose(got["upper"], np.sort(without + abs(residuals), axis=1)[:, up - 1], atol=1e-8)
    np.testing.assert_allclose(got["lower"], np.sort(without - abs(residuals), axis=1)[:, len(y) - up], atol=1e-8)
    report = mercer("predict", "m.mercer", table, "--interval", "0.9", "--json").json
    assert report["columns"] == ["prediction", "lower", "upper"]
    np.testing.assert_allclose(report["predictions"]["lower"], got["lower"])
    mercer("fit", "krr", table, "--intervals", "--out", "n.mercer")
    assert "lower" in mercer("predict", "n.mercer", table, "--interval", "0.5").out


def test_wrong_use_is_named(mercer, table):
    mercer("fit", "krr", table, "--out", "m.mercer")
    assert "fit it with --intervals, or with --alphas" in mercer.fails(2, "predict", "m.mercer", table, "--interval", "0.9")
    assert "a number between 0 and 1" in mercer.fails(2, "predict", "m.mercer", table, "--interval", "90")
    mercer("fit", "ridge", table, "--out", "r.mercer")
    assert "for kernel ridge models and Gaussian processes of numbers" in mercer.fails(2, "predict", "r.mercer", table, "--interval", "0.9")
    assert 'got "x"' in mercer.fails(2, "fit", "krr", table, "--alphas", "1,x")
    assert "--alpha" in mercer.fails(2, "fit", "krr", table, "--alphas", "1", "--alpha", "2")
    assert "choose it" in mercer.fails(2, "fit", "krr", table, "--loo", "--lambda", "2")
    assert "for one alpha" in mercer.fails(2, "fit", "krr", table, "--alphas", "1,2", "--solver", "cg")
    assert "learns one kernel" in mercer.fails(2, "fit", "krr", table, "--kernels", "gaussian(1)", "--learn-kernel", "loo")
    assert "--folds" in mercer.fails(2, "fit", "krr", table, "--groups", "x1")
    assert "give --alphas auto" in mercer.fails(2, "fit", "krr", table, "--criterion", "gcv")
    mercer.fails(2, "fit", "krr", table, "--kernels", "nonsense(3)")


def test_the_kernel_is_learned_before_alpha_is_chosen(mercer, table):
    report = mercer("fit", "krr", table, "--learn-kernel", "loo", "--alphas", "auto", "--json").json
    assert report["learned"]["objective"] == "loo" and len(report["path"]) == 30
    assert "gaussian(" in report["kernel"] and report["kernel"] != mercer("fit", "krr", table, "--alphas", "auto", "--json").json["kernel"]


def test_folds_follow_the_seed(mercer, table):
    scores = [mercer("fit", "krr", table, "--alphas", "0.1,1", "--folds", "4", "--seed", seed, "--json").json["best_score"] for seed in (1, 2)]
    assert scores[0] != scores[1]


def test_a_far_mean_is_pointed_out(mercer, tmp_path):
    (tmp_path / "far.csv").write_text("x,y\n" + "\n".join(f"{i},{1000 + i % 7}.5" for i in range(40)) + "\n")
    assert "--intercept fits a constant" in mercer("fit", "krr", "far.csv").out
    assert "--intercept fits a constant" not in mercer("fit", "krr", "far.csv", "--intercept").out
