"""Change points against a plain dynamic programme; the test; the drift monitor against numpy."""
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer


def gram(x, scale=1.0):
    x = np.asarray(x, dtype=float).reshape(len(x), -1)
    return np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / (2 * scale**2))


def least_costs(K, most, h):
    """Least cost of 1 .. most segments, by loops."""
    n = len(K)
    cost = np.full((n + 1, n + 1), np.inf)
    for s in range(n):
        for t in range(s + h, n + 1):
            cost[s, t] = np.trace(K[s:t, s:t]) - K[s:t, s:t].sum() / (t - s)
    best = np.full((most + 1, n + 1), np.inf)
    best[0, 0] = 0
    for d in range(1, most + 1):
        best[d] = (best[d - 1][:, None] + cost).min(0)
    return best[1:, n]


@pytest.fixture
def steps():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(size=50), rng.normal(2.5, 1, size=40), rng.normal(0, 3, size=60)])


def test_costs_agree_with_a_plain_programme(steps):
    for h in (1, 2, 5):
        found = mercer.change_points(steps, "gaussian(1)", n_changes=5, min_segment=h)
        np.testing.assert_allclose(found.costs, least_costs(gram(steps), 6, h), rtol=1e-10)
        assert len(found) == 5 and found.cost == pytest.approx(found.costs[-1])
        assert all(b - a >= h for a, b in found.segments) and found.segments[0][0] == 0 and found.segments[-1][1] == 150


def test_finds_known_changes(steps):
    found = mercer.change_points(steps)
    assert len(found) == 2 and abs(found.positions[0] - 50) <= 3 and abs(found.positions[1] - 90) <= 4
    assert found.method == "slope" and found.penalty > 0 and len(found.criterion) == len(found.costs) and "2 changes in 150 rows" in str(found)
    assert (np.bincount(found.labels) == [b - a for a, b in found.segments]).all()
    left, right = steps[: found.positions[0]], steps[found.positions[0] : found.positions[1]]
    scale = mercer.kernel(found.kernel).length_scale
    K = gram(np.r_[left, right], scale)
    a = len(left)
    assert found.squared[0] == pytest.approx(K[:a, :a].mean() + K[a:, a:].mean() - 2 * K[:a, a:].mean())
    assert mercer.change_points(steps, penalty=found.penalty * 6).method == "penalty"


def test_takes_what_users_have(steps):
    wanted = mercer.change_points(steps, "gaussian(1)").positions.tolist()
    for series in (steps.tolist(), pd.Series(steps), steps.reshape(-1, 1).astype(np.float32), sp.csr_matrix(steps.reshape(-1, 1)), pd.DataFrame({"v": steps})):
        assert mercer.change_points(series, "gaussian(1)").positions.tolist() == wanted
    assert mercer.change_points(gram(steps), "precomputed").positions.tolist() == wanted
    assert mercer.change_points(np.column_stack([steps, steps]), "gaussian(1).on(0)", n_jobs=1).positions.tolist() == wanted


@pytest.mark.parametrize(("words", "message"), [
    ({"n_changes": -1}, "n_changes must be a whole number >= 0"),
    ({"n_changes": 1.5}, "n_changes must be a whole number"),
    ({"n_changes": 80}, "changes must be from 0 to"),
    ({"penalty": -1}, "penalty must be a finite number > 0"),
    ({"penalty": 1, "n_changes": 1}, "give one of them"),
    ({"min_segment": 0}, "min_segment must be a whole number >= 1"),
    ({"min_segment": 100}, "at least 200 rows"),
    ({"max_changes": 0}, "max_changes must be a whole number >= 1"),
    ({"kernel": "sigmoid(1, 0)"}, "positive semi-definite"),
])  # fmt: skip
def test_says_what_is_wrong(steps, words, message):
    with pytest.raises(ValueError, match=message):
        mercer.change_points(steps, **words)


def test_bad_series():
    with pytest.raises(ValueError, match="NaN"):
        mercer.change_points([1.0] * 30 + [np.nan])
    with pytest.raises(ValueError, match="at least 20 rows"):
        mercer.change_points(np.arange(10.0))
    with pytest.raises(ValueError, match="numbers"):
        mercer.change_points(["a", "b"])
    assert len(mercer.change_points(np.ones(50))) == 0


def test_change_point_test(steps):
    result = mercer.change_point_test(steps, n_permutations=199, random_state=1)
    assert isinstance(result, mercer.TestResult) and result and result.p_value == 1 / 200 and result.exact
    K = gram(steps, mercer.kernel(result.kernel).length_scale)
    n = len(K)
    gains = {t: K[:t, :t].sum() / t + K[t:, t:].sum() / (n - t) - K.sum() / n for t in range(2, n - 1)}
    assert result.position == max(gains, key=gains.get) and result.statistic == pytest.approx(max(gains.values()))
    quiet = mercer.change_point_test(np.random.default_rng(0).normal(size=60), n_permutations=99, random_state=0)
    assert not quiet and quiet.p_value > 0.05
    blocks = mercer.change_point_test(steps, n_permutations=99, block_length=5, random_state=0)
    assert "blocks of 5 rows" in blocks.description and not blocks.exact
    with pytest.raises(ValueError, match="n_permutations"):
        mercer.change_point_test(steps, n_permutations=0)


# -- drift


def mmd_u(X, Y, scale):
    K = lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * scale**2))  # noqa: E731
    n, m = len(X), len(Y)
    return (K(X, X).sum() - n) / (n * (n - 1)) + (K(Y, Y).sum() - m) / (m * (m - 1)) - 2 * K(X, Y).mean()


@pytest.fixture
def monitor():
    return mercer.DriftMonitor(np.random.default_rng(0).normal(size=(120, 2)), window=10, expected_run_length=200, random_state=1)


def test_statistic_is_mmd_of_the_window(monitor):
    stream = np.random.default_rng(1).normal(size=(40, 2))
    seen = monitor.update(stream)
    compared = monitor.__getstate__()["reference"]
    assert compared.shape == (120 - 19, 2) and monitor.reference_rows == 101
    assert np.isnan(seen.statistic[:9]).all() and not np.isnan(seen.statistic[9:]).any()
    for t in (9, 10, 25, 39):
        assert seen.statistic[t] == pytest.approx(mmd_u(compared, stream[t - 9 : t + 1], monitor.kernel.length_scale), abs=1e-12)
    assert monitor.state == {"time": 40, "filled": 10, "window": 10, "last_alarm": None} and seen.time.tolist() == list(range(40))
    assert len(monitor.thresholds) == 10 and monitor.expected_run_length == 200 and monitor.seed == 1


def test_one_row_at_a_time_is_the_same(monitor):
    stream = np.random.default_rng(1).normal(size=(30, 2))
    other = copy.deepcopy(monitor)
    whole = monitor.update(stream)
    single = [other.update(row) for row in stream]
    np.testing.assert_allclose([s.statistic[0] for s in single], whole.statistic, atol=1e-12)
    assert other.time == 30


def test_alarms_reset_and_pickles(monitor):
    rng = np.random.default_rng(2)
    monitor.update(rng.normal(size=(15, 2)))
    again = pickle.loads(pickle.dumps(monitor))
    shifted = rng.normal(size=(30, 2)) + 3
    seen, twin = monitor.update(shifted), again.update(shifted)
    np.testing.assert_allclose(seen.statistic, twin.statistic, atol=1e-13)
    assert seen and seen.alarms[0] < 15 + 10 and monitor.last_alarm == 44 and "drift" in str(monitor)
    monitor.reset()
    assert monitor.last_alarm is None and monitor.filled == 0 and monitor.time == 45
    assert not pickle.loads(pickle.dumps(monitor)).update(shifted[:9])


def test_one_column_and_other_containers():
    rng = np.random.default_rng(0)
    one = mercer.DriftMonitor(rng.normal(size=90), window=8, false_alarm_rate=0.01, random_state=0)
    assert one.expected_run_length == 100 and len(one.update(rng.normal(size=5))) == 5 and len(one.update(0.3)) == 1
    reference = sp.random(90, 6, density=0.4, format="csr", random_state=0)
    sparse = mercer.DriftMonitor(reference, "gaussian(1)", window=8, expected_run_length=100, random_state=0)
    dense = mercer.DriftMonitor(reference.toarray().astype(np.float32), "gaussian(1)", window=8, expected_run_length=100, random_state=0)
    stream = sp.random(20, 6, density=0.4, format="csr", random_state=1)
    np.testing.assert_allclose(sparse.update(stream).statistic, dense.update(stream.toarray().astype(np.float32)).statistic, atol=1e-6)
    assert len(pickle.loads(pickle.dumps(sparse)).update(stream)) == 20
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    named = mercer.DriftMonitor(frame, window=5, expected_run_length=50, random_state=0)
    with pytest.raises(ValueError, match="columns"):
        named.update(frame[["b", "a"]])
    with pytest.raises(ValueError, match="missing from rows: 'b'; only in rows: 'c'"):
        named.update(frame.rename(columns={"b": "c"}))
    assert len(named.update(np.empty((0, 2)))) == 0


@pytest.mark.parametrize(("words", "message"), [
    ({"window": 1}, "window must be a whole number >= 2"),
    ({"window": 60}, "three windows"),
    ({"expected_run_length": 1}, "expected_run_length must be"),
    ({"false_alarm_rate": 0}, "false_alarm_rate must be"),
    ({"n_simulations": 10}, "simulations must be at least"),
    ({"kernel": "precomputed"}, "given Gram matrix"),
])  # fmt: skip
def test_monitor_says_what_is_wrong(words, message):
    with pytest.raises(ValueError, match=message):
        mercer.DriftMonitor(np.random.default_rng(0).normal(size=(100, 2)), **words)


def test_bad_rows(monitor):
    for rows in (np.zeros((2, 3)), [1.0, 2.0, 3.0], np.full((1, 2), np.nan)):
        with pytest.raises(ValueError):
            monitor.update(rows)
    assert monitor.time == 0


def test_plots(steps, monitor):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = mercer.change_points(steps)
    assert found.plot(steps).get_xlabel() == "row" and found.plot().get_xlabel() == "segments"
    assert "row of the stream" in monitor.update(np.zeros((20, 2))).plot().get_xlabel()
    mercer.change_point_test(steps, n_permutations=19, random_state=0).plot()
    with pytest.raises(ValueError, match="150 rows"):
        found.plot(steps[:-1])
    plt.close("all")


def test_an_update_says_what_it_saw():
    rng = np.random.default_rng(0)
    monitor = mercer.DriftMonitor(rng.normal(size=(120, 2)), window=10, random_state=1, n_simulations=2000)
    assert monitor.expected_run_length == 1000
    assert str(monitor.update(rng.normal(size=(5, 2)))) == "5 rows seen (time 0 to 4): no alarm; the window is not full yet"
    seen = monitor.update(rng.normal(size=(20, 2)) + 3)
    said = f"20 rows seen (time 5 to 24): {len(seen.alarms)} alarms, first at time {seen.alarms[0]}, last at 24; last statistic {seen.statistic[-1]:.4g}, threshold"
    assert str(seen).startswith(said) and repr(seen) == f"<DriftUpdate: {seen}>"
    one = monitor.update([3.0, 3.0])
    assert str(one).startswith("1 row seen (time 25 to 25): an alarm at time 25; last")
    assert str(monitor.update(np.empty((0, 2)))) == "no rows"


def test_run_length_and_rate_are_not_both_given():
    with pytest.raises(ValueError, match="give expected_run_length or false_alarm_rate, not both"):
        mercer.DriftMonitor(np.zeros((60, 1)), expected_run_length=100, false_alarm_rate=0.01)
