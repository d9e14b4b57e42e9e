"""A vector is rows of one column wherever samples are taken; wrong arguments are named by the same errors everywhere."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pandas as pd
import pytest

import mercer

rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=40), rng.normal(0.5, size=40), rng.normal(size=40)
Q = {"n_permutations": 49, "random_state": 0}


def score(rows):
    return -rows


CALLS = {
    "conditional_independence_test": lambda x, y, z: mercer.conditional_independence_test(x, y, z, random_state=0).p_value,
    "conditional_independence_test of nothing": lambda x, y, z: mercer.conditional_independence_test(x, y, None, random_state=0).p_value,
    "independence_test": lambda x, y, z: mercer.independence_test(x, y, **Q).statistic,
    "joint_independence_test": lambda x, y, z: mercer.joint_independence_test(x, y, z, **Q).statistic,
    "mmd": lambda x, y, z: float(mercer.mmd(x, y)),
    "two_sample_test": lambda x, y, z: mercer.two_sample_test(x, y, **Q).statistic,
    "level_check": lambda x, y, z: mercer.level_check(x, y, repetitions=10, **Q).p_values,
    "two_sample_power": lambda x, y, z: mercer.two_sample_power(x, y, **Q).power,
    "mean_embedding": lambda x, y, z: mercer.mean_embedding(x)(y),
    "witness": lambda x, y, z: mercer.witness(x, y)(z),
    "witness columns": lambda x, y, z: mercer.witness(x, y).columns(shuffles=1, **Q)[0].squared,
    "k_sample_test": lambda x, y, z: mercer.k_sample_test([x, y, z], **Q).statistic,
    "k_sample_test by labels": lambda x, y, z: mercer.k_sample_test(x, np.arange(40) % 3, **Q).statistic,
    "goodness_of_fit_test": lambda x, y, z: mercer.goodness_of_fit_test(x, mercer.Normal(0, 1), random_state=0).statistic,
    "goodness_of_fit_test of a score": lambda x, y, z: mercer.goodness_of_fit_test(x, score, random_state=0).statistic,
    "goodness_of_fit_test of normality": lambda x, y, z: mercer.goodness_of_fit_test(x, random_state=0, n_draws=50).statistic,
    "score": lambda x, y, z: mercer.Normal(1, 2).score(x),
    "mmd_aggregated_test": lambda x, y, z: mercer.mmd_aggregated_test(x, y, **Q).statistic,
    "mmd_fuse_test": lambda x, y, z: mercer.mmd_fuse_test(x, y, **Q).statistic,
    "hsic_aggregated_test": lambda x, y, z: mercer.hsic_aggregated_test(x, y, **Q).statistic,
    "with_bandwidths": lambda x, y, z: [k.parameters for k in mercer.with_bandwidths("gaussian(auto)", x, 3)],
    "squash": lambda x, y, z: mercer.squash(x, 5, random_state=0).indices,
    "herd": lambda x, y, z: mercer.herd(x, 5).indices,
    "thin": lambda x, y, z: mercer.thin(x, 5, random_state=0).indices,
    "mixture_weights": lambda x, y, z: mercer.mixture_weights(x, [y, z]).weights,
    "change_points": lambda x, y, z: mercer.change_points(x).costs,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_vector_is_one_column(call):
    wanted = call(*(v.reshape(-1, 1) for v in (X, Y, Z)))
    for kind in (np.asarray, list, lambda v: pd.Series(v, index=np.arange(40) + 7)):
        np.testing.assert_array_equal(call(*(kind(v) for v in (X, Y, Z))), wanted)


def test_vectors_beside_columns_and_what_stays_an_error():
    assert mercer.mmd(X, Y.reshape(-1, 1)) == mercer.mmd(X, Y)
    assert mercer.mmd(X.astype(np.float32), Y.astype(np.float32)) == pytest.approx(float(mercer.mmd(X, Y)), rel=1e-3)
    assert mercer.two_sample_test(X, X, random_state=0).p_value == 1  # the same vector twice is two samples
    with pytest.raises(ValueError, match="X has 1 columns but Y has 2"):
        mercer.two_sample_test(X, np.ones((5, 2)))
    with pytest.raises(ValueError, match="looks at numbers, but X holds strings"):
        mercer.two_sample_test(np.array(["a", "b"]), np.array(["a", "c"]))
    with pytest.raises(ValueError, match="two dimensions"):  # a row or a column of points? only the caller knows
        mercer.mean_embedding(np.ones((4, 2)))([1.0, 2.0])
    with pytest.raises(ValueError, match="at least one row"):
        mercer.mmd([], Y)
    with pytest.raises(ValueError, match="two dimensions"):
        mercer.mmd(3.0, Y)
    assert mercer.squash(X, 5, random_state=0).points(X).shape == (5,)


def test_categories_given_numbers_and_numbers_given_categories():
    generator = np.random.default_rng(1)
    kind = generator.choice(["a", "b", "c"], 150)
    height = np.array([{"a": -1.0, "b": 0.0, "c": 2.0}[k] for k in kind])
    x, y = height + generator.normal(size=(2, 150))
    assert mercer.independence_test(x, y, **Q).rejected
    given = mercer.conditional_independence_test(x, y, kind, random_state=0)
    assert not given.rejected and given.kernels[2] == "delta" and "Z holds 3 categories" in str(given)
    first = np.where(x > 0, "high", "low")
    second = pd.Series(np.where(generator.random(150) < 0.8, first, "low"), dtype="category")
    both = mercer.conditional_independence_test(first, second, y, random_state=0)
    assert both.rejected and both.kernels[:2] == ["delta", "delta"] and "linear" not in str(both)
    assert "kernel linear is not characteristic" in str(mercer.conditional_independence_test(first, x, y, kernel_y="linear", random_state=0))
    # The delta kernel is that of the Gram matrix of equal categories.
    gram = (first[:, None] == first).astype(float)
    matrix = mercer.conditional_independence_test(gram, x, y, kernel_x="precomputed", random_state=0)
    assert matrix.statistic == pytest.approx(mercer.conditional_independence_test(first, x, y, random_state=0).statistic, rel=1e-9)
    assert mercer.conditional_independence_test(first, x, None, **Q).kernels[0] == "delta"
    with pytest.raises(ValueError, match="delta kernel of X has no random features"):
        mercer.conditional_independence_test(first, x, y, method="randomized")


def test_level_and_power_of_categories():
    rejected = np.zeros(3, dtype=int)
    for seed in range(100):
        generator = np.random.default_rng(seed)
        kind, noise = generator.integers(0, 3, 60), generator.normal(size=(2, 60))
        x, y = np.array([-1.0, 0.0, 2.0])[kind] + noise
        z, noise = generator.normal(size=60), generator.normal(size=(2, 60))
        first, second = np.where(z + noise[0] > 0, "u", "v"), np.where(np.sin(2 * z) + 0.5 * noise[1] > 0, "k", "l")
        near = np.where(generator.random(60) < 0.75, np.where(first == "u", "k", "l"), second)
        cases = ((x, y, kind.astype(str)), (first, second, z), (first, near, z))
        rejected += [mercer.conditional_independence_test(*case, null="gamma").rejected for case in cases]
    # of 100 tests at level 0.05 more than 13 reject with probability below 0.001
    assert rejected[0] <= 13 and rejected[1] <= 13 and rejected[2] >= 90, rejected


def test_draws_by_either_name():
    by_draws = mercer.conditional_independence_test(X, Y, Z, n_draws=200, random_state=3)
    by_permutations = mercer.conditional_independence_test(X, Y, Z, n_permutations=200, random_state=3)
    assert by_draws.p_value == by_permutations.p_value and by_draws.draws == by_permutations.draws == 200
    assert mercer.conditional_independence_test(X, Y, Z).draws == 1000
    with pytest.raises(ValueError, match="two names of one number"):
        mercer.conditional_independence_test(X, Y, Z, n_draws=200, n_permutations=200)
    with pytest.raises(TypeError, match="n_permutations must be a whole number"):
        mercer.conditional_independence_test(X, Y, Z, n_permutations=2.5)


WRONG = {
    "two_sample_test": (lambda **w: mercer.two_sample_test(X, Y, **w), "n_permutations"),
    "independence_test": (lambda **w: mercer.independence_test(X, Y, **w), "n_permutations"),
    "k_sample_test": (lambda **w: mercer.k_sample_test([X, Y], **w), "n_permutations"),
    "mmd_aggregated_test": (lambda **w: mercer.mmd_aggregated_test(X, Y, **w), "bandwidths"),
    "goodness_of_fit_test": (lambda **w: mercer.goodness_of_fit_test(X, **w), "n_draws"),
    "conditional_independence_test": (lambda **w: mercer.conditional_independence_test(X, Y, Z, **w), "features_xy"),
    "witness columns": (lambda **w: mercer.witness(X, Y).columns(**w), "n_permutations"),
    "squash": (lambda **w: mercer.squash(X, **({"m": 5} | w)), "m"),
    "herd": (lambda **w: mercer.herd(X, **({"m": 5} | w)), "candidates"),
}


@pytest.mark.parametrize(("call", "count"), WRONG.values(), ids=WRONG.keys())
def test_counts_are_checked_alike(call, count):
    for value in (2.5, "many", True):
        with pytest.raises(TypeError, match=f"{count} must be a whole number, got {value!r}"):
            call(**{count: value})
    with pytest.raises(ValueError, match=f"{count} must be >= 1, got 0"):
        call(**{count: 0})


@pytest.mark.parametrize("name", [name for name in WRONG if name not in ("squash", "herd")])
def test_levels_are_checked_alike(name):
    with pytest.raises(TypeError, match="level must be a number, got 'low'"):
        WRONG[name][0](level="low")
    with pytest.raises(ValueError, match="level must be"):
        WRONG[name][0](level=1.5)


def test_words_and_groups_are_checked_alike():
    for call in (mercer.two_sample_test, mercer.independence_test, mercer.mmd_fuse_test):
        with pytest.raises(TypeError, match="exchange must be a word"):
            call(X, Y, exchange=3)
    for call, rows in ((mercer.two_sample_test, 80), (mercer.independence_test, 40), (mercer.mmd_fuse_test, 80)):
        with pytest.raises(ValueError, match=f"groups must have one entry for each of the {rows} rows"):
            call(X, Y, exchange="within-groups", groups=[1, 2])
    halves = np.arange(40) % 2
    pair, whole = ((halves, halves), np.concatenate([halves, halves]))
    one, two = (mercer.mmd_fuse_test(X, Y, exchange="within-groups", groups=g, **Q).p_value for g in (pair, whole))
    assert one == two
    with pytest.raises(TypeError, match="measure must be a word"):
        mercer.herd(X, 5, measure=3)
    with pytest.raises(TypeError, match="failure must be a number"):
        mercer.thin(X, 5, failure="often")


def test_level_check_is_kept():
    check = mercer.level_check(X, Y, repetitions=10, **Q)
    back = pickle.loads(pickle.dumps(check))
    assert back.rate == check.rate and np.array_equal(back.p_values, check.p_values) and "repetitions=10" in repr(check)


def test_a_missing_second_sample_is_an_error():
    calls = (mercer.mmd, mercer.two_sample_test, mercer.level_check, mercer.two_sample_power, mercer.mmd_aggregated_test, mercer.mmd_fuse_test, mercer.witness)
    for call in calls:
        with pytest.raises(ValueError, match="Y must be the second sample, got None"):
            call(X.reshape(-1, 1), None)
    with pytest.raises(ValueError, match="Y must be the second sample, got None"):
        mercer.mmd(np.eye(4), None, kernel="precomputed")


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_missing_labels_and_categories_are_errors(missing):
    words = ["a", "b", "c", missing, *"abcabc"]
    for labels in (words, np.array(words, dtype=object), pd.Series(words, dtype=object)):
        with pytest.raises(ValueError, match="labels has a missing label in row 3: drop the row"):
            mercer.k_sample_test(X[:10], labels)
        with pytest.raises(ValueError, match="X has a missing category in row 3: drop the row"):
            mercer.independence_test(labels, X[:10])
    with pytest.raises(ValueError, match="labels has a missing label in row 1"):
        mercer.k_sample_test(X[:4], [1.0, np.nan, 2.0, 1.0])
    assert mercer.k_sample_test(X[:10], words[:3] + ["none"] + words[4:], n_permutations=19).labels == ["a", "b", "c", "none"]


def test_columns_that_differ_are_named():
    frame = pd.DataFrame(rng.normal(size=(20, 3)), columns=["age", "dose", "weight"])
    with pytest.raises(ValueError, match=r"same columns in the same order, got .*: use Y\[X.columns\]"):
        mercer.mmd(frame, frame[["dose", "age", "weight"]])
    with pytest.raises(ValueError, match="same order; missing from Y: 'dose'; only in Y: 'height'$"):
        mercer.witness(frame, frame.rename(columns={"dose": "height"}))
    with pytest.raises(ValueError, match="missing from Y: 'age', 'weight'$"):
        mercer.two_sample_test(frame, frame[["dose"]])
    with pytest.raises(ValueError, match=r"looks at numbers, but X holds records of numbers and strings \(column 'town'\)"):
        mercer.mmd(frame.assign(town="Ulm"), frame.assign(town="Bonn"))


def test_categories_among_many_kernels():
    generator = np.random.default_rng(0)
    kind = generator.choice(["a", "b", "c"], 60)
    x = generator.normal(size=60) + (kind == "a")
    result = mercer.hsic_aggregated_test(kind, x, **Q)
    assert {row["kernel"] for row in result.table} == {"delta"} and len(result.table) == 5 and "X holds 3 categories" in str(result)
    assert all(text.startswith("delta, gaussian(") for text in result.rejecting) and result.kernels[0].startswith("delta x gaussian(") and result.rejecting
    gram = (kind[:, None] == kind).astype(float)
    same = mercer.hsic_aggregated_test(gram, x, "precomputed", **Q)
    np.testing.assert_allclose([row["statistic"] for row in result.table], [row["statistic"] for row in same.table], rtol=1e-9)
    assert result.p_value == same.p_value
    turned = mercer.hsic_aggregated_test(x, pd.Series(kind, dtype="category"), ["gaussian(1)", "linear"], **Q)
    assert turned.kernels == ["gaussian(1) x delta", "linear x delta"] and turned.table[1]["kernel_y"] == "delta"
    both = mercer.hsic_aggregated_test(kind, np.arange(60) % 2, kernels_y="delta", **Q)
    assert both.kernels == ["delta x delta"] and "gaussian" not in str(both)
