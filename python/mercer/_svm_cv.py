"""Support vector machines that choose their own penalty and kernel, from one Gram matrix per kernel."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import Tags, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._convex import positive
from ._kernel import Kernel, wrap
from ._svm_base import flag
from .kernels import kernel_function

__all__ = ["SVCCV", "SVRCV"]


_FACTORS = (0.01, 0.1, 1.0, 10.0)  # of gamma="scale", where none is given: length scales from 10 to 0.3 times that of "scale"
_DISTANCES = ("rbf", "laplacian")


def _numbers(name: str, values: Any, zero: bool = False) -> list[float]:
    """A list of numbers > 0 (or >= 0) from a list or one number."""
    given = list(values) if isinstance(values, list | tuple | np.ndarray | range) else [values]
    for v in given:
        good = isinstance(v, Real) and not isinstance(v, bool) and (0 <= v < np.inf if zero else 0 < v < np.inf)
        if not good:
            raise ValueError(f"{name} must be finite numbers {'>= 0' if zero else '> 0'}, got {v!r}")
    if not given:
        raise ValueError(f"{name} must not be an empty list: there is nothing to choose from")
    return [float(v) for v in given]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


class _Tuned(BaseEstimator):
    """The life of both: candidates, folds, the table of results, the refitted model."""

    _scores: tuple[str, ...] = ()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = any(_scikit.takes_gram(k) for k in self._kernel_list())
        return tags

    def _kernel_list(self) -> list[Any]:
        return list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel]

    # -- candidates

    def _gammas(self, X: Any) -> list[Any]:
        if self.gamma is None and isinstance(X, _data.Objects):  # no kernel of objects looks at it
            return [1.0]
        if self.gamma is None:
            scale = _scikit.gamma_number("scale", X)
            return [factor * scale for factor in _FACTORS]
        gammas = list(self.gamma) if _is_list(self.gamma) else [self.gamma]
        for gamma in gammas:
            _scikit.gamma_number(gamma, X)  # for its checks, where no kernel looks at it too
        return gammas

    def _candidates(self, X: Any) -> tuple[list[Kernel], list[dict[str, Any]]]:
        """The kernels in the order of ParameterGrid (gamma, then kernel), each with what it says in params."""
        gammas, kernels = self._gammas(X), self._kernel_list()
        if not gammas or not kernels:
            raise ValueError("kernel and gamma must not be empty lists: there is nothing to choose from")
        searched = _is_list(self.gamma) or (self.gamma is None and any(k in _DISTANCES for k in kernels if isinstance(k, str)))
        out, about = [], []
        for at, gamma in enumerate(gammas):
            for k in kernels:
                takes_gamma = isinstance(k, str) and "gamma" in KERNEL_PARAMS.get(k, ())
                # Without a distance gamma is a factor, which C and coef0 make up for: one is enough.
                once = not takes_gamma or (self.gamma is None and k not in _DISTANCES)
                if once and at > 0:
                    continue
                own = None if not takes_gamma else _scikit.gamma_number("scale", X) if once else gamma
                out.append(self._kernel_of(k, None if own is None else _scikit.gamma_number(own, X), X))
                says: dict[str, Any] = {}
                if searched:
                    says["gamma"] = own
                if isinstance(self.kernel, list | tuple):
                    says["kernel"] = k
                about.append(says)
        return out, about

    def _kernel_of(self, k: Any, gamma: float | None, X: Any) -> Kernel:
        if callable(k) and not isinstance(k, Kernel):  # of two blocks of rows, as in SVC
            return kernel_function(k, name=repr(k) if hasattr(k, "get_params") else None)
        word = isinstance(k, str) and k in KERNEL_PARAMS
        how = SimpleNamespace(kernel=k, gamma=gamma, degree=self.degree if word else 3, coef0=self.coef0 if word else 1, kernel_params=None)
        return _scikit.estimator_kernel(how, X.shape[1])

    # -- folds

    def _folds(self, X: Any, y: np.ndarray, groups: Any, classifier: bool) -> list[tuple[list[int], list[int]]]:
        cv = 5 if self.cv is None else self.cv
        if groups is not None and isinstance(cv, Integral):
            cv = GroupKFold(int(cv))
        if isinstance(cv, bool | str) or (not isinstance(cv, Integral) and not hasattr(cv, "split") and not isinstance(cv, Iterable)):
            raise ValueError(f"cv must be None, an int, a splitter or an iterable of (train, test), got {cv!r}")
        if isinstance(cv, Integral) and cv > X.shape[0]:
            raise ValueError(f"cv={cv} folds are more than n_samples={X.shape[0]}: there must be a sample in each")

        def indices(part: Any) -> list[int]:
            part = np.asarray(part)
            return (np.flatnonzero(part) if part.dtype == bool else np.sort(part)).tolist()

        folds = [(indices(train), indices(test)) for train, test in check_cv(cv, y, classifier=classifier).split(X, y, groups)]
        if not folds:
            raise ValueError(f"cv={self.cv!r} gave no folds")
        return folds

    def _rows(self, X: Any, natives: list[Any]) -> Any:
        given = any(k.needs_given_gram for k in natives)
        if given and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
        self._given = given
        return _mercer.Samples.given_gram(_data.samples(X)) if given else _data.samples(X)

    def _limits(self) -> tuple[float, int, float]:
        tol = positive("tol", self.tol)
        if not isinstance(self.max_iter, Integral) or (self.max_iter < 1 and self.max_iter != -1):
            raise ValueError(f"max_iter must be a whole number of at least 1, or -1 for no limit, got {self.max_iter!r}")
        limit = 0.0 if self.time_limit is None else positive("time_limit", self.time_limit)
        return float(tol), max(0, int(self.max_iter)), float(limit)

    def _score_word(self) -> str:
        word = self._scores[0] if self.scoring is None else self.scoring
        if word not in self._scores:
            raise ValueError(f"scoring must be one of {', '.join(map(repr, self._scores))} or None, got {self.scoring!r}")
        return word

    def _run(self) -> tuple[int, int]:
        return _run.threads(self.n_jobs), _run.memory_bytes(self.memory)

    # -- results

    def _keep(self, result: Any, about: list[dict[str, Any]], n_splits: int) -> None:
        params = []
        for C, e, k in zip(result.C, result.epsilon, result.kernel, strict=True):
            says = {"C": float(C)}
            if _is_list(getattr(self, "epsilon", None)):
                says["epsilon"] = float(e)
            params.append({**says, **about[int(k)]})
        out: dict[str, Any] = {}
        for name in params[0]:
            values = [p[name] for p in params]
            plain = all(isinstance(v, Real) for v in values)
            column = np.ma.MaskedArray(np.empty(len(values), dtype=float if plain else object), mask=False)
            for i, v in enumerate(values):
                column[i] = v
            out[f"param_{name}"] = column
        out["params"] = params
        splits, mean = result.fold_scores, result.mean
        out.update({f"split{f}_test_score": splits[:, f].copy() for f in range(n_splits)})
        filled = np.where(np.isnan(mean), -np.inf, mean)
        out["mean_test_score"] = mean
        out["std_test_score"] = result.deviation
        out["rank_test_score"] = np.array([1 + int((filled > s).sum()) for s in filled], dtype=np.int32)
        out["abandoned"] = result.abandoned != 0
        self.cv_results_ = out
        self.n_splits_ = n_splits
        self.best_index_ = int(result.best)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])
        self.C_ = float(result.C[self.best_index_])
        self.best_kernel_ = wrap(result.kernels[int(result.kernel[self.best_index_])])
        self.refit_time_ = float(result.refit_seconds)
        self.search_ = str(result) + (f" ({result.remark})" if result.remark else "")
        self.model_ = result.model
        if not np.all(result.converged):
            warnings.warn(self.search_, ConvergenceWarning, stacklevel=3)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", reset=False)
        rows = _data.samples(X)
        return _mercer.Samples.given_rows(rows) if self._given else rows

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def support_(self) -> np.ndarray:
        return np.asarray(_mercer.svm_parts(self._fitted("support_"))[0], dtype=np.int32)

    @property
    def support_vectors_(self) -> Any:
        model = self._fitted("support_vectors_")
        return np.empty((0, 0)) if self._given else _data.to_numpy(_mercer.svm_vectors(model))

    @property
    def dual_coef_(self) -> np.ndarray:
        return np.ascontiguousarray(_mercer.svm_parts(self._fitted("dual_coef_"))[1].T)

    @property
    def intercept_(self) -> np.ndarray:
        return np.asarray(_mercer.svm_parts(self._fitted("intercept_"))[2]).reshape(-1)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary

    @property
    def n_iter_(self) -> int:
        return int(self._fitted("n_iter_").summary.iterations)

    def plot_scores(self, ax: Any = None) -> Any:
        """The mean scores over C, one line for each kernel (and epsilon), and the choice, as :func:`mercer.plot.path` draws them. Returns the axes."""
        from . import plot

        return plot.path(self, kind="lines", ax=ax)


def _has_probability(estimator: Any) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SVCCV(ClassifierMixin, _Tuned):
    """Support vector classification with C and the kernel chosen by cross-validation, then refitted on all rows.

    What ``GridSearchCV(SVC(), {"C": ..., "gamma": ...})`` finds: the same folds, table and choice. One Gram matrix per kernel serves all folds and
    every C, each C starts from the solution of the next smaller one, and candidates that cannot win any more are abandoned.

    Parameters
    ----------
    C : list of numbers > 0
        The penalties to choose from.
    kernel : as in SVC, or a list of candidates, default "rbf"
        Words of scikit-learn's SVC, texts of Mercer, kernels, or callables.
    degree, coef0 : as in SVC
    gamma : None, "scale", "auto", a number >= 0 or a list of them, default None
        For "rbf", "poly" and "sigmoid". "scale" is 1 / (features x variance of all of X), not of each fold's training part. None: 0.01, 0.1, 1
        and 10 times "scale" to choose from with "rbf" and "laplacian", "scale" with others.
    cv : int, splitter or iterable of (train, test), default 5
        An int is StratifiedKFold without shuffling; with ``groups`` in fit it is GroupKFold.
    scoring : "accuracy" (the default), "balanced_accuracy", "f1" (two classes, that of the second) or "f1_macro"
        Of the test part, weighted by sample_weight as GridSearchCV does.
    class_weight : dict, "balanced" or None
        "balanced" counts the training part of each fold.
    tol : float, default 1e-3
    max_iter : int, default -1
        Steps of each fit; -1: no limit but that of the solver.
    decision_function_shape, break_ties, multi_class : as in SVC
    probability : bool, default False
        Have predict_proba of the refitted model, as in SVC; predict then gives the most probable label. Candidates are judged without.
    abandon : bool, default True
        Leave out what cannot win: a candidate whose mean, with perfect scores on its remaining folds, stays below the best finished mean. It
        never changes the choice.
    time_limit : float, optional
        Seconds for the search; what is not finished then is abandoned.
    random_state : int, RandomState or None
        Draws the folds of the probabilities; None is 0. Nothing else is random.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    best_params_, best_score_, best_index_ : of the chosen candidate in cv_results_.
    C_, best_kernel_ : the choice itself.
    cv_results_ : dict of arrays as GridSearchCV has it: param_C, param_gamma and param_kernel (where lists were given), params,
        split<k>_test_score, mean_test_score, std_test_score, rank_test_score; and abandoned, whose mean is NaN.
    n_splits_, refit_time_ : as in GridSearchCV.
    search_ : one sentence about the choice, with what to look at.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_ : as in SVC, of the refitted model.
    model_, summary_ : the compiled model and how it was refitted.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> mercer.SVCCV(C=[1, 10], gamma=[0.01, 1.0]).fit(X, y).best_params_
    {'C': 1.0, 'gamma': 1.0}
    """

    _scores = ("accuracy", "balanced_accuracy", "f1", "f1_macro")

    def __init__(
        self,
        C: Any = (0.1, 1.0, 10.0, 100.0),
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = None,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: str | None = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
        probability: bool = False,
        abandon: bool = True,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.multi_class = multi_class
        self.probability = probability
        self.abandon = abandon
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SVCCV:
        """Choose and fit: rows X (n x features, dense or sparse), labels y; ``groups`` are for folds."""
        C, limits, score = _numbers("C", self.C), self._limits(), self._score_word()
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape must be 'ovr' or 'ovo', got {self.decision_function_shape!r}")
        if self.multi_class not in ("ovr", "ovo") or (self.multi_class == "ovr" and self.decision_function_shape == "ovo"):
            raise ValueError(
                f"multi_class must be 'ovo', or 'ovr' with decision_function_shape='ovr', got {self.multi_class!r} "
                f"with {self.decision_function_shape!r}"
            )
        probability = flag("probability", self.probability)
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        check_classification_targets(y)
        weight = _estimators.weights(sample_weight, X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        _estimators.require_weight(self.classes_, labels, weight)
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        per_class = np.empty(0)
        if self.class_weight is not None and not balanced:
            per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        kernels, about = self._candidates(X)
        natives = [k._at_columns(getattr(self, "feature_names_in_", None)) for k in kernels]
        folds = self._folds(X, y, groups, True)
        self._require_classes(folds, labels, weight)
        with _run.progress(self.verbose) as bar:
            result = _mercer.fit_svc_cv(
                self._rows(X, natives), np.ascontiguousarray(labels, dtype=np.int64), natives, C, folds, score, bool(self.abandon), True, balanced,
                np.ascontiguousarray(per_class, dtype=np.float64), weight, self.multi_class == "ovr", bool(self.break_ties), probability, self._seed(), *limits, *self._run(), bar,
            )  # fmt: skip
        self._keep(result, about, len(folds))
        return self

    def _require_classes(self, folds: list[tuple[list[int], list[int]]], labels: np.ndarray, weight: np.ndarray) -> None:
        """Every training part teaches two classes at least; says so where it does not teach all."""
        counts = weight > 0 if len(weight) else np.ones(len(labels), dtype=bool)
        missing: dict[int, int] = {}
        for at, (train, _) in enumerate(folds):
            here = np.unique(labels[train][counts[train]])
            if len(here) < 2:
                has = f"samples of one class only, {_estimators.shown(self.classes_[here])[0]}" if len(here) else "no sample of positive weight"
                raise ValueError(f"the training part of fold {at + 1} has {has}: use stratified folds (cv an int), or fewer")
            for c in np.setdiff1d(np.arange(len(self.classes_)), here):
                missing.setdefault(int(c), at + 1)
        if missing:
            c, at = next(iter(missing.items()))
            warnings.warn(
                f"the class {_estimators.shown(self.classes_[[c]])[0]} has no training sample (of positive weight) in fold {at}, where it is never "
                "predicted: use stratified or fewer folds",
                stacklevel=3,
            )

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, Integral):
            return int(self.random_state) % 2**64
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values: (n,) for two classes, positive for the second; else one column per class, or per pair with "ovo"."""
        rows = self._new_rows(X)
        with _run.progress(self.verbose) as bar:
            values = (_mercer.svc_decision if self.decision_function_shape == "ovo" else _mercer.svc_scores)(self.model_, rows, *self._run(), bar)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row; with probability=True the most probable one."""
        rows = self._new_rows(X)
        with _run.progress(self.verbose) as bar:
            return self.classes_[np.asarray(_mercer.svc_classes(self.model_, rows, *self._run(), bar), dtype=np.intp)]

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes): probabilities in the order of classes_, by sigmoids on decision values of held-out folds."""
        rows = self._new_rows(X)
        with _run.progress(self.verbose) as bar:
            return _mercer.svc_probabilities(self.model_, rows, *self._run(), bar)

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    @property
    def n_support_(self) -> np.ndarray:
        return np.asarray(_mercer.svc_n_support(self._fitted("n_support_")), dtype=np.int32)


class SVRCV(RegressorMixin, _Tuned):
    """Support vector regression with C, epsilon and the kernel chosen by cross-validation, then refitted on all rows.

    The twin of ``GridSearchCV(SVR(), ...)``; see :class:`mercer.SVCCV` for how it saves work.

    Parameters
    ----------
    C : list of numbers > 0
    epsilon : a number >= 0 or a list of them, default 0.1
    kernel, degree, gamma, coef0, tol, max_iter, abandon, time_limit, n_jobs, memory, random_state, verbose : as in SVCCV
    cv : int, splitter or iterable of (train, test), default 5
        An int is KFold without shuffling; with ``groups`` in fit it is GroupKFold.
    scoring : "r2" (the default), "neg_mean_squared_error" or "neg_mean_absolute_error"
        Of the test part, weighted by sample_weight as GridSearchCV does.

    Attributes
    ----------
    epsilon_ : the chosen width.
    best_params_, best_score_, best_index_, C_, best_kernel_, cv_results_, n_splits_, refit_time_, search_ : as in SVCCV.
    support_, support_vectors_, dual_coef_, intercept_, n_iter_, model_, summary_ : of the refitted model.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves()
    >>> mercer.SVRCV(C=[1, 100], gamma=[0.1, 1.0], epsilon=0.05).fit(X, y).predict(X).shape == y.shape
    True
    """

    _scores = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")

    def __init__(
        self,
        C: Any = (0.1, 1.0, 10.0, 100.0),
        *,
        epsilon: Any = 0.1,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = None,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: str | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        abandon: bool = True,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.abandon = abandon
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SVRCV:
        """Choose and fit: rows X (n x features, dense or sparse), targets y; ``groups`` are for folds."""
        C, epsilon, limits, score = _numbers("C", self.C), _numbers("epsilon", self.epsilon, zero=True), self._limits(), self._score_word()
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", y_numeric=True)
        weight = _estimators.weights(sample_weight, X)
        kernels, about = self._candidates(X)
        natives = [k._at_columns(getattr(self, "feature_names_in_", None)) for k in kernels]
        folds = self._folds(X, y, groups, False)
        with _run.progress(self.verbose) as bar:
            result = _mercer.fit_svr_cv(
                self._rows(X, natives), np.ascontiguousarray(y, dtype=np.float64), natives, C, epsilon, folds, score, bool(self.abandon), True,
                weight, *limits, *self._run(), bar,
            )  # fmt: skip
        self._keep(result, about, len(folds))
        self.epsilon_ = float(result.epsilon[self.best_index_])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """f of each row."""
        rows = self._new_rows(X)
        with _run.progress(self.verbose) as bar:
            return _mercer.svr_predict(self.model_, rows, *self._run(), bar)[:, 0]
