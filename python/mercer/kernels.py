"""Kernels as values: build them by name, combine them with +, * and **, call them on data, print them and parse them back.

>>> from mercer.kernels import Gaussian, Linear
>>> k = Gaussian(2) + 0.5 * Linear()
>>> str(k)
'gaussian(2) + 0.5*linear'
>>> k([[0.0], [1.0]]).shape
(2, 2)

Arguments of a kernel are its attributes. A length scale is a number, a list of one per column, or "auto" for the median distance of the data.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from . import _callbacks, _mercer
from ._arguments import number, scale, whole
from ._kernel import Kernel, Leaf, kernel
from ._object_kernels import (
    BagOf,
    BagOfWords,
    Convolution,
    EditDistance,
    Gappy,
    Graphlet,
    Mismatch,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    Words,
)

__all__ = [
    "BagOf",
    "BagOfWords",
    "Chi2",
    "Constant",
    "Convolution",
    "Cosine",
    "EditDistance",
    "ExponentialDot",
    "FeatureMap",
    "Function",
    "Gappy",
    "Gaussian",
    "Graphlet",
    "HistogramIntersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Mismatch",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "RandomWalk",
    "RationalQuadratic",
    "ShortestPath",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "WeightedDegree",
    "WeisfeilerLehman",
    "White",
    "Words",
    "catalogue",
    "feature_map",
    "kernel",
    "kernel_function",
    "operations",
]

Scale = float | Sequence[float]
AutoScale = float | Sequence[float] | Literal["auto"]


# -- of the dot product


class Linear(Leaf):
    """<x, y>

    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    __slots__ = ()

    def __init__(self) -> None:
        self._set()


class Polynomial(Leaf):
    """(offset + scale <x, y>)^degree; positive semi-definite for scale > 0 and offset >= 0.

    >>> from mercer.kernels import Polynomial
    >>> Polynomial(2, offset=0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    __slots__ = ()
    degree: int
    scale: float
    offset: float

    def __init__(self, degree: int = 3, scale: float = 1.0, offset: float = 1.0) -> None:
        self._set(degree=whole(degree, "degree"), scale=number(scale, "scale"), offset=number(offset, "offset"))


class Sigmoid(Leaf):
    """tanh(scale <x, y> + offset). Not positive semi-definite: some Gram matrices have negative eigenvalues.

    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid().is_psd
    False
    """

    __slots__ = ()
    scale: float
    offset: float

    def __init__(self, scale: float = 1.0, offset: float = 0.0) -> None:
        self._set(scale=number(scale, "scale"), offset=number(offset, "offset"))


class ExponentialDot(Leaf):
    """exp(scale <x, y>). Scale the data: values grow fast.

    >>> from mercer.kernels import ExponentialDot
    >>> ExponentialDot(0.5)([[0.0, 2.0]], [[1.0, 0.0]])
    array([[1.]])
    """

    __slots__ = ()
    scale: float

    def __init__(self, scale: float = 1.0) -> None:
        self._set(scale=number(scale, "scale"))


class Cosine(Leaf):
    """<x, y> / (|x| |y|), 0 where a row is zero.

    >>> from mercer.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[6.0, 8.0], [5.0, 0.0], [0.0, 0.0]]).round(12)
    array([[1. , 0.6, 0. ]])
    """

    __slots__ = ()

    def __init__(self) -> None:
        self._set()


# -- of a distance


class Gaussian(Leaf):
    """exp(-|x - y|^2 / (2 length_scale^2)); with a list, sum_j ((x_j - y_j) / length_scale_j)^2 in place of the first fraction.

    >>> from mercer.kernels import Gaussian
    >>> Gaussian([1.0, 1e9])([[0.0, 5.0]], [[0.0, 7.0]]).round(12)
    array([[1.]])
    >>> Gaussian("auto").resolve([[0.0], [1.0], [3.0]])
    Gaussian(length_scale=2.0)
    """

    __slots__ = ()
    length_scale: AutoScale

    def __init__(self, length_scale: AutoScale = 1.0) -> None:
        self._set(length_scale=scale(length_scale, "length_scale"))


class Laplacian(Leaf):
    """exp(-|x - y| / length_scale) with the Euclidean norm ("l2") or the sum of absolute differences ("l1", scikit-learn's).

    >>> from mercer.kernels import Laplacian
    >>> Laplacian(7.0, norm="l1")([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    """

    __slots__ = ()
    length_scale: AutoScale
    norm: str

    def __init__(self, length_scale: AutoScale = 1.0, norm: Literal["l2", "l1"] = "l2") -> None:
        if norm not in ("l1", "l2"):
            raise ValueError(f'norm must be "l1" or "l2", got {norm!r}')
        self._set(length_scale=scale(length_scale, "length_scale"), norm=norm)


class Matern(Leaf):
    """nu = 0.5: exp(-a); 1.5: (1 + a) exp(-a); 2.5: (1 + a + a^2/3) exp(-a), where a = sqrt(2 nu) |x - y| / length_scale.

    >>> from mercer.kernels import Laplacian, Matern
    >>> Matern(0.5, 2.0)([[0.0]], [[1.0]]) == Laplacian(2.0)([[0.0]], [[1.0]])
    array([[ True]])
    """

    __slots__ = ()
    nu: float
    length_scale: AutoScale

    def __init__(self, nu: float = 1.5, length_scale: AutoScale = 1.0) -> None:
        self._set(nu=number(nu, "nu"), length_scale=scale(length_scale, "length_scale"))


class RationalQuadratic(Leaf):
    """(1 + |x - y|^2 / (2 alpha length_scale^2))^-alpha, a mixture of Gaussians of all length scales.

    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic()([[0.0]], [[2.0]]).round(4)
    array([[0.3333]])
    """

    __slots__ = ()
    length_scale: AutoScale
    alpha: float

    def __init__(self, length_scale: AutoScale = 1.0, alpha: float = 1.0) -> None:
        self._set(length_scale=scale(length_scale, "length_scale"), alpha=number(alpha, "alpha"))


class Periodic(Leaf):
    """exp(-2 sum_j sin^2(pi (x_j - y_j) / period_j) / length_scale_j^2).

    >>> from mercer.kernels import Periodic
    >>> Periodic(period=7.0)([[1.0]], [[1.0], [15.0]]).round(12)
    array([[1., 1.]])
    """

    __slots__ = ()
    length_scale: Scale
    period: Scale

    def __init__(self, length_scale: Scale = 1.0, period: Scale = 1.0) -> None:
        self._set(length_scale=scale(length_scale, "length_scale", auto=False), period=scale(period, "period", auto=False))


# -- of histograms


class Chi2(Leaf):
    """exp(-gamma sum_j (x_j - y_j)^2 / (x_j + y_j)), for rows that are nowhere negative.

    >>> from mercer.kernels import Chi2
    >>> Chi2()([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    __slots__ = ()
    gamma: float

    def __init__(self, gamma: float = 1.0) -> None:
        self._set(gamma=number(gamma, "gamma"))


class HistogramIntersection(Leaf):
    """sum_j min(x_j, y_j), for rows that are nowhere negative.

    >>> from mercer.kernels import HistogramIntersection
    >>> HistogramIntersection()([[2.0, 3.0]], [[1.0, 5.0]])
    array([[4.]])
    """

    __slots__ = ()

    def __init__(self) -> None:
        self._set()


# -- that look at no column


class Constant(Leaf):
    """The same value for every pair.

    >>> from mercer.kernels import Constant
    >>> Constant(3)([[0.0], [1.0]])
    array([[3., 3.],
           [3., 3.]])
    """

    __slots__ = ()
    value: float

    def __init__(self, value: float = 1.0) -> None:
        self._set(value=number(value, "value"))


class White(Leaf):
    """Noise: variance where a sample meets itself, else 0. Between two sets of rows it is 0 even where rows are equal.

    >>> from mercer.kernels import White
    >>> White(0.5)([[0.0], [0.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    __slots__ = ()
    variance: float

    def __init__(self, variance: float = 1.0) -> None:
        self._set(variance=number(variance, "variance"))


class Precomputed(Leaf):
    """Kernel values that you give: called on a Gram matrix K of n objects, it is K.

    In place of rows it takes kernel values: ``k(K)`` for the n x n matrix of k(x_i, x_j), ``k(K_new, K)`` for m x n rows of k(new, x_j)
    against the same objects. It combines with kernels that need no columns, and estimators take ``kernel="precomputed"``.

    >>> from mercer.kernels import Precomputed, White
    >>> K = [[2.0, 1.0], [1.0, 3.0]]
    >>> (Precomputed() + White(0.5))(K)
    array([[2.5, 1. ],
           [1. , 3.5]])
    >>> (2 * Precomputed())([[4.0, 5.0]], K)
    array([[ 8., 10.]])
    """

    __slots__ = ()

    def __init__(self) -> None:
        self._set()


# -- written by you


class _UserLeaf(Leaf):
    """A kernel made from a function. Its text has the function's name; pickles and ``library=`` bring the function itself."""

    __slots__ = ()
    name: str

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        callbacks = list(native.callbacks.values())
        return cls(**_fields(callbacks[0])) if len(callbacks) == 1 else None

    def _set_callback(self, callback: _callbacks.BlockFunction | _callbacks.RowMap) -> None:
        if not callable(callback.f):
            raise TypeError(f"{type(self).__name__} takes a function, got {callback.f!r}")
        if not isinstance(callback.name, str):
            raise TypeError(f"name must be text, got {callback.name!r}")
        self._set(callback.native(), **_fields(callback))


def _fields(callback: _callbacks.BlockFunction | _callbacks.RowMap) -> dict[str, Any]:
    return dict(vars(callback))


class Function(_UserLeaf):
    """A kernel from a function; see :func:`kernel_function`.

    >>> from mercer.kernels import Function
    >>> Function(lambda A, B: (A @ B.T) ** 2, name="squared")([[1.0, 2.0]])
    array([[25.]])
    """

    __slots__ = ()
    f: Callable[[Any, Any], Any]
    psd: bool | None
    pairwise: bool

    def __init__(self, f: Callable[[Any, Any], Any], name: str | None = None, psd: bool | None = None, pairwise: bool = False) -> None:
        if psd is not None and not isinstance(psd, bool):
            raise TypeError(f"psd must be True, False or None, got {psd!r}")
        self._set_callback(_callbacks.BlockFunction(f, _callbacks.name_of(f) if name is None else name, psd, bool(pairwise)))


class FeatureMap(_UserLeaf):
    """The kernel of a feature map; see :func:`feature_map`.

    >>> from mercer.kernels import FeatureMap
    >>> FeatureMap(lambda A: A**2, name="squares")([[1.0, 2.0]])
    array([[17.]])
    """

    __slots__ = ()
    f: Callable[[Any], Any]

    def __init__(self, f: Callable[[Any], Any], name: str | None = None) -> None:
        self._set_callback(_callbacks.RowMap(f, _callbacks.name_of(f) if name is None else name))


def kernel_function(f: Callable[[Any, Any], Any], *, name: str | None = None, psd: bool | None = None, pairwise: bool = False) -> Function:
    """A kernel of your own, which works wherever Mercer's do.

    Parameters
    ----------
    f : ``f(A, B)`` gets two blocks of rows (2-D arrays, or CSR where the data are sparse) and returns the matrix of k(a_i, b_j). Blocks of
        objects are lists: of str, of graphs as dictionaries, of sets as 2-D arrays or lists; a record is a tuple of its columns in order.
        It is called once per tile of at most 256 x 256 pairs, from several threads, one at a time. It must be symmetric: f(A, B) = f(B, A).T.
    name : what text and files call it; by default the function's own name. Functions of different meaning need different names.
    psd : True or False if you know whether it is positive semi-definite. ``mercer.check_kernel`` looks at data.
    pairwise : f takes two rows (two objects) and returns a number instead; a slow way, since Python is called for every pair.

    >>> import numpy as np, mercer
    >>> k = mercer.kernel_function(lambda A, B: np.minimum(A[:, None], B[None]).sum(axis=2), name="overlap", psd=True)
    >>> (k + 1)([[1.0, 2.0]], [[0.0, 5.0]])
    array([[3.]])
    >>> print(k + 1)
    function("overlap") + constant(1)
    >>> k = mercer.kernel_function(lambda a, b: float(a[0] == b[0]), name="first_letter", pairwise=True)
    >>> k(["ab", "cd"], ["ax"])
    array([[1.],
           [0.]])
    """
    return Function(f, name, psd, pairwise)


def feature_map(phi: Callable[[Any], Any], name: str | None = None) -> FeatureMap:
    """The kernel <phi(x), phi(y)> of a map from rows (or a list of objects) to rows of features, called once per sample set.

    >>> import numpy as np, mercer
    >>> k = mercer.feature_map(lambda A: np.column_stack([A, A**2]), name="with_squares")
    >>> k([[1.0], [2.0]])
    array([[ 2.,  6.],
           [ 6., 20.]])
    """
    return FeatureMap(phi, name)


# -- what there is


def catalogue() -> list[dict[str, Any]]:
    """Every kernel as a dictionary: name, formula, parameters (each with name, default and range), note, source, and the properties psd,
    strictly_pd, universal, characteristic, bounded and shift_invariant (True, False or None) that it has with its defaults.

    >>> from mercer.kernels import catalogue
    >>> [row["psd"] for row in catalogue() if row["name"] == "gaussian"]
    [True]
    """
    return _mercer.kernel_catalogue()


def operations() -> list[dict[str, str]]:
    """What can be done with kernels: text, formula and note of each operation.

    >>> from mercer.kernels import operations
    >>> all(row["text"] and row["note"] for row in operations())
    True
    """
    return _mercer.kernel_operations()
