"""Monomials of the columns as features, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from itertools import groupby
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator

__all__ = ["Monomials"]

_WEIGHTINGS = ("plain", "ordered", "sqrt")


class Monomials(TransformerMixin, BaseEstimator):
    """All products of columns up to a degree, weighted so that their own products are a kernel, or as they are.

    Parameters
    ----------
    degree : int or (min, max), default 2
        Total degree. A single number is 0 (1 without include_bias) to that number, but for weighting="sqrt" that degree alone.
    weighting : "plain", "ordered" or "sqrt"
        "plain": every monomial once, as :class:`sklearn.preprocessing.PolynomialFeatures`. "ordered": every ordered product, so x0 x1 and
        x1 x0 both; products of features are the sum of <x, y>^r over the degrees r. "sqrt": every monomial once, times the root of its
        multinomial coefficient: the same products in fewer columns, <x, y>^degree for one degree.
    include_bias : bool, default True
        Whether a single number for degree includes the constant column.
    random_state : not used; every estimator takes it.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    n_output_features_ : number of columns made. A number too large for the memory budget is an error of fit.
    powers_ : (n_output_features_, n_features_in_), exponents.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Monomials
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> Z = Monomials(3, weighting="sqrt").fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, (X @ X.T) ** 3))
    True
    >>> Monomials(2).fit(X).get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        weighting: str = "plain",
        include_bias: bool = True,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.degree = degree
        self.weighting = weighting
        self.include_bias = include_bias
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _degrees(self) -> tuple[int, int]:
        if self.weighting not in _WEIGHTINGS:
            raise ValueError(f"weighting must be one of {', '.join(_WEIGHTINGS)}, got {self.weighting!r}")
        pair = self.degree if isinstance(self.degree, tuple | list) else None
        if pair is None:
            low = self.degree if self.weighting == "sqrt" else 0 if self.include_bias else 1
            pair = (low, self.degree)
        if len(pair) != 2 or any(isinstance(d, bool) or not isinstance(d, Integral) for d in pair) or not 0 <= pair[0] <= pair[1] or pair[1] < 1:
            raise ValueError(f"degree must be a whole number >= 1, or (min, max) with 0 <= min <= max and max >= 1, got {self.degree!r}")
        return int(pair[0]), int(pair[1])

    def fit(self, X: Any, y: Any = None) -> Monomials:
        """Look at the number of columns, and whether their monomials are too many."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS)
        self._range = self._degrees()
        columns = _mercer.monomial_columns(X.shape[1], *self._range, self.weighting)
        budget = _mercer.memory_budget(_run.memory_bytes(self.memory))
        if 8.0 * columns * X.shape[0] > budget:
            low, high = self._range
            raise ValueError(
                f"{columns:.6g} {'ordered products' if self.weighting == 'ordered' else 'monomials'} of degree {low} to {high} of {X.shape[1]} columns "
                f"need {8e-9 * columns * X.shape[0]:.3g} GB, but the memory budget is {1e-9 * budget:.3g} GB: use a lower degree, a polynomial kernel, "
                "which never makes them, or TensorSketch"
            )
        self.n_output_features_ = int(columns)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The monomials of rows X: (n, n_output_features_), float64."""
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        with _run.progress(self.verbose) as bar:
            return _mercer.monomial_features(
                _data.samples(X), *self._range, self.weighting, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )

    def _factors(self) -> list[list[int]]:
        return _mercer.monomial_factors(self.n_features_in_, *self._range, self.weighting)

    @property
    def powers_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.array([np.bincount(factors, minlength=self.n_features_in_) for factors in self._factors()], dtype=np.int64)

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """scikit-learn's names: "1", "x0", "x0^2", "x0 x1"; the factors of ordered products in their order."""
        check_is_fitted(self, "n_output_features_")
        names = _check_feature_names_in(self, input_features)
        ordered = self.weighting == "ordered"

        def word(factors: list[int]) -> str:
            if ordered:
                return " ".join(names[j] for j in factors)
            runs = ((names[j], len(list(run))) for j, run in groupby(factors))
            return " ".join(name if times == 1 else f"{name}^{times}" for name, times in runs)

        return np.asarray([word(factors) or "1" for factors in self._factors()], dtype=object)
