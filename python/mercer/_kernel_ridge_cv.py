"""Kernel ridge regression that chooses its own kernel and penalty, from one factorisation per kernel."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, check_cv
from sklearn.utils import Tags

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from ._kernel_ridge import KernelRidge

__all__ = ["KernelRidgeCV"]


class _Identity(BaseEstimator):
    """What a scorer takes for a regressor when the predictions are made already."""

    _estimator_type = "regressor"

    def fit(self, X: Any, y: Any = None) -> _Identity:
        return self

    def predict(self, X: Any) -> Any:
        return X


class KernelRidgeCV(KernelRidge):
    """Kernel ridge regression with kernel and alpha chosen by exact leave-one-out, generalised cross-validation, evidence or folds.

    One reduction of the Gram matrix per kernel serves every alpha, so thirty alphas cost little more than one; leaving out each sample in turn
    (and refitting the intercept) is exact, without refits.

    Parameters
    ----------
    alphas : array of numbers >= 0, optional
        The penalties to choose from. None: 30 numbers, log-spaced over the spectrum of each kernel's Gram matrix.
    kernel : as in KernelRidge, or a list of candidates, default "linear"
    gamma : float, None, or a list of them
        For scikit-learn's words; with a list, each word that takes a gamma is tried with each.
    degree, coef0, kernel_params : as in KernelRidge
    cv : None, int, splitter or iterable of (train, test)
        None: exact leave-one-out (or the criterion). An int: that many consecutive folds (KFold without shuffling). With ``groups`` in fit, None
        leaves out a group at a time and an int is GroupKFold. Folds share one Gram matrix per kernel.
    scoring : str, callable or None
        A scikit-learn scorer, larger is better, applied to the leave-one-out predictions of all samples or of each fold's test part, without
        weights. None: the negative mean squared error, weighted by sample_weight.
    criterion : "loo", "gcv" or "evidence"
        What chooses when cv and scoring are None: leave-one-out, generalised cross-validation, or the log evidence of the Gaussian process
        with covariance v (k + alpha I) at the best scale v.
    alpha_per_target : bool, default False
        Choose one alpha for each target.
    fit_intercept : bool, default False
        Fit b, without penalty.
    intervals : bool, default False
        Keep what ``predict(X, interval=...)`` needs in the model (n^2/2 numbers up to 5000 samples). Without it the first such call prepares
        it, or ``mercer.save``, whose files have it either way.
    n_jobs, memory, random_state, verbose : as in KernelRidge

    Attributes
    ----------
    alpha_ : the chosen penalty, or one per target with alpha_per_target.
    best_kernel_, kernel_ : the chosen kernel, with automatic length scales resolved.
    best_score_, best_index_ : of the chosen candidate in cv_results_ (best_index_ not with alpha_per_target).
    cv_results_ : dict of arrays, one entry per kernel and alpha: params, param_alpha, param_kernel, mean_test_score (larger is better),
        std_test_score and split<k>_test_score (folds), rank_test_score, mean_squared_error (leave-one-out), gcv, log_evidence,
        degrees_of_freedom, abandoned (K + alpha I was not positive definite; scores are NaN) and note.
    loo_residuals_, loo_predictions_ : of the chosen candidate, of y's shape; only when no folds were used.
    path_ : one sentence about the choice.
    dual_coef_, intercept_, X_fit_, summary_, model_, n_features_in_ : as in KernelRidge.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.randn(60)
    >>> KernelRidgeCV(kernel="rbf", gamma=[0.1, 1, 10]).fit(X, y).predict(X).shape
    (60,)
    """

    def __init__(
        self,
        alphas: Any = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        cv: Any = None,
        scoring: Any = None,
        criterion: str = "loo",
        alpha_per_target: bool = False,
        fit_intercept: bool = False,
        intervals: bool = False,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cv = cv
        self.scoring = scoring
        self.criterion = criterion
        self.alpha_per_target = alpha_per_target
        self.fit_intercept = fit_intercept
        self.intervals = intervals
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = any(_scikit.takes_gram(k) for k in self._kernels())
        return tags

    # -- candidates

    def _kernels(self) -> list[Any]:
        return list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel]

    def _candidates(self, n_features: int) -> list[Kernel]:
        gammas = list(self.gamma) if isinstance(self.gamma, list | tuple | np.ndarray) else [self.gamma]
        out = []
        for k in self._kernels():
            takes_gamma = isinstance(k, str) and "gamma" in KERNEL_PARAMS.get(k, ())
            several = len(self._kernels()) > 1 or len(gammas) > 1
            for g in gammas if takes_gamma else [None if several else gammas[0]]:
                about = SimpleNamespace(kernel=k, gamma=g, degree=self.degree, coef0=self.coef0, kernel_params=self.kernel_params)
                out.append(_scikit.estimator_kernel(about, n_features))
        if not out:
            raise ValueError("kernel and gamma must not be empty lists: there is nothing to choose from")
        return out

    def _penalties(self) -> list[float]:
        if self.alphas is None:
            return []
        try:
            values = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"alphas must be numbers >= 0, or None, got {self.alphas!r}") from None
        if values.ndim != 1 or values.size == 0 or not np.all((values >= 0) & (values < np.inf)):
            raise ValueError(f"alphas must be finite numbers >= 0, at least one, or None, got {self.alphas!r}")
        return values.tolist()

    def _folds(self, X: Any, y: np.ndarray, groups: Any) -> list[tuple[list[int], list[int]]]:
        cv = self.cv
        if groups is not None and cv is None:
            cv = LeaveOneGroupOut()
        elif groups is not None and isinstance(cv, Integral):
            cv = GroupKFold(int(cv))
        if cv is None:
            return []
        if not isinstance(cv, Integral) and not hasattr(cv, "split") and not isinstance(cv, Iterable):
            raise ValueError(f"cv must be None, an int, a splitter or an iterable of (train, test), got {cv!r}")
        if self.criterion != "loo":
            raise ValueError(f'criterion={self.criterion!r} needs no folds: give cv=None, or criterion="loo" with folds')
        splits = check_cv(cv, y, classifier=False).split(X, y, groups)

        def indices(part: Any) -> list[int]:
            part = np.asarray(part)
            return (np.flatnonzero(part) if part.dtype == bool else np.sort(part)).tolist()

        return [(indices(train), indices(test)) for train, test in splits]

    # -- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KernelRidgeCV:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets); ``groups`` are for folds."""
        X, y = _validation.validate(
            self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True, multi_output=True, y_numeric=True
        )
        Y = _estimators.targets(y)
        weight = _estimators.weights(sample_weight, X)
        names = getattr(self, "feature_names_in_", None)
        natives = [k._at_columns(names) for k in self._candidates(X.shape[1])]
        given = any(k.needs_given_gram for k in natives)
        if given and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
        if self.scoring is not None and self.criterion != "loo":
            raise ValueError(f"scoring and criterion={self.criterion!r} both choose: give one of them")
        folds = self._folds(X, y, groups)
        rows = _mercer.Samples.given_gram(_data.samples(X)) if given else _data.samples(X)
        self._single_target = y.ndim == 1
        self._X_fit = X if given else None
        self._training = (Y, weight, bool(self.fit_intercept))
        self.__dict__.pop("_with_intervals", None)
        with _run.progress(self.verbose) as bar:
            how = (_run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
            result = _mercer.fit_kernel_ridge_cv(
                rows, Y, natives, self._penalties(), self.criterion, folds, bool(self.alpha_per_target), bool(self.fit_intercept), weight,
                bool(self.intervals) and self.scoring is None, self.scoring is not None, *how,
            )  # fmt: skip
            self.model_ = result.model
            kernel, best = result.best_kernel, result.best_score
            scores, splits = result.score, result.fold_scores
            if self.scoring is not None:
                chosen = self._by_scorer(result, Y, folds)
                kernel, alpha, best, scores, splits = chosen
                self.model_ = _mercer.fit_kernel_ridge(
                    rows, Y, result.kernels[kernel], alpha, None, bool(self.fit_intercept), weight, None, _mercer.KernelRidgeSolver.cholesky,
                    1e-10, bool(self.intervals), *how,
                )  # fmt: skip
        self.best_kernel_ = wrap(self.model_.kernel)
        self.best_score_ = float(best)
        self.alpha_ = self.model_.alpha.copy() if self.alpha_per_target and not self._single_target else float(self.model_.alpha[0])
        self.path_ = str(result)
        self._keep(result, scores, splits)
        if not self.alpha_per_target or self._single_target:
            same = (result.kernel == kernel) & (result.alpha == self.model_.alpha[0])
            self.best_index_ = int(np.flatnonzero(same)[0])
        for name in ("loo_residuals_", "loo_predictions_"):
            self.__dict__.pop(name, None)
        if not folds:
            residuals = self._residuals(result, kernel, X)
            self.loo_residuals_ = residuals[:, 0] if self._single_target else residuals
            self.loo_predictions_ = y - self.loo_residuals_
        return self

    def _residuals(self, result: Any, kernel: int, X: Any) -> np.ndarray:
        """Leave-one-out residuals of the chosen alphas; those of weight zero are of a fit that never saw them."""
        if self.scoring is None:
            return result.residuals
        out = np.empty_like(self._training[0])
        for t, alpha in enumerate(self.model_.alpha):
            k = int(np.flatnonzero((result.kernel == kernel) & (result.alpha == alpha))[0])
            out[:, t] = result.residuals_of(k)[:, t]
        unseen = np.flatnonzero(self._training[1] == 0)
        if len(unseen):
            rows = _data.samples(X[unseen])
            out[unseen] = self._training[0][unseen] - self.model_.predict(_mercer.Samples.given_rows(rows) if self._X_fit is not None else rows)
        return out

    def _by_scorer(self, result: Any, Y: np.ndarray, folds: list[tuple[list[int], list[int]]]) -> tuple[int, np.ndarray, float, Any, Any]:
        """The choice of a scikit-learn scorer among the kept predictions."""
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        if not callable(scorer):
            raise ValueError(f"scoring must be the name of a scorer, a callable or None, got {self.scoring!r}")
        alphas, kernels = result.alpha, result.kernel
        columns = [[t] for t in range(Y.shape[1])] if self.alpha_per_target else [list(range(Y.shape[1]))]
        parts = [test for _, test in folds] or [list(range(len(Y)))]
        scores = np.full((len(alphas), len(columns), len(parts)), np.nan)
        for k in np.flatnonzero(result.valid):
            r = result.residuals_of(int(k))
            for c, cols in enumerate(columns):
                for f, part in enumerate(parts):
                    rows = np.asarray(part)[np.isfinite(r[part]).all(axis=1)]  # weight zero: in no fit
                    truth = Y[np.ix_(rows, cols)]
                    guess = truth - r[np.ix_(rows, cols)]
                    if len(cols) == 1:
                        truth, guess = truth[:, 0], guess[:, 0]
                    scores[k, c, f] = scorer(_Identity(), guess, truth)
        mean = scores.mean(axis=2)
        best_kernel, best, choice = -1, -np.inf, None
        for kernel in range(int(kernels.max()) + 1):
            mine = np.flatnonzero(kernels == kernel)
            part = mean[mine]
            if np.isnan(part).all(axis=0).any():
                continue
            # Equal scores: the larger penalty, as the library has it.
            picks = [mine[max((s, alphas[i], j) for j, (s, i) in enumerate(zip(part[:, c], mine, strict=True)) if not np.isnan(s))[2]] for c in range(len(columns))]  # fmt: skip
            value = float(np.mean([mean[i, c] for c, i in enumerate(picks)]))
            if value > best:
                best_kernel, best, choice = kernel, value, picks
        if choice is None:
            raise ValueError("no candidate has a score: every one was abandoned or scored NaN")
        chosen = np.array([alphas[i] for i in choice])
        alpha = np.ascontiguousarray(chosen if self.alpha_per_target else np.broadcast_to(chosen, (Y.shape[1],)))
        return best_kernel, alpha, best, mean.mean(axis=1), scores.mean(axis=1)

    def _keep(self, result: Any, scores: np.ndarray, splits: np.ndarray) -> None:
        kernels = [wrap(k) for k in result.kernels]
        texts = np.array([str(kernels[int(k)]) for k in result.kernel], dtype=object)
        filled = np.where(np.isnan(scores), -np.inf, scores)
        out: dict[str, Any] = {
            "params": [{"kernel": k, "alpha": float(a)} for k, a in zip(texts, result.alpha, strict=True)],
            "param_alpha": result.alpha,
            "param_kernel": texts,
            "mean_test_score": scores,
            "rank_test_score": np.array([1 + int((filled > s).sum()) for s in filled], dtype=np.int32),
            "abandoned": result.valid == 0,
            "note": result.notes,
        }
        if self.cv is not None or splits.shape[1] > 1:
            out["std_test_score"] = splits.std(axis=1)
            out.update({f"split{f}_test_score": splits[:, f] for f in range(splits.shape[1])})
        if not np.isnan(result.gcv).all():
            out.update(
                mean_squared_error=result.loo, gcv=result.gcv, log_evidence=result.log_evidence, degrees_of_freedom=result.degrees_of_freedom
            )
        self.cv_results_ = out

    def _model_for_file(self) -> Any:
        """What mercer.save writes: always with what intervals need, as ``mercer fit krr --alphas`` does, unless memory is too short."""
        try:
            return self._interval_model((_run.threads(self.n_jobs), _run.memory_bytes(self.memory), None))
        except MemoryError:
            return self.model_

    # -- a picture

    def plot_path(self, ax: Any = None) -> Any:
        """The scores over alpha, one line per kernel, and the choice, as :func:`mercer.plot.path` draws them. Returns the axes."""
        from . import plot

        return plot.path(self, kind="lines", ax=ax)
