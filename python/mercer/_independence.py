"""Are variables independent? HSIC, its tests, and the correlations people know.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> x = rng.uniform(-1, 1, 200)
>>> y = np.cos(2 * np.pi * x) + 0.3 * rng.normal(size=200)
>>> result = mercer.independence_test(x, y, random_state=0)
>>> result.rejected, result.statistic_name, result.method
(True, 'hsic', 'permutation')
>>> mercer.correlation_test(x, y, "spearman").rejected
False
>>> h = mercer.hsic(x, y)
>>> bool(h == result.statistic), 0 < h.correlation < 1
(True, True)
>>> colours = np.where(y > 0, "red", "blue")
>>> mercer.independence_test(colours, x, null="gamma").kernels[0]
'delta'
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._checks import groups_of, none_missing, number, whole, whole_or_none, word
from ._kernel import Kernel, kernel as make_kernel, kernel_for
from ._shown import Shown
from ._test_result import TestResult, seed_of, wrap

__all__ = ["HSIC", "correlation_test", "hsic", "independence_test", "joint_independence_test"]


class HSIC(Shown, float):
    """The value of HSIC, a number with what belongs to it.

    Attributes
    ----------
    correlation : HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)), centred kernel alignment; NaN where a variable does not vary.
    statistic_name : "hsic" or "hsic-u".
    kernel_x, kernel_y : their text, length scales set.
    n, seconds, sentence : rows, time taken, all of it in words.

    Examples
    --------
    >>> import mercer
    >>> x, y = mercer.datasets.noisy_circle(100, random_state=0)
    >>> value = mercer.hsic(x, y)
    >>> value > 0, value.statistic_name, 0 < value.correlation < 1
    (True, 'hsic', True)
    """

    correlation: float
    statistic_name: str
    kernel_x: str
    kernel_y: str
    n: int
    seconds: float
    sentence: str

    __repr__ = float.__repr__

    def __str__(self) -> str:
        return self.sentence


def rows_and_kernel(X: Any, name: str, kernel: Kernel | str | None) -> tuple[_mercer.Samples, _mercer.Kernel | None]:
    """The rows of one variable of numbers, and its kernel (None: the library's default) with columns by position."""
    native = None if kernel is None else make_kernel(kernel)._at_columns(_data.column_names(X))
    if kernel is None:
        kernel_for(None, X, f"kernel_{name.lower()}" if len(name) == 1 else "kernel")  # says so where X holds objects
    rows = _data.rows(_data.column(X), name, native)
    samples = _data.samples(rows)
    samples.require_finite(name)
    if native is not None and native.needs_given_gram:
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"of a precomputed kernel {name} is a square Gram matrix, got shape {rows.shape}")
        samples = _mercer.Samples.given_gram(samples)
    return samples, native


class _Variable:
    """One variable of a test: samples, its kernel (None: the library's default) and what is to be said of it."""

    def __init__(self, X: Any, name: str, kernel: Kernel | str | None, *, indicators: bool = False) -> None:
        self.name = name
        self.remark: str | None = None
        self.indicators = False
        if (isinstance(kernel, str) and kernel == "delta") or (kernel is None and _is_text(X)):
            self._from_categories(X, indicators)
            return
        self.delta = False
        self.samples, self.kernel = rows_and_kernel(X, name, kernel)

    def _from_categories(self, X: Any, indicators: bool) -> None:
        codes, count = _codes(X, self.name)
        self.delta = True
        self.indicators = indicators
        if indicators:  # a column of 0 and 1 for each category: the delta kernel is their product, and regression can predict them
            ones, places = np.ones(len(codes)), np.arange(len(codes) + 1)
            self.samples = _data.samples(sp.csr_array((ones, codes, places), shape=(len(codes), count)))
            self.kernel = make_kernel("linear")._native
        else:
            self.samples = _data.samples(codes.astype(np.float64).reshape(-1, 1))
            self.kernel = _mercer.category_kernel()
        self.remark = f"{self.name} holds {count} categories, compared by the delta kernel: 1 for the same one, 0 for two others"


def _is_text(X: Any) -> bool:
    """Text or categories, which are no numbers."""
    if sp.issparse(X) or _data.first_kind(X) in ("graphs", "sets"):
        return False
    kinds = [X.dtypes.iloc[k] for k in range(X.shape[1])] if hasattr(X, "dtypes") and hasattr(X, "columns") else [getattr(X, "dtype", None)]
    if any(type(kind).__name__ == "CategoricalDtype" for kind in kinds):
        return True
    array = np.asarray(X)
    if array.dtype.kind in "US":
        return True
    return array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.ravel())


def _codes(X: Any, name: str) -> tuple[np.ndarray, int]:
    """A number for each category of one column, and how many there are."""
    array = np.asarray(X.toarray() if sp.issparse(X) else X)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"categories of {name} must be one column, got shape {array.shape}: join the columns into one, or encode them as numbers"
        )
    if array.size == 0:
        raise ValueError(f"{name} must have at least one row")
    given = X if isinstance(X, list | tuple) and np.ndim(X) == 1 else array.tolist()
    none_missing(given, f"{name} has a missing category in row {{}}: drop the row, or give missing values a name")
    if array.dtype.kind == "O":  # of mixed types: by what they print as, type and all
        array = np.array([f"{type(value).__name__} {value}" for value in array.tolist()])
    values, codes = np.unique(array, return_inverse=True)
    return codes.reshape(-1), len(values)


def _result(native: _mercer.TestResult, variables: Sequence[_Variable]) -> TestResult:
    if not any(v.delta for v in variables):
        return wrap(native)
    kernels = ["delta" if v.delta else text for v, text in zip(variables, native.kernels, strict=True)]
    # A linear kernel of indicators sees all there is to see of categories; one that was asked for does not.
    asked = any(text == "linear" and not v.indicators for v, text in zip(variables[:2], native.kernels, strict=False))
    remarks = [remark for remark in native.remarks if asked or not remark.startswith("the kernel linear ")]
    remarks += [v.remark for v in variables if v.remark]
    return wrap(native, kernels=kernels, kernel=", ".join(kernels), remarks=remarks)


def hsic(
    X: Any,
    Y: Any,
    kernel_x: Kernel | str | None = None,
    kernel_y: Kernel | str | None = None,
    unbiased: bool = False,
    *,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> HSIC:
    """How strongly two variables depend on each other: the Hilbert-Schmidt independence criterion.

    Parameters
    ----------
    X, Y : array-like or sparse of shape (n,) or (n, features), row i of both from one observation
        Of a precomputed kernel the Gram matrix of the variable, n x n. A column of text or pandas categories is compared by the delta
        kernel.
    kernel_x, kernel_y : Kernel, text or None
        None is exp(-|x - y|^2 / m^2) with the median m of the variable's distances, which is "gaussian(s)" with s = m / sqrt 2.
        "delta" takes the values for categories, whatever they are.
    unbiased : bool
        False is the biased form, (1/n^2) tr(K H L H) >= 0; True the unbiased one of Song et al., which may be negative.
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    HSIC
        A float with ``correlation`` and more.

    Examples
    --------
    >>> import mercer
    >>> x, y = mercer.datasets.cubic(100, random_state=0)
    >>> mercer.hsic(x, y) > mercer.hsic(x, y[::-1])
    True
    """
    x, y = _Variable(X, "X", kernel_x), _Variable(Y, "Y", kernel_y)
    with _run.progress(verbose) as bar:
        native = _mercer.hsic(x.samples, y.samples, x.kernel, y.kernel, bool(unbiased), _run.threads(n_jobs), _run.memory_bytes(memory), bar)
    out = HSIC(native.value)
    for name in HSIC.__annotations__:
        setattr(out, name, getattr(native, name))
    for variable, name in ((x, "kernel_x"), (y, "kernel_y")):
        if variable.delta:
            setattr(out, name, "delta")
    out.sentence = f"{out.statistic_name} = {float(out):.6g}, correlation {out.correlation:.4g}, of {out.n} rows with {out.kernel_x} and {out.kernel_y}"
    return out


def independence_test(
    X: Any,
    Y: Any,
    kernel_x: Kernel | str | None = None,
    kernel_y: Kernel | str | None = None,
    null: Literal["permutation", "gamma", "spectral"] = "permutation",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    statistic: Literal["hsic", "hsic-u"] | None = None,
    exchange: str = "free",
    groups: Any = None,
    block_length: int | None = None,
    level: float = 0.05,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> TestResult:
    """Are two variables independent? A test by HSIC, which with characteristic kernels sees every kind of dependence.

    Parameters
    ----------
    X, Y, kernel_x, kernel_y : as for :func:`mercer.hsic`.
    null : "permutation" (exact level), "gamma" (two moments; no n x n matrix) or "spectral" (eigenvalues of both Gram matrices)
    n_permutations : int
        Permutations of the rows of Y, or draws of the spectral null. All n! where they are no more.
    random_state : int, numpy generator or None
    statistic : "hsic" or "hsic-u"
        The unbiased "hsic-u" goes with permutations. None is "hsic".
    exchange : "free", "within-groups", "whole-groups", "blocks" or "shifts"
        How rows may be permuted: all of them, within or by whole groups, or for series by blocks or shifts.
    groups : one entry for each row; for the exchanges by groups.
    block_length : of "blocks"; None is the cube root of the rows.
    level : of the verdict.
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    TestResult
        ``numbers["correlation"]`` says how strong the dependence is, from 0 to 1.

    Examples
    --------
    >>> import mercer
    >>> x, y = mercer.datasets.noisy_circle(100, random_state=0)
    >>> mercer.independence_test(x, y, random_state=0).rejected
    True
    """
    x, y = _Variable(X, "X", kernel_x), _Variable(Y, "Y", kernel_y)
    word(null, "null", ("permutation", "gamma", "spectral"))
    unbiased = word("hsic" if statistic is None else statistic, "statistic", ("hsic", "hsic-u")) == "hsic-u"
    word(exchange, "exchange")
    length = whole_or_none(block_length, "block_length")
    with _run.progress(verbose) as bar:
        native = _mercer.independence_test(
            x.samples, y.samples, x.kernel, y.kernel, unbiased, null, whole(n_permutations, "n_permutations"), exchange,
            groups_of(groups, x.samples.size), length, number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory),
            bar,
        )
    return _result(native, [x, y])


def joint_independence_test(
    *variables: Any,
    kernels: Any = None,
    null: Literal["permutation", "gamma"] = "permutation",
    n_permutations: int = 1000,
    random_state: Any = None,
    level: float = 0.05,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> TestResult:
    """Are several variables independent, all of them together? A test by dHSIC (Pfister et al. 2018).

    Pairs may be independent where the whole is not: this test sees that too.

    Parameters
    ----------
    *variables : arrays of shape (n,) or (n, features), one for each variable
        Or a single list or dict of them, or one 2-D array or DataFrame, whose columns are the variables.
    kernels : a kernel or text for all variables, a list of one for each (None among them for the default), or None
    null : "permutation" (exact level) or "gamma" (two moments)
    n_permutations, random_state, level, n_jobs, memory, verbose : as for :func:`mercer.independence_test`.

    Returns
    -------
    TestResult

    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 200))
    >>> z = np.abs(rng.normal(size=200)) * np.sign(x * y)  # of any two, nothing is seen
    >>> mercer.joint_independence_test(x, y, z, random_state=0).rejected
    True
    """
    given, names = _split(variables)
    if kernels is None or isinstance(kernels, str | Kernel):
        each: list[Any] = [kernels] * len(given)
    elif isinstance(kernels, Iterable):
        each = list(kernels)
        if len(each) != len(given):
            raise ValueError(f"there are {len(each)} kernels for {len(given)} variables; give one for each, one for all, or none")
    else:
        raise TypeError(f"kernels must be a kernel, a list of them or None, got {kernels!r}")
    word(null, "null", ("permutation", "gamma"))
    parts = [_Variable(X, name, kernel) for X, name, kernel in zip(given, names, each, strict=True)]
    with _run.progress(verbose) as bar:
        native = _mercer.joint_independence_test(
            [v.samples for v in parts], [v.kernel for v in parts], null, whole(n_permutations, "n_permutations"), number(level, "level"),
            seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )
    return _result(native, parts)


def _split(variables: tuple[Any, ...]) -> tuple[list[Any], list[str]]:
    """The variables and their names, from what the caller has."""
    if len(variables) == 1:
        whole = variables[0]
        if isinstance(whole, Mapping):
            return list(whole.values()), [str(name) for name in whole]
        if hasattr(whole, "columns") and hasattr(whole, "iloc"):
            return [whole.iloc[:, [k]] for k in range(whole.shape[1])], [str(name) for name in whole.columns]
        if isinstance(whole, np.ndarray) and whole.ndim == 2:
            return list(whole.T), [f"column {k}" for k in range(whole.shape[1])]
        if isinstance(whole, list | tuple):
            variables = tuple(whole)
    if len(variables) < 2:
        raise ValueError("joint independence is of at least two variables: give them one by one, in a list, or as the columns of an array")
    return list(variables), [f"variable {k}" for k in range(len(variables))]


def correlation_test(
    x: Any,
    y: Any,
    method: Literal["pearson", "spearman", "kendall", "chi2"] = "spearman",
    *,
    level: float = 0.05,
) -> TestResult:
    """The correlations people know, with two-sided p-values: baselines for :func:`mercer.independence_test`.

    Parameters
    ----------
    x, y : one number for each observation; of "chi2" one category, text or number
    method : "pearson", "spearman", "kendall" (tau-b) or "chi2" (of the contingency table)
        Spearman and Kendall are exact for up to 9 rows, ties or not, Kendall without ties for up to 33; ties are ranked by their mean.
    level : of the verdict.

    Returns
    -------
    TestResult
        Of "chi2" ``numbers`` has the degrees of freedom, Cramer's V and the smallest expected count.

    Examples
    --------
    >>> import mercer
    >>> x, y = mercer.datasets.noisy_circle(100, random_state=0)
    >>> mercer.correlation_test(x[:, 0], y[:, 0]).rejected      # a circle has no trend
    False
    """
    word(method, "method", ("pearson", "spearman", "kendall", "chi2"))
    if method == "chi2":
        a, b = (_codes(values, name)[0].astype(np.float64) for values, name in ((x, "x"), (y, "y")))
    else:
        a, b = (_numbers(values, name) for values, name in ((x, "x"), (y, "y")))
    return wrap(_mercer.correlation_test(a, b, method, number(level, "level")))


def _numbers(values: Any, name: str) -> np.ndarray:
    array = np.asarray(_data.rows(_data.column(values), name), dtype=np.float64)
    if array.shape[1] != 1:
        raise ValueError(f"{name} must be one column of numbers, got shape {array.shape}")
    return np.ascontiguousarray(array[:, 0])
