"""fit krr --learn-kernel: the learned kernel is used, printed and told in JSON."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest


@pytest.fixture
def six(tmp_path):
    """Two of four columns matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + 0.1 * rng.normal(size=120)
    path = tmp_path / "six.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    return path


def test_learns_and_uses_the_kernel(mercer, six):
    plain = mercer("fit", "krr", six, "--json").json
    learned = mercer("fit", "krr", six, "--learn-kernel", "--ard", "--json", "--out", "m.mercer").json
    told = learned["learned"]
    assert "learned" not in plain
    assert told["objective"] == "loo" and told["value"] < told["start_value"] and told["rows"] == 120
    scales = [p["value"] for p in told["parameters"] if "length_scale" in p["name"]]
    assert sorted(np.argsort(scales)[:2]) == [0, 1]
    assert learned["alpha"] == told["parameters"][-1]["value"] != 1
    assert learned["kernel"] == mercer("info", "m.mercer", "--json").json["kernel"]
    assert learned["train"]["rmse"] < plain["train"]["rmse"]


def test_objectives_and_text(mercer, six):
    text = mercer("fit", "krr", six, "--kernel", "gaussian(auto) + linear", "--learn-kernel", "evidence", "--ard", "--learn-restarts", "0").out
    assert "kernel learned: log evidence" in text
    assert "gaussian.length_scale[0] (a): " in text
    given = mercer("fit", "krr", six, "--learn-kernel", "alignment", "--alpha", "0.25", "--learn-rows", "60", "--json").json
    assert given["alpha"] == 0.25 and given["learned"]["rows"] == 60
    assert mercer("fit", "krr", six, "--learn-kernel", "--lambda", "0.01", "--json").json["alpha"] == pytest.approx(1.2)


def test_classes(mercer, flowers):
    result = mercer("fit", "krr", flowers, "--one-hot", "--learn-kernel", "alignment", "--json").json
    assert result["task"] == "classification" and 0 < result["learned"]["value"] <= 1


def test_wrong_use(mercer, six):
    assert "must be loo|evidence|alignment" in mercer.fails(2, "fit", "krr", six, "--learn-kernel", "cv")
    assert "--learn-kernel" in mercer.fails(2, "fit", "krr", six, "--ard")
    assert "alpha must be a finite number > 0, got 0" in mercer.fails(1, "fit", "krr", six, "--learn-kernel", "--alpha", "0")
