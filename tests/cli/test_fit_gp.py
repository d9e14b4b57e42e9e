"""fit gp, through a file to answers, checked against scikit-learn."""
# SPDX-License-Identifier: BSD-3-Clause
import csv

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = 5 + 3 * np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    path = tmp_path / "train.csv"
    np.savetxt(path, np.column_stack([X, y, 1 + rng.random(60)]), delimiter=",", header="a,b,y,w", comments="", fmt="%.17g")
    return path, X, y


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_finds_what_scikit_learn_finds(mercer, table, tmp_path):
    path, X, y = table
    out = tmp_path / "gp.mercer"
    answer = mercer("fit", "gp", path, "--target", "y", "--drop", "w", "--kernel", "1*gaussian(1)", "--out", out, "--json").json
    theirs = GaussianProcessRegressor(ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1), normalize_y=True).fit(standardised(X), y)
    assert answer["model"] == "gp"
    assert answer["objective"] == "marginal"
    assert answer["summary"]["log_marginal_likelihood"] == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-5)
    assert answer["noise"] == pytest.approx(theirs.kernel_.k2.noise_level, rel=1e-2)
    assert [p["name"] for p in answer["parameters"]] == ["factor", "gaussian.length_scale"]
    assert answer["summary"]["converged"] is True
    assert answer["train"]["r2"] > 0.95
    predicted = mercer("predict", out, path)
    values = [float(row["prediction"]) for row in csv.DictReader(predicted.out.splitlines())]
    np.testing.assert_allclose(values, theirs.predict(standardised(X)), atol=1e-2)
    told = mercer("info", out).out
    assert "gaussian(" in told
    assert "noise" in told
    assert "log marginal likelihood" in told


def test_options(mercer, table, tmp_path):
    path, *_ = table
    common = ("fit", "gp", path, "--target", "y", "--kernel", "1*gaussian(1)", "--json")
    fixed = mercer(*common, "--drop", "w", "--noise", "0.2", "--fixed", "noise,factor").json
    assert fixed["noise"] == 0.2
    assert fixed["parameters"][0]["value"] == 1
    assert fixed["parameters"][1]["value"] != 1
    ard = mercer("fit", "gp", path, "--target", "y", "--drop", "w", "--ard", "--json").json
    scales = {p["name"]: p["value"] for p in ard["parameters"]}
    assert scales["gaussian.length_scale[1]"] > 3 * scales["gaussian.length_scale[0]"]  # the second column does not matter
    given = mercer(*common, "--drop", "w", "--no-optimize").json
    assert given["kernel"] == "1*gaussian(1)"
    assert given["summary"]["starts"] == 0
    best = mercer(*common, "--drop", "w", "--objective", "loo", "--restarts", "2").json
    assert best["objective"] == "loo"
    assert best["summary"]["starts"] == 3
    assert best["summary"]["leave_one_out_log_likelihood"] is not None
    weighted = mercer(*common, "--sample-weight", "w").json
    assert len(weighted["noise"]) == 60
    # A new row has weight 1: its noise is what a training row's is times its weight, and it is in the interval.
    out = tmp_path / "weighted.mercer"
    fixed = ("fit", "gp", path, "--target", "y", "--sample-weight", "w", "--no-optimize", "--kernel", "gaussian(1)", "--out", out)
    mercer(*fixed, "--noise", "1e4")
    rows = list(csv.DictReader(mercer("predict", out, path, "--interval", "0.9").out.splitlines()))
    half = np.array([float(row["upper"]) - float(row["lower"]) for row in rows]) / (2 * 1.6448536269514722)
    y = np.array([float(row["y"]) for row in csv.DictReader(path.read_text().splitlines())])
    np.testing.assert_allclose(half, 100 * y.std(), rtol=1e-3)
    assert any(line.startswith("Gaussian process, ") for line in mercer(*common[:-1], "--drop", "w").out.splitlines())


def test_refusals(mercer, table):
    path, *_ = table
    assert "--noise" in mercer.fails(2, "fit", "gp", path, "--noise", "-1")
    assert "--kernel" in mercer.fails(2, "fit", "gp", path, "--ard", "--kernel", "gaussian(1)")
    assert "must be marginal|loo" in mercer.fails(2, "fit", "gp", path, "--objective", "mse")
    assert 'has no parameter "gamma" to be fixed' in mercer.fails(1, "fit", "gp", path, "--target", "y", "--fixed", "gamma")
    assert "is for numbers" in mercer.fails(1, "fit", "gp", "builtin:moons")
    sigmoid = ("--kernel", "sigmoid(1, -1)", "--noise", "0.001", "--no-optimize")
    assert "check_kernel" in mercer.fails(1, "fit", "gp", path, "--target", "y", *sigmoid)
    assert "weight" in mercer.fails(1, "fit", "gp", path, "--target", "y", "--sample-weight", "a")
