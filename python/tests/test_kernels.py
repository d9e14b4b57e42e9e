"""Kernels as values: algebra, columns, text, properties, what is wrong with them, and the function gram."""
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import mercer
from mercer import kernels
from mercer.kernels import (
    Chi2,
    Constant,
    Cosine,
    ExponentialDot,
    Gaussian,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    White,
)

LEAVES = [
    Linear(),
    Polynomial(2, scale=0.5, offset=0),
    Sigmoid(0.1, -0.5),
    ExponentialDot(1e-05),
    Cosine(),
    Gaussian(2.5),
    Gaussian("auto"),
    Gaussian([0.1, 1e300 ** 0.25]),
    Laplacian(0.7, norm="l1"),
    Laplacian((1, 2, 3)),
    Matern(2.5, [1, 2]),
    RationalQuadratic("auto", alpha=0.3),
    Periodic([1, 2], period=7),
    Chi2(0.1),
    HistogramIntersection(),
    Constant(-3),
    White(1e-10),
    Precomputed(),
]
COMPOSITES = [
    Gaussian(2) + 0.5 * Linear(),
    (Gaussian(2) + 1) * Polynomial(2) * 0.25,
    (Gaussian(2) + Linear()) ** 3,
    Polynomial(2).normalized().normalized("product"),
    Gaussian([1, 2]).on(0, 3) * Linear().on("age", 'a "quoted" \\ name') + Cosine().on(range(2, 9)),
    (0.1 * Linear()).exp().geometric().series([1, 0, 0.5]),
    Gaussian(2).over([[0.5, 1e-9], [2, -3]]),
]
CATALOGUE = [row for row in kernels.catalogue() if row["name"] != "words"]  # which has no table of words by itself
DEFAULTS = [getattr(kernels, row["name"].title().replace("_", "")) for row in CATALOGUE]


@pytest.mark.parametrize("k", LEAVES + COMPOSITES, ids=str)
def test_text_equality_hash_pickle_copy(k):
    again = mercer.kernel(str(k))
    assert again == k and hash(again) == hash(k) and type(again) is type(k) and repr(again) == repr(k)
    restored = pickle.loads(pickle.dumps(k))
    assert restored == k and repr(restored) == repr(k)
    assert copy.copy(k) is k and copy.deepcopy(k) is k
    assert k != Gaussian(123.0) and k != "linear"
    assert eval(repr(k), {"mercer": mercer, **vars(kernels)}) == k
    assert Kernel(str(k)) == k and Kernel(k) == k


@pytest.mark.parametrize("make", DEFAULTS)
def test_every_kernel_of_the_catalogue_has_a_class_with_working_defaults(make):
    k = make()
    row = next(row for row in CATALOGUE if str(mercer.kernel(row["name"])) == str(k))
    verdicts = (k.is_psd, k.is_strictly_pd, k.is_universal, k.is_characteristic, k.is_bounded, k.is_shift_invariant)
    assert verdicts == tuple(row[p] for p in ("psd", "strictly_pd", "universal", "characteristic", "bounded", "shift_invariant"))
    assert row["formula"] and isinstance(row["note"], str) and isinstance(row["source"], str)
    for parameter in row["parameters"]:
        assert parameter["name"] in dir(k) and parameter["range"]
        value = k._arguments[parameter["name"]]  # k.normalized is what all kernels have
        assert {"None": "0", "True": "true"}.get(str(value), str(value)).removesuffix(".0") == parameter["default"]
    kinds = [[[1.0]]] if not k.looks_at_objects else [["ab"], [np.ones((2, 1))], [{"n": 1, "edges": []}]]
    assert sum(takes(k, X) for X in kinds) >= 1


def takes(k, X):
    try:
        return k(X).shape == (1, 1)
    except ValueError as error:
        assert "looks at" in str(error)
        return False


def test_operations_are_described():
    texts = [row["text"] for row in kernels.operations()]
    assert "k.normalized()" in texts and all(row["formula"] and "note" in row for row in kernels.operations())


def test_arguments_are_attributes():
    k = mercer.kernel("laplacian(2.5, norm=l1)")
    assert isinstance(k, Laplacian) and k.length_scale == 2.5 and k.norm == "l1"
    p = mercer.kernel("polynomial(4, 0.5)")
    assert (p.degree, p.scale, p.offset) == (4, 0.5, 1.0) and isinstance(p.degree, int)
    assert mercer.kernel("gaussian(auto)").length_scale == "auto"
    assert mercer.kernel("periodic([1, 2], period=[3, 4])").period == (3.0, 4.0)
    assert Gaussian(np.array([1, 2])) == Gaussian([1.0, 2.0]) == Gaussian(pd.Series([1, 2])) and Gaussian(np.array(2.0)) == Gaussian(2)
    assert Gaussian([1]) != Gaussian(1) and Gaussian([1])([[0.0], [1.0]])[0, 1] == Gaussian(1)([[0.0], [1.0]])[0, 1]
    with pytest.raises(AttributeError, match="Gaussian has no width"):
        Gaussian().width  # noqa: B018
    with pytest.raises(AttributeError, match="kernels do not change"):
        Gaussian(1).length_scale = 2


def test_algebra():
    g, lin = Gaussian(2), Linear()
    assert str(g + 0.5 * lin) == "gaussian(2) + 0.5*linear"
    assert g * 2 == 2 * g == np.float64(2) * g == g * np.int64(2)
    assert str(g + 1) == "gaussian(2) + constant(1)" and str(1 + g) == "constant(1) + gaussian(2)"
    assert (g + lin) + g == g + (lin + g)
    assert g**1 is not None and str((g + lin) ** np.int64(2)) == "(gaussian(2) + linear)^2" and g**2.0 == g**2
    assert str(sum([g, lin, g])) == "gaussian(2) + linear + gaussian(2)"
    for wrong in (lambda: g + "x", lambda: g * None, lambda: [1] + g, lambda: g * np.ones(3), lambda: g ** "2", lambda: 2**g, lambda: g**g):
        with pytest.raises(TypeError):
            wrong()


def test_columns(rng):
    X = rng.normal(size=(6, 5))
    k = Gaussian(1)
    assert k.on(0, 3) == k.on([0, 3]) == k.on(np.array([0, 3])) == k.on((0,), [3]) == mercer.kernel("gaussian(1).on(0, 3)")
    assert k.on(slice(3)) == k.on(range(3)) == k.on(0, 1, 2) == k.on(slice(0, 3)) and str(k.on(slice(3))) == "gaussian(1).on(0:3)"
    assert k.on(slice(0, 5, 2)) == k.on(0, 2, 4)
    np.testing.assert_array_equal(k.on(3, 1)(X), k(X[:, [3, 1]]))
    np.testing.assert_array_equal((k.on(0) + Linear().on(1, 2))(X), k(X[:, :1]) + Linear()(X[:, 1:3]))
    np.testing.assert_array_equal(k.on(0, 2).on(1, 2, 4)(X), k(X[:, [1, 4]]))  # columns among those columns
    np.testing.assert_array_equal(Gaussian([1, 2]).on(1, 3)(X), Gaussian([1, 2])(X[:, [1, 3]]))


def test_named_columns(rng):
    X = rng.normal(size=(6, 3))
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    k = Gaussian(1).on("dose", "age")
    assert str(k) == 'gaussian(1).on("dose", "age")' and k == Gaussian(1).on(["dose", "age"]) == Gaussian(1).on(frame.columns[[1, 0]])
    for got in (k(frame), k(frame, frame.copy()), k(frame, X), k(X, frame), mercer.gram(frame, kernel=k)):
        np.testing.assert_array_equal(got, Gaussian(1).on(1, 0)(X))
    np.testing.assert_array_equal(k.diag(frame), np.ones(6))
    assert k.resolve(frame) == Gaussian(1).on(1, 0)
    assert Gaussian("auto").on("dose").resolve(frame).parameters == Gaussian("auto").on(1).resolve(X).parameters
    assert k.gradient(frame, np.ones((6, 6))) == Gaussian(1).on(1, 0).gradient(X, np.ones((6, 6)))
    with pytest.raises(ValueError, match=r'gaussian\(1\).on\("dose", "age"\) names columns, but X has no column names: give a DataFrame, or use'):
        k(X)
    with pytest.raises(ValueError, match=r'column "height", which is not among the features, did you mean weight\?; they are age, dose, weight'):
        Gaussian(1).on("height")(frame)
    with pytest.raises(ValueError, match="X and Y must have the same columns in the same order"):
        k(frame, frame[["dose", "age", "weight"]])


def test_properties():
    assert Gaussian().is_psd and Gaussian().is_universal is True and Gaussian().is_characteristic is True
    assert Linear().is_universal is False and Polynomial().is_characteristic is False
    assert Polynomial(2, offset=-1).is_psd is False and Polynomial(2, scale=-1).is_psd is False
    assert (Gaussian() * Linear()).is_universal is None
    assert (-1 * Gaussian()).is_psd is False and Precomputed().is_psd is None and Sigmoid().is_psd is False
    assert (Gaussian().on(0) + Gaussian().on(1)).is_characteristic is False and (Gaussian().on(0) * Gaussian().on(1)).is_characteristic is True
    assert Sigmoid().over([[1.0]]).is_psd is True and Precomputed().needs_given_gram and not Gaussian().needs_given_gram


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Gaussian(0), ValueError, "length_scale must be a number > 0, got 0"),
        (lambda: Gaussian(-1), ValueError, "length_scale must be a number > 0, got -1"),
        (lambda: Gaussian(np.nan), ValueError, "length_scale"),
        (lambda: Gaussian("median"), ValueError, "length_scale must be a number > 0, \"auto\" or a list of one per column, got 'median'"),
        (lambda: Gaussian([]), ValueError, "length_scale must have at least one number"),
        (lambda: Gaussian([1, -2]), ValueError, "length_scale must be a number > 0, got -2"),
        (lambda: Gaussian([1, "auto"]), TypeError, "each length_scale must be a number, got 'auto'"),
        (lambda: Gaussian([[1, 2]]), TypeError, "each length_scale must be a number"),
        (lambda: Gaussian(None), TypeError, "length_scale must be a number, got None"),
        (lambda: Gaussian(True), TypeError, "length_scale must be a number, got True"),
        (lambda: Laplacian(norm="l3"), ValueError, "norm must be"),
        (lambda: Matern(nu=1), ValueError, "nu must be 0.5, 1.5 or 2.5"),
        (lambda: Matern(nu="1.5"), TypeError, "nu must be a number"),
        (lambda: RationalQuadratic(alpha=0), ValueError, "alpha must be a number > 0"),
        (lambda: Periodic("auto"), ValueError, "length_scale must be a number > 0 or a list of one per column, got 'auto'"),
        (lambda: Periodic(period="auto"), ValueError, "period must be a number > 0 or a list"),
        (lambda: Periodic(period=-1), ValueError, "period must be a number > 0, got -1"),
        (lambda: ExponentialDot(-1), ValueError, "scale must be a number > 0"),
        (lambda: Chi2(-1), ValueError, "gamma must be a number > 0, got -1"),
        (lambda: White(np.inf), ValueError, "variance must be a finite number"),
        (lambda: Polynomial(0), ValueError, "degree must be a whole number from 1 to 1000, got 0"),
        (lambda: Polynomial(2.5), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(10**30), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(np.nan), ValueError, "degree must be a whole number"),
        (lambda: Polynomial("3"), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(2, scale=np.inf), ValueError, "scale must be a finite number"),
        (lambda: Constant("1"), TypeError, "value must be a number"),
        (lambda: mercer.kernel("gausian(2)"), ValueError, "did you mean gaussian"),
        (lambda: mercer.kernel("gaussian(2) +"), ValueError, "a kernel is missing here"),
        (lambda: mercer.kernel(3), TypeError, "a kernel is written as text"),
        (lambda: np.inf * Gaussian(), ValueError, "factor must be a finite number"),
        (lambda: Gaussian() ** 0, ValueError, "a power must be a whole number from 1 to 1000, got 0"),
        (lambda: Gaussian() ** 0.5, ValueError, "a power must be a whole number from 1 to 1000, got 0.5"),
        (lambda: Gaussian().normalized("half"), ValueError, 'form must be "root" or "product", got \'half\''),
        (lambda: Gaussian().on(), ValueError, "at least one column"),
        (lambda: Gaussian().on(-1), ValueError, "columns are counted from 0 to 1e9, got -1"),
        (lambda: Gaussian().on(10**30), ValueError, "columns are counted from 0 to 1e9, got 1000"),
        (lambda: Gaussian(10**400), ValueError, "length_scale must be a number that float64 can hold"),
        (lambda: Gaussian().on(0, 0), ValueError, "names column 0 twice"),
        (lambda: Gaussian().on(slice(2, None)), ValueError, "a slice of columns needs an end"),
        (lambda: Gaussian().on(1.5), TypeError, "a column is a position, a name, a slice or a range, got 1.5"),
        (lambda: Gaussian().on([True, False]), TypeError, "a column is a position, .* got True"),
        (lambda: Gaussian().series([]), ValueError, "at least one coefficient"),
        (lambda: Gaussian().series(["1"]), TypeError, "a coefficient must be a number"),
        (lambda: Gaussian().over([1.0, 2.0]), ValueError, "Z must have two dimensions"),
        (lambda: Gaussian().over([[np.nan]]), ValueError, "NaN in row 0, column 0"),
    ],
)
def test_wrong_kernels(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("k", "X", "Y", "message"),
    [
        (Gaussian(), np.zeros(3), None, r"X must have two dimensions .* got 1; use X.reshape\(-1, 1\)"),
        (Gaussian(), np.zeros((0, 3)), None, r"X must have at least one row and one column, got shape \(0, 3\)"),
        (Gaussian(), np.zeros((2, 0)), None, "at least one row and one column"),
        (Gaussian(), np.zeros((2, 3)), np.zeros((2, 4)), "X has 3 columns but Y has 4"),
        (Gaussian(), [[0.0, np.nan]], None, "NaN in row 0, column 1"),
        (Gaussian(), [[0.0, 1.0]], [[np.inf, 0.0]], "Y has an? inf.* in row 0, column 0"),
        (Gaussian(), np.array([["a", "b"]]), None, "real numbers"),
        (Gaussian(), [["a", "b"]], None, "looks at numbers, but these samples are sets"),
        (Gaussian(), np.zeros((2, 2), dtype=complex), None, "real numbers, got dtype complex128"),
        (Gaussian(), np.array([[1, "a"]], dtype=object), None, "X must hold numbers"),
        (Gaussian(), sp.csr_array([[np.nan, 0.0]]), None, "NaN in row 0, column 0"),
        (Gaussian([1, 2]), np.zeros((2, 3)), None, "2 length scales, but looks at 3 columns: give one per column"),
        (Periodic(1, [1, 2]), np.zeros((2, 3)), None, "2 periods, but looks at 3 columns"),
        (Gaussian([1, 2]).on(0), np.zeros((2, 3)), None, "2 length scales, but looks at 1 column"),
        (Gaussian().on(3), np.zeros((2, 3)), None, r"column 3, but the samples have 3 columns \(0 to 2\)"),
        (Chi2(), [[1.0, -2.0]], None, "negative|< 0|>= 0"),
        (HistogramIntersection(), sp.csr_array([[1.0, -2.0]]), None, "negative|< 0|>= 0"),
        (Linear().normalized(), [[1.0], [0.0]], None, r"k\(x,x\) > 0, but it is 0 for row 1"),
        (Linear().geometric(), [[2.0]], None, "the kernel inside it reaches 4"),
        (ExponentialDot(), [[1e3]], None, "overflows float64"),
        (Gaussian().over([[1.0, 2.0]]), [[2.0]], None, r"points of over\(\) have 2 columns, but the samples have 1"),
    ],
)
def test_wrong_data(k, X, Y, message):
    with pytest.raises(ValueError, match=message):
        k(X, Y)


@given(st.recursive(st.sampled_from(LEAVES[:-1]), lambda k: st.one_of(
    st.builds(lambda a, b: a + b, k, k),
    st.builds(lambda a, b: a * b, k, k),
    st.builds(lambda a, x: x * a, k, st.floats(-10, 10)),
    st.builds(lambda a, p: a**p, k, st.integers(1, 5)),
    st.builds(lambda a, c: a.on(*c), k, st.lists(st.one_of(st.integers(5, 20), st.text(min_size=1, max_size=3)), min_size=5, max_size=7, unique=True)),
    st.builds(lambda a: a.normalized().exp(), k),
), max_leaves=6).filter(lambda k: "on(" not in str(k).partition(".on(")[2]))  # columns within columns must exist there
def test_text_reads_back_whatever_is_built(k):
    again = mercer.kernel(str(k))
    assert again == k and str(again) == str(k) and pickle.loads(pickle.dumps(k)) == k
    assert (again.is_psd, again.is_universal, again.is_bounded) == (k.is_psd, k.is_universal, k.is_bounded)


def test_gram_function(rng):
    X = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(mercer.gram(X, kernel="gaussian(2) + linear"), (Gaussian(2) + Linear())(X))
    np.testing.assert_array_equal(mercer.gram(X, X[:5], Gaussian(2)), Gaussian(2)(X, X[:5]))
    assert mercer.gram(X, kernel="linear", dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(mercer.gram(X, kernel="laplacian", n_jobs=1), mercer.gram(X, kernel="laplacian", n_jobs=2))
    K = mercer.gram(X, kernel="linear")
    K[0, 0] = 5.0  # the result belongs to the caller
    assert K.flags.c_contiguous and K.flags.writeable and K.flags.aligned
    with pytest.raises(MemoryError, match="3.2 kB, but the memory budget is 1 kB"):
        mercer.gram(X, kernel="linear", memory="1KB")
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        mercer.gram(X, kernel="linear", dtype=int)
    for wrong in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="n_jobs must be a whole number"):
            mercer.gram(X, kernel="linear", n_jobs=wrong)
    with pytest.raises(ValueError, match="is not an amount of memory"):
        mercer.gram(X, kernel="linear", memory="lots")
