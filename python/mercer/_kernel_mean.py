"""The class-mean (Parzen windows) classifier with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from . import _estimators, _mercer, _run, _validation
from ._convex import KernelExpansion
from ._kernel import Kernel

__all__ = ["KernelMeanClassifier"]


def _is_parzen(estimator: Any) -> bool:
    if estimator.rule == "parzen":
        return True
    raise AttributeError('only rule="parzen" has probabilities; the nearest mean has scores')


class KernelMeanClassifier(ClassifierMixin, KernelExpansion):
    """The class whose mean in the feature space is nearest, or the Parzen windows classifier.

    Two classes: f(x) = mean over the second of k(x, x_i) - mean over the first of k(x, x_j) + b, with b = (|mu_1|^2 - |mu_2|^2) / 2.

    Parameters
    ----------
    kernel : str, mercer.Kernel or callable, default "rbf"
        As in :class:`mercer.KernelRidge`; gamma, degree, coef0 and kernel_params too (gamma=None is 1 / n_features,
        "scale" 1 / (n_features X.var())).
    rule : "nearest" or "parzen", default "nearest"
        The nearest mean; or the largest prior times density estimate, without b, which has ``predict_proba`` and needs a kernel >= 0.
    priors : None, "empirical" or array of one number per class
        Of the Parzen rule. None: all alike. "empirical": the classes' shares of the samples.
    random_state
        Not used; every estimator takes it.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`. No n x n matrix is ever made.

    Attributes
    ----------
    classes_ : the labels in order.
    intercept_ : b; for more than two classes -|mu_c|^2 / 2 of each; zeros for the Parzen rule.
    priors_ : the priors, adding up to 1.
    mean_gram_ : products <mu_c, mu_d> of the means.
    distances_ : distances |mu_c - mu_d| of the means, the biased MMD of each pair of classes.
    summary_, kernel_, X_fit_, model_ : as in the other estimators.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.KernelMeanClassifier(gamma=5.0, rule="parzen").fit(X, y).predict_proba(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        rule: str = "nearest",
        priors: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.rule = rule
        self.priors = priors
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelMeanClassifier:
        """Fit to rows X (n x features, dense or sparse) and labels y."""
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True)
        check_classification_targets(y)
        if self.rule not in ("nearest", "parzen"):
            raise ValueError(f'rule must be "nearest" or "parzen", got {self.rule!r}')
        weight = _estimators.weights(sample_weight, X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        _estimators.require_weight(self.classes_, labels, weight)
        empirical, priors = self._given_priors()
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_mean(
                rows, labels.tolist(), native, self.rule == "parzen", empirical, priors, weight, *self._run(), bar
            )
        return self

    def _given_priors(self) -> tuple[bool, np.ndarray]:
        if self.priors is None:
            return False, np.empty(0)
        if self.rule != "parzen":
            raise ValueError('priors are for rule="parzen"; the nearest mean has none')
        if isinstance(self.priors, str):
            if self.priors != "empirical":
                raise ValueError(f'priors must be None, "empirical" or one number per class, got {self.priors!r}')
            return True, np.empty(0)
        values = np.asarray(self.priors, dtype=np.float64)
        if values.shape != (len(self.classes_),):
            raise ValueError(f"priors must be one number per class ({len(self.classes_)}), got shape {values.shape}")
        return False, np.ascontiguousarray(values)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; else (n, classes). Of the Parzen rule, the probabilities (their difference)."""
        scores = self._apply("predict", X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def class_scores(self, X: Any) -> np.ndarray:
        """(n, classes): <mu_c, psi(x)> - |mu_c|^2 / 2, or prior times mean window of the Parzen rule."""
        return self._apply("class_scores", X)

    def predict(self, X: Any) -> np.ndarray:
        """The label of the nearest mean, or of the largest prior times density."""
        scores = self._apply("predict", X)
        return self.classes_[_mercer.classes_from_scores(scores)]

    @available_if(_is_parzen)
    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes): priors times density estimates, made to add up to 1; the priors where all windows round to 0."""
        return self._apply("probabilities", X)

    @available_if(_is_parzen)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def log_densities(self, X: Any) -> np.ndarray:
        """(n, classes): logarithms of the classes' density estimates; for Gaussian kernels on all columns."""
        return self._apply("log_densities", X)

    @property
    def n_iter_(self) -> int:
        raise AttributeError("class means are sums: there are no iterations")

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").intercept

    @property
    def priors_(self) -> np.ndarray:
        return self._fitted("priors_").priors

    @property
    def mean_gram_(self) -> np.ndarray:
        return self._fitted("mean_gram_").mean_gram

    @property
    def distances_(self) -> np.ndarray:
        return self._fitted("distances_").summary.distances
