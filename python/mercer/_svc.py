"""Support vector classification with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _data, _estimators, _mercer, _run
from ._convex import positive
from ._kernel import Kernel
from ._svm_base import SupportVectorMachine, flag, share

__all__ = ["SVC", "NuSVC"]


def _has_probability(estimator: Any) -> bool:
    if not estimator._probability():
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class _Classifier(ClassifierMixin, SupportVectorMachine):
    def _probability(self) -> bool:
        return False if isinstance(self.probability, str) and self.probability == "deprecated" else flag("probability", self.probability)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, _mercer.SvcSettings]:
        """Rows, class numbers and settings, checked; sets classes_ and class_weight_."""
        if not isinstance(self.decision_function_shape, str) or self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape must be 'ovr' or 'ovo', got {self.decision_function_shape!r}")
        if not isinstance(self.multi_class, str) or self.multi_class not in ("ovr", "ovo"):
            raise ValueError(f"multi_class must be 'ovo' or 'ovr', got {self.multi_class!r}")
        if self.multi_class == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' is of pairs of classes, which multi_class='ovr' does not have: leave it at 'ovr'")
        probability, break_ties = self._probability(), flag("break_ties", self.break_ties)
        X, y = self._rows_in(X, y)
        check_classification_targets(y)
        weight = _estimators.weights(sample_weight, X)
        classes, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(classes)
        _estimators.require_weight(classes, labels, weight)
        self.classes_ = classes
        self.class_weight_ = compute_class_weight(self.class_weight, classes=classes, y=y)
        if not (np.isfinite(self.class_weight_).all() and (self.class_weight_ > 0).all()):
            raise ValueError(f"class_weight must be finite and > 0, got {self.class_weight!r}")
        per_class = np.empty(0) if self.class_weight is None else np.ascontiguousarray(self.class_weight_, dtype=np.float64)
        settings = _mercer.SvcSettings(per_class, weight, probability, self._seed(), break_ties, self.multi_class == "ovr")
        return X, np.ascontiguousarray(labels, dtype=np.int64), settings

    # -- predictions

    def _decide(self, X: Any) -> np.ndarray:
        """The functions' values, a column each."""
        f, X = self._look(X)
        return self._batch("functions", X) if f is None else np.asfortranarray(f, dtype=np.float64).reshape(1, -1)

    def decision_function(self, X: Any) -> np.ndarray:
        """(n,) for two classes, positive for the second. Of more, 'ovr': (n, classes), votes of the pairs of classes with their summed
        decision values squeezed below one vote; 'ovo': one column for each pair 01, 02, ..., 12, ..., positive for the first of the pair.
        With multi_class="ovr", the function of each class against the rest."""
        f = self._decide(X)
        if f.shape[1] == 1:
            return f[:, 0]
        return f if self.decision_function_shape == "ovo" else self.model_.scores_of(f)

    def predict(self, X: Any) -> np.ndarray:
        """The label of most votes; with probability=True the most probable one."""
        f = self._decide(X)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.classes_[self.model_.classes_of(f)]

    def slacks(self, X: Any, y: Any) -> np.ndarray:
        """max(0, 1 - y f(x)): by how much each sample of X, labelled y, is inside the margin or on the wrong side of it.

        (n,) for two classes; else a column for each function: each pair 01, 02, ..., 12, ..., where samples of other classes have 0, or with
        multi_class="ovr" each class."""
        f = self._decide(X)
        y = column_or_1d(y)
        if len(y) != len(f):
            raise ValueError(f"X has {len(f)} samples but y has {len(y)}")
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(f"y has the label {_estimators.shown(y[~known])[0]}, which was not among those of fit")
        own = np.searchsorted(self.classes_, y)[:, None]
        k = len(self.classes_)
        if k == 2:
            return np.maximum(0, 1 - np.where(own == 1, f, -f))[:, 0]
        if not self.model_.one_vs_one:
            return np.maximum(0, 1 - np.where(own == np.arange(k), f, -f))
        first, second = np.triu_indices(k, 1)
        sign = (own == first).astype(np.float64) - (own == second)
        return np.where(sign == 0, 0, np.maximum(0, 1 - sign * f))

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes): probabilities in the order of classes_, by sigmoids on decision values of held-out folds."""
        check_is_fitted(self)
        if not self.model_.has_probabilities:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self.model_.probabilities_of(self._decide(X))

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    # -- fitted attributes, read from the model

    @property
    def n_support_(self) -> np.ndarray:
        return np.asarray(self._fitted("n_support_").n_support, dtype=np.int32)

    @property
    def n_iter_(self) -> np.ndarray:
        return np.asarray(self._fitted("n_iter_").summary.steps, dtype=np.int32)

    @property
    def probA_(self) -> np.ndarray:
        return self._sigmoids("probA_")[:, 0]

    @property
    def probB_(self) -> np.ndarray:
        # LIBSVM's sigmoid is of the first class of a pair, and ours of two classes of the second.
        sigmoids = self._sigmoids("probB_")
        return -sigmoids[:, 1] if len(self.classes_) == 2 else sigmoids[:, 1]

    def _sigmoids(self, name: str) -> np.ndarray:
        return self._fitted(name).sigmoids.reshape(-1, 2)

    def _weights(self, model: Any) -> np.ndarray:
        if model.n_functions == 1 or not model.one_vs_one:
            return super()._weights(model)
        # A row per pair: coefficients(n) has a column for each, over as many rows as there are up to the last support vector.
        rows = model.support
        pairs = model.coefficients(max(rows) + 1)[rows]
        vectors = _data.to_numpy(model.samples)
        return np.asarray(vectors.T @ pairs if sp.issparse(vectors) else (pairs.T @ vectors).T, dtype=np.float64).T.copy()


class SVC(_Classifier):
    """Support vector classification: minimises |f|^2 / 2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + b)), for every pair of classes.

    Parameters
    ----------
    C : float, default 1
        Weight of the losses.
    kernel : str, mercer.Kernel or callable, default "rbf"
        "linear", "poly", "rbf", "sigmoid" and "precomputed" as in scikit-learn, any other kernel of Mercer as an object or text, or a
        function f(A, B) of two blocks of rows that gives their matrix.
    degree, gamma, coef0
        Of those words: poly is (gamma x.y + coef0)^degree. gamma="scale" is 1 / (n_features X.var()), "auto" 1 / n_features.
    shrinking, cache_size
        For the twin's sake: the solver has no shrinking to switch off, and ``memory`` says what may be kept.
    probability : bool
        Have predict_proba, by sigmoids on decision values of five folds; predict then gives the most probable label, which the twin's does
        not. The default, the twin's word "deprecated", is False; the parameter is not deprecated here.
    tol : float, default 1e-3
        Stop when the optimality conditions are violated by less.
    class_weight : dict, "balanced" or None
        Weights of the classes, times those of the samples.
    verbose : bool, default False
        Show progress on stderr.
    max_iter : int, default -1
        Steps of a machine at most; -1 is ten million, or 100 for every row where that is more.
    decision_function_shape : "ovr" or "ovo", default "ovr"
        What decision_function gives of more than two classes.
    break_ties : bool, default False
        Of equal votes the class of the largest summed decision value wins, not the first.
    random_state : int, RandomState or None
        Draws the folds of the probabilities; None is 0.
    lambda_ : float, optional
        The penalty beside the mean loss, 1 / (2 n C); overrides C.
    hard_margin : bool, default False
        No sample inside the margin; a warning says when that cannot be had.
    fit_intercept : bool, default True
        Fit b, without penalty.
    warm_start : bool, default False
        Go on from the coefficients of the last fit where it had as many rows and classes.
    time_limit : float, optional
        Seconds after which the fit stops where it is, with a warning.
    multi_class : "ovo" or "ovr", default "ovo"
        More than two classes: a machine for each pair, as the twin has it, or one for each class against the rest.
    n_jobs, memory
        As in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    classes_, class_weight_ : the labels in order, and their weights.
    support_, support_vectors_, n_support_ : rows that carry the function, those of the first class first; how many of each class.
    dual_coef_ : (classes - 1, support vectors), as scikit-learn has them; with multi_class="ovr" a row for each class; always dense.
    intercept_ : b of each pair of classes (of each class, with multi_class="ovr"; so for those that follow).
    coef_ : weights of the columns, a row for each pair, of the linear kernel only.
    fit_status_ : 0 where the fit converged, else 1.
    n_iter_ : steps of each pair of classes.
    objective_, gap_ : the dual's value and primal less dual, summed over the pairs.
    probA_, probB_ : the sigmoids, P(first of the pair) = 1 / (1 + exp(A f + B)) with f positive for the first.
    shape_fit_, n_features_in_, feature_names_in_ : of the rows fitted.
    summary_, kernel_ : how the fit went, as a sentence and numbers; the kernel with its numbers.
    model_ : the compiled model; ``model_.decision(x)`` of one float64 row takes microseconds.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.SVC(C=10, gamma=1.0).fit(X, y).score(X, y) > 0.9
    True

    Strings, sets, graphs and records (DataFrames) take the place of rows where the kernel looks at them:

    >>> mercer.SVC(kernel="spectrum(2)").fit(["abab", "baba", "ccd", "dcc"], ["ab", "ab", "cd", "cd"]).predict(["ababab"])
    array(['ab'], dtype='<U2')
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        lambda_: float | None = None,
        hard_margin: bool = False,
        fit_intercept: bool = True,
        warm_start: bool = False,
        time_limit: float | None = None,
        multi_class: str = "ovo",
        n_jobs: int | None = None,
        memory: str | float | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.lambda_ = lambda_
        self.hard_margin = hard_margin
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Fit to rows X (n x features, dense or sparse; kernel values where they are precomputed) and labels y."""
        solver, C, lambda_ = self._solver(), positive("C", self.C), positive("lambda_", self.lambda_, optional=True)
        hard_margin, fit_intercept = flag("hard_margin", self.hard_margin), flag("fit_intercept", self.fit_intercept)
        X, labels, settings = self._prepare(X, y, sample_weight)
        native, rows = self._bound(X)
        k = len(self.classes_)
        pairs = self.multi_class == "ovo"
        start = self._start(len(labels), 1 if k == 2 else k * (k - 1) // 2 if pairs else k)
        same = start.size and (k == 2 or self.model_.one_vs_one == pairs)
        if start.size and not (same and np.array_equal(labels[self.model_.support], np.repeat(np.arange(k), self.model_.n_support))):
            start = np.empty((0, 0))  # support vectors of other classes: their coefficients have the wrong sign
        if start.size and sample_weight is not None:
            start[settings.sample_weight == 0] = 0  # left out
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_svc(
                rows, labels, native, settings, solver, C, lambda_, hard_margin, fit_intercept, start, *self._run(), bar
            )
        self.shape_fit_ = X.shape
        return self._said()


class NuSVC(_Classifier):
    """Support vector classification by nu, the share of samples that may lie inside the margin, in place of C.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of samples inside the margin, at least this share support vectors; it cannot exceed twice the share of the
        smaller class.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, decision_function_shape,
    break_ties, random_state, time_limit, multi_class, n_jobs, memory
        As in :class:`mercer.SVC`.

    Attributes
    ----------
    As in :class:`mercer.SVC`.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.NuSVC(nu=0.2, gamma=1.0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        time_limit: float | None = None,
        multi_class: str = "ovo",
        n_jobs: int | None = None,
        memory: str | float | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.time_limit = time_limit
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuSVC:
        """Fit to rows X (n x features, dense or sparse; kernel values where they are precomputed) and labels y."""
        solver, nu = self._solver(), share("nu", self.nu)
        X, labels, settings = self._prepare(X, y, sample_weight)
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_nu_svc(rows, labels, native, settings, solver, nu, *self._run(), bar)
        self.shape_fit_ = X.shape
        return self._said()
