"""Gaussian process regression with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import Kernel as ScikitKernel
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array

from . import _data, _estimators, _mercer, _process_kernels, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from .kernels import Gaussian

__all__ = ["GaussianProcessRegressor"]

_DEFAULT_BOUNDS = (1e-5, 1e5)


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Gaussian process regression: y_i = f(x_i) + noise, f a Gaussian process with covariance ``kernel``.

    A twin of :class:`sklearn.gaussian_process.GaussianProcessRegressor` with the same parameters, defaults and attributes, and some more.

    Parameters
    ----------
    kernel : text, mercer.Kernel, kernel of scikit-learn or callable, optional
        The covariance, such as ``"1*gaussian([1, 1]) + white(0.1)"``. None is 1*gaussian(1). Kernels of
        sklearn.gaussian_process become Mercer's, with their bounds.
    alpha : float or array of one number per sample, default 1e-10
        Variance of the noise, added to the diagonal. Of an array, new observations are taken to have the mean.
    optimizer : "fmin_l_bfgs_b", callable or None, default "fmin_l_bfgs_b"
        How the kernel's parameters maximise the objective: L-BFGS with analytic gradients, a function with scikit-learn's signature
        ``optimizer(obj_func, initial_theta, bounds)``, or not at all.
    n_restarts_optimizer : int, default 0
        Further searches, from parameters drawn log-uniformly within the bounds, in parallel; the best is kept.
    normalize_y : bool, default False
        Targets to mean 0 and variance 1 first; predictions are in their own units.
    copy_X_train : bool, default True
        The model keeps a copy of X; False lets it share the array, which must then not change.
    n_targets : int, optional
        Targets of a prior, before fit.
    random_state : int, RandomState or None
        Of the restarts.
    objective : "marginal" or "loo", default "marginal"
        The log marginal likelihood, or the leave-one-out log likelihood.
    optimize_noise : bool, default False
        Choose alpha by the objective too (of an array, a factor common to all), from the given value; ``noise_`` has the result.
    fixed : sequence of str, default ()
        Names of parameters that stay: "factor", "gaussian.length_scale", "matern.length_scale[2]", "white.variance", ...
    bounds : (low, high) or one pair for each of the kernel's parameters (then of alpha, where it is optimised), optional
        Where parameters may go; (1e-5, 1e5) by default. Equal ends: it stays.
    n_jobs, memory, verbose
        Threads, memory budget and progress bar, as every estimator has them.

    Attributes
    ----------
    kernel_ : the kernel with the parameters that were found.
    alpha_ : coefficients of k(x_i, .), of y's shape; L_ : the Cholesky factor; X_train_, y_train_ : what it was fitted on, y normalised.
    log_marginal_likelihood_value_ : at those parameters; noise_ : variance of the noise, a number or one per sample.
    theta_ : logarithms of the parameters that are free, what log_marginal_likelihood takes.
    summary_ : how the parameters were found; prints as one sentence.
    model_ : the compiled model; ``model_.decision(x)`` predicts without validation.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> gp = mercer.GaussianProcessRegressor("1*gaussian(1) + white(0.1)", normalize_y=True).fit(X, y)
    >>> mean, std = gp.predict([[1.0], [20.0]], return_std=True)
    >>> bool(std[1] > std[0])
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: Any = 1e-10,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Any = None,
        objective: str = "marginal",
        optimize_noise: bool = False,
        fixed: Iterable[str] = (),
        bounds: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.objective = objective
        self.optimize_noise = optimize_noise
        self.fixed = fixed
        self.bounds = bounds
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        tags.requires_fit = False  # before fit it predicts from the prior, as its twin does
        return tags

    # -- parameters

    def _kernel_and_bounds(self, n_features: int) -> tuple[Kernel, list[tuple[float, float]]]:
        k = self.kernel
        own: list[tuple[float, float]] = []
        if k is None:
            k = 1.0 * Gaussian(1.0)
        elif isinstance(k, ScikitKernel):
            k, own = _process_kernels.converted(k, n_features)
        elif isinstance(k, str) and k in PAIRWISE_KERNEL_FUNCTIONS:
            k = _scikit._word(k, None, 3, 1, n_features)
        elif isinstance(k, str | Kernel):
            k = _scikit.make_kernel(k)
        elif callable(k):
            k = _scikit._callable(k, {})
        else:
            raise ValueError(f"kernel must be text, a mercer.Kernel, a kernel of scikit-learn or a callable, got {k!r}")
        if self.bounds is not None:
            return k, _pairs(self.bounds)
        return k, [*own, _DEFAULT_BOUNDS] if own and self.optimize_noise else own

    def _noise(self, n: int) -> np.ndarray:
        try:
            noise = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"alpha must be a number >= 0, or one per sample, got {self.alpha!r}") from None
        if noise.ndim != 1 or noise.size not in (1, n):
            raise ValueError(f"alpha must be a number, or one for each of the {n} samples, got shape {noise.shape}")
        return np.ascontiguousarray(noise)

    def _check_options(self) -> None:
        if self.objective not in ("marginal", "loo"):
            raise ValueError(f'objective must be "marginal" or "loo", got {self.objective!r}')
        if not (self.optimizer is None or self.optimizer == "fmin_l_bfgs_b" or callable(self.optimizer)):
            raise ValueError(f'optimizer must be "fmin_l_bfgs_b", a callable or None, got {self.optimizer!r}')
        if not isinstance(self.n_restarts_optimizer, Integral) or self.n_restarts_optimizer < 0:
            raise ValueError(f"n_restarts_optimizer must be a whole number >= 0, got {self.n_restarts_optimizer!r}")
        if self.n_targets is not None and (not isinstance(self.n_targets, Integral) or self.n_targets < 1):
            raise ValueError(f"n_targets must be a whole number >= 1, or None, got {self.n_targets!r}")
        if isinstance(self.fixed, str):
            raise ValueError(f"fixed must be a sequence of names, got the text {self.fixed!r}")

    # -- fit and predict

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets)."""
        self._check_options()
        X, y = _validation.validate(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=_estimators.FLOATS,
            order="C",
            copy=bool(self.copy_X_train),
            multi_output=True,
            y_numeric=True,
        )
        Y = _estimators.targets(y)
        if self.n_targets is not None and Y.shape[1] != self.n_targets:
            raise ValueError(f"y has {Y.shape[1]} targets, but n_targets is {self.n_targets}")
        k, bounds = self._kernel_and_bounds(X.shape[1])
        native = k._at_columns(getattr(self, "feature_names_in_", None))
        rows = _estimators.training_rows(native, X)
        self._X_fit = X if native.needs_given_gram else None
        # A kernel with automatic length scales has parameters only when it knows the data.
        native = _mercer.resolve(native, rows)
        noise = self._noise(len(Y))
        self._fixed, self._bounds, self._is_flat = list(self.fixed), bounds, y.ndim == 1 or y.shape[1] == 1
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.n_restarts_optimizer > 0 else 0
        self.model_, at_bound = self._fitted_model(rows, Y, native, noise, seed)
        self._y_train = ((Y - self.model_.target_mean) / self.model_.target_scale).reshape(y.shape)
        self._warn(at_bound)
        return self

    def _warn(self, at_bound: list[str]) -> None:
        if at_bound:
            warnings.warn(
                f"{', '.join(at_bound)} ended at a bound: wider bounds may find better parameters, bounds with equal ends or fixed keep them",
                ConvergenceWarning,
                stacklevel=3,
            )
        summary = self.model_.summary
        if not summary.converged:
            warnings.warn(f"the search for parameters stopped, because {summary.status}: {summary}", ConvergenceWarning, stacklevel=3)

    def _fitted_model(self, rows: Any, Y: np.ndarray, native: Any, noise: np.ndarray, seed: int) -> tuple[Any, list[str]]:
        at_bound: list[str] = []
        searches = self.optimizer == "fmin_l_bfgs_b"
        if callable(self.optimizer):
            native, noise, at_bound = self._by_callable(rows, Y, native, noise, seed)
        with _run.progress(self.verbose) as bar:
            model = _mercer.fit_gaussian_process(
                rows,
                Y,
                native,
                noise,
                searches,
                bool(self.optimize_noise) and searches,
                self._fixed if searches else [],
                self._bounds if searches else [],
                self.objective == "loo",
                int(self.n_restarts_optimizer),
                seed,
                bool(self.normalize_y),
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        return model, at_bound or model.summary.at_bound

    def _by_callable(self, rows: Any, Y: np.ndarray, native: Any, noise: np.ndarray, seed: int) -> tuple[Any, np.ndarray, list[str]]:
        if self.normalize_y:
            scale = np.std(Y, axis=0)
            Y = np.ascontiguousarray((Y - Y.mean(axis=0)) / np.where(scale > 0, scale, 1.0))
        free = _Free(wrap(native), noise, self._fixed, self._bounds, bool(self.optimize_noise))

        def negative(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            try:
                value, gradient = self._objective(rows, Y, free, theta)
            except ValueError:  # no covariance there
                value, gradient = -np.inf, np.zeros(len(theta))
            return (-value, -gradient) if eval_gradient else -value

        limits = np.log(free.limits)
        random = np.random.RandomState(seed)
        starts = [free.start] + [random.uniform(limits[:, 0], limits[:, 1]) for _ in range(self.n_restarts_optimizer)]
        found = [self.optimizer(negative, start, limits) for start in starts]  # type: ignore[operator,misc]
        theta = np.asarray(min(found, key=lambda pair: pair[1])[0])
        close = np.isclose(theta[:, None], limits).any(axis=1)
        return *free.at(theta), [name for name, there in zip(free.names, close, strict=True) if there]

    def _objective(self, rows: Any, Y: np.ndarray, free: _Free, theta: Any, loo: bool | None = None) -> tuple[float, np.ndarray]:
        native, noise = free.at(theta)
        leave_one_out = self.objective == "loo" if loo is None else loo
        return _mercer.gaussian_process_likelihood(
            rows,
            Y,
            native,
            noise,
            free.noise_is_free,
            free.fixed,
            free.bounds,
            leave_one_out,
            _run.threads(self.n_jobs),
            _run.memory_bytes(self.memory),
        )

    def _rows(self, X: Any) -> Any:
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        rows = _data.samples(X)
        return _mercer.Samples.given_rows(rows) if self.model_.samples.is_given else rows

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, interval: float | None = None) -> Any:
        """The mean at rows X, with its standard deviation, covariance or intervals if asked for; before fit, those of the prior.

        With several targets the mean and the standard deviation are (n, targets), the covariance (n, n, targets). The standard deviation has
        the kernel's white noise in it, but not alpha, as in scikit-learn.

        With ``interval`` = 0.9, say, returns (mean, intervals) after fit: where a new observation falls with that probability, noise
        included. Intervals have a last axis of length two, lower and upper end: (n, 2), or (n, targets, 2).
        """
        if return_std and return_cov:
            raise RuntimeError("at most one of return_std and return_cov can be asked for")
        if interval is not None:
            if return_std or return_cov:
                raise RuntimeError("an interval comes with the mean alone: not with return_std or return_cov")
            mean, lower, upper = self._interval(X, _estimators.level(interval))
            return mean, np.stack([lower, upper], axis=-1)
        if not self.__sklearn_is_fitted__():
            return self._prior(X, return_std, return_cov)
        rows, run = self._rows(X), (_run.threads(self.n_jobs), _run.memory_bytes(self.memory))
        with _run.progress(self.verbose) as bar:
            if return_std:
                mean, variance = self.model_.predict_with_variance(rows, *run, bar)
                return self._shaped(mean), self._shaped(np.sqrt(variance))
            mean = self._shaped(self.model_.predict(rows, *run, bar))
            if not return_cov:
                return mean
            covariance = self.model_.covariance(rows, *run, bar)
        return mean, covariance[0] if self._is_flat else np.stack(covariance, axis=-1)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that hold a new observation with probability ``level``: those of ``predict(X, interval=level)``."""
        return self._interval(X, _estimators.level(level, "level"))[1:]

    def _interval(self, X: Any, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if "model_" not in self.__dict__:  # the prior has no intervals of observations
            raise NotFittedError("intervals need a fitted GaussianProcessRegressor: call fit first")
        rows = self._rows(X)
        with _run.progress(self.verbose) as bar:
            mean, lower, upper = self.model_.predict_interval(rows, level, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
        return self._shaped(mean), self._shaped(lower), self._shaped(upper)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws of the process at rows X, (n, n_samples) or (n, targets, n_samples); before fit, of the prior."""
        if not isinstance(n_samples, Integral) or n_samples < 0:
            raise ValueError(f"n_samples must be a whole number >= 0, got {n_samples!r}")
        random = check_random_state(random_state)
        if not self.__sklearn_is_fitted__():
            mean, covariance = self._prior(X, False, True)
            targets = [covariance] if covariance.ndim == 2 else list(np.moveaxis(covariance, -1, 0))
            drawn = [random.multivariate_normal(np.zeros(len(c)), c, int(n_samples)).T for c in targets]
            return drawn[0] if mean.ndim == 1 else np.stack(drawn, axis=1)
        seed = int(random.randint(2**31 - 1))
        drawn = self.model_.sample(self._rows(X), int(n_samples), seed, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), None)
        return drawn[0] if self._is_flat else np.stack(drawn, axis=1)

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        self._check_options()
        X = _data.rows(X) if _data.looks_structured(X) else check_array(X, accept_sparse="csr", dtype=_estimators.FLOATS)
        k, _ = self._kernel_and_bounds(X.shape[1])
        if k.has_auto:
            k = k.resolve(X)
        targets = self.n_targets or 1
        mean = np.zeros(len(X) if targets == 1 else (len(X), targets))
        if return_std:
            deviation = np.sqrt(k.diag(X))
            return mean, deviation if targets == 1 else np.repeat(deviation[:, None], targets, axis=1)
        if return_cov:
            covariance = k(X)
            return mean, covariance if targets == 1 else np.repeat(covariance[:, :, None], targets, axis=2)
        return mean

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """The log marginal likelihood at the logarithms of the free parameters, and its gradient; None: at the fitted ones.

        The order is that of ``kernel_.parameters``, fixed ones left out, then that of alpha where it is optimised. ``clone_kernel`` is
        scikit-learn's: kernels here never change.
        """
        model = self._fitted("log_marginal_likelihood")
        if theta is None:
            if eval_gradient:
                raise ValueError("a gradient is with respect to theta: give one, such as theta_")
            return model.summary.log_marginal_likelihood
        free = self._free()
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != free.start.shape:
            raise ValueError(f"theta must have {len(free.start)} numbers ({', '.join(free.names) or 'nothing is free'}), got shape {theta.shape}")
        rows = model.samples
        if self._X_fit is not None:
            rows = _mercer.Samples.given_gram(_data.samples(self._X_fit))
        try:
            value, gradient = self._objective(rows, _estimators.targets(self.y_train_), free, theta, loo=False)
        except ValueError as error:
            if "not positive definite" not in str(error):
                raise
            value, gradient = -np.inf, np.zeros_like(theta)
        return (value, gradient) if eval_gradient else value

    # -- fitted attributes, read from the model

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._is_flat else values

    def _free(self) -> _Free:
        noise = self.model_.noise
        return _Free(self.kernel_, noise, self._fixed, self._bounds, bool(self.optimize_noise))

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this GaussianProcessRegressor has no {name} before fit")
        return model

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def alpha_(self) -> np.ndarray:
        coef = self._fitted("alpha_").dual_coef
        return coef.reshape(self.y_train_.shape)

    @property
    def noise_(self) -> float | np.ndarray:
        noise = self._fitted("noise_").noise
        return float(noise[0]) if len(noise) == 1 else noise

    @property
    def theta_(self) -> np.ndarray:
        self._fitted("theta_")
        return self._free().start

    @property
    def L_(self) -> np.ndarray:
        return self._fitted("L_").factor(_run.threads(self.n_jobs), _run.memory_bytes(self.memory))

    @property
    def X_train_(self) -> Any:
        model = self._fitted("X_train_")
        if self._X_fit is not None:
            return self._X_fit
        if model.samples.is_given:
            raise AttributeError("a model file does not keep the Gram matrix that a model was fitted on")
        return _data.to_numpy(model.samples)

    @property
    def y_train_(self) -> np.ndarray:
        model = self._fitted("y_train_")
        if self._y_train is None:  # from a file: (K + noise) times the coefficients
            L = self.L_
            y = L @ (L.T @ model.dual_coef)
            self._y_train = y[:, 0] if self._is_flat else y
        return self._y_train

    @property
    def log_marginal_likelihood_value_(self) -> float:
        return self._fitted("log_marginal_likelihood_value_").summary.log_marginal_likelihood

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary


class _Free:
    """Which parameters of a kernel (and alpha) are free, and the kernel at their logarithms."""

    def __init__(self, kernel: Kernel, noise: np.ndarray, fixed: list[str], bounds: list[tuple[float, float]], with_noise: bool) -> None:
        self.kernel, self.noise, self.fixed, self.bounds, self.noise_is_free = kernel, noise, fixed, bounds, with_noise
        names = [name for name, _ in kernel.parameters] + ["alpha"] * with_noise
        values = [value for _, value in kernel.parameters] + [float(noise[0]) if len(noise) == 1 else 1.0] * with_noise
        pairs = list(bounds) if len(bounds) > 1 else [bounds[0] if bounds else _DEFAULT_BOUNDS] * len(names)
        if len(pairs) != len(names):
            raise ValueError(f"{len(pairs)} bounds for {len(names)} parameters of {kernel}: give one for all, or one each")
        held = [any(name == f or name.startswith(f + "[") for f in fixed) for name in names]
        self.places = [j for j, (low, high) in enumerate(pairs) if low < high and not held[j]]
        self.names = [names[j] for j in self.places]
        self.values = values
        self.start = np.log([values[j] for j in self.places]) if self.places else np.empty(0)
        self.limits = np.array([pairs[j] for j in self.places]).reshape(-1, 2)

    def at(self, theta: Any) -> tuple[Any, np.ndarray]:
        values = list(self.values)
        for j, t in zip(self.places, theta, strict=True):
            values[j] = float(np.exp(t))
        count = len(self.kernel.parameters)
        noise = self.noise
        if self.noise_is_free:
            noise = np.array([values[-1]]) if len(noise) == 1 else values[-1] * noise
        return self.kernel.with_parameters(values[:count])._native, noise


def _pairs(bounds: Any) -> list[tuple[float, float]]:
    try:
        pairs = np.atleast_2d(np.asarray(bounds, dtype=np.float64))
    except (TypeError, ValueError):
        pairs = np.empty((0, 0))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
        raise ValueError(f"bounds must be a pair (low, high), or one for each parameter, got {bounds!r}")
    return [(float(low), float(high)) for low, high in pairs]
