"""Ridge regression and classification on random Fourier features, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from ._random_fourier import count, draw_of, is_cosine, kernel_of
from .datasets import _seed

__all__ = ["RandomFeatureRidge", "RandomFeatureRidgeClassifier"]

_MAP_PARAMETERS = ("kernel", "gamma", "n_components", "form", "orthogonal")  # that running sums depend on


class _RandomFeatureModel(BaseEstimator):
    """What the regressor and the classifier share: running sums that take in rows, and a model solved from them when it is asked for."""

    _sums: Any
    _model: Any

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | str | None = None,
        n_components: int = 1000,
        form: str = "auto",
        orthogonal: bool | str = False,
        lambda_: float | None = None,
        fit_intercept: bool = True,
        validation_fraction: float = 0.0,
        precision: str | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.form = form
        self.orthogonal = orthogonal
        self.lambda_ = lambda_
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.precision = precision
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(self, X: Any, Y: np.ndarray, weight: np.ndarray, afresh: bool) -> None:
        """Rows into the sums; the first ones draw the map."""
        if self.precision not in (None, "float32", "float64"):
            raise ValueError(f'precision must be "float32", "float64" or None, got {self.precision!r}')
        if isinstance(self.validation_fraction, bool) or not isinstance(self.validation_fraction, Real) or not 0 <= self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must be a number in [0, 1), got {self.validation_fraction!r}")
        alpha = _estimators.penalties(self.alpha, self.lambda_, Y.shape[1])
        how = _run.threads(self.n_jobs), _run.memory_bytes(self.memory)
        rows = _data.samples(X)
        if afresh:
            self._map_parameters = {name: str(getattr(self, name)) for name in _MAP_PARAMETERS}
        with _run.progress(self.verbose) as bar:
            if not afresh:
                self._sums.accumulate(rows, Y, weight, *how, bar)
            else:
                self._sums = _mercer.random_feature_sums(
                    rows,
                    Y,
                    kernel_of(self, X, None)._at_columns(getattr(self, "feature_names_in_", None)),
                    count(self.n_components, "n_components"),
                    is_cosine(self.form, self.n_components),
                    draw_of(self.orthogonal),
                    _seed(self.random_state),
                    alpha,
                    None if self.lambda_ is None else float(self.lambda_),
                    weight,
                    float(self.validation_fraction),
                    None if self.precision is None else self.precision == "float32",
                    *how,
                    bar,
                )
        self._model = None

    def _continues(self) -> bool:
        """Whether rows were seen before; those of a model from a file were not kept."""
        if self.__dict__.get("_sums") is None and self.__dict__.get("_model") is not None:
            raise ValueError("a model from a file has no running sums to add rows to: fit it, or partial_fit a new estimator")
        if self.__dict__.get("_sums") is None:
            return False
        changed = [name for name, value in self.__dict__.get("_map_parameters", {}).items() if str(getattr(self, name)) != value]
        if changed:
            raise ValueError(f"{' and '.join(changed)} changed since the first rows, which fixed the features: fit anew, or set it back")
        return True

    @property
    def model_(self) -> Any:
        """The compiled model of all rows seen so far; solved when it is first asked for."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no model_ before fit")
        if self._model is None:
            alpha = _estimators.penalties(self.alpha, self.lambda_, self._sums.targets)
            with _run.progress(self.verbose) as bar:
                self._model = self._sums.solve(
                    alpha,
                    None if self.lambda_ is None else float(self.lambda_),
                    bool(self.fit_intercept),
                    _run.threads(self.n_jobs),
                    _run.memory_bytes(self.memory),
                    bar,
                )
        return self._model

    def _solved(self) -> Any:
        """After fit nothing is left to do, and what is wrong is said there."""
        _ = self.model_
        return self

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        model = self.model_
        with _run.progress(self.verbose) as bar:
            return model.predict(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)

    def hoeffding_bound(self, confidence: float = 0.95, *, n_samples: int = 2) -> float:
        """As :meth:`RandomFourierFeatures.hoeffding_bound`: how far the features' products may be from the kernel."""
        check_is_fitted(self)
        return self.model_.features.hoeffding_error(float(confidence), count(n_samples, "n_samples"))

    # -- fitted attributes, read from the model

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_sums") is not None or self.__dict__.get("_model") is not None

    @property
    def kernel_(self) -> Kernel:
        return wrap(self.model_.kernel)

    @property
    def summary_(self) -> Any:
        return self.model_.summary

    @property
    def held_out_rmse_(self) -> Any:
        """Root mean square error on the held-out rows, per target, of the same fit without them; NaN without such rows."""
        return self._per_target(self.summary_.held_out_rmse)

    @property
    def held_out_r2_(self) -> Any:
        return self._per_target(self.summary_.held_out_r2)

    def _per_target(self, values: np.ndarray) -> Any:
        if not len(values):
            values = np.full(len(self.model_.intercept), np.nan)
        return float(values[0]) if len(values) == 1 else values


_PARAMETERS = """
    Parameters
    ----------
    alpha : float{per_target}, default 1.0
        The penalty on the squared norm of the coefficients; alpha = n * lambda.
    kernel : str or mercer.Kernel, default "rbf"
        As in :class:`RandomFourierFeatures`: "rbf" and "laplacian" with gamma, or an expression.
    gamma : float, "scale" or None
        Of scikit-learn's words; None is 1 / n_features.
    n_components : int, default 1000
        Number of random features.
    form, orthogonal : as in :class:`RandomFourierFeatures`.
    lambda_ : float, optional
        The penalty per row, alpha / n; overrides alpha.
    fit_intercept : bool, default True
        Fit a constant, without penalty.
    validation_fraction : float, default 0
        Of the rows, drawn by random_state: held_out_rmse_ is the error on them of the same fit without them. The model still learns from all.{more}
    precision : "float32", "float64" or None
        Of the features and their products; sums are float64. None is float32 if rows times components (of the first call of partial_fit)
        are 1e7 or more and alpha is at least 1e-8 n, else float64.
    random_state : int, RandomState, Generator or None
        Seed of the features and of the held-out rows.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    coef_ : coefficients of the features, {coef}.
    intercept_ : {intercept}.
    kernel_ : the kernel used, with automatic length scales resolved.
    held_out_rmse_, held_out_r2_ : on the held-out rows, {held_out}NaN without any.
    summary_ : how the normal equations were solved; prints as one sentence.
    model_ : the compiled model; ``model_.decision(x)`` predicts without validation.
    n_features_in_, feature_names_in_ : as scikit-learn has them.
"""


class RandomFeatureRidge(MultiOutputMixin, RegressorMixin, _RandomFeatureModel):
    __doc__ = (
        """Ridge regression on random Fourier features: kernel ridge regression for very many rows.

    Minimises sum_i w_i (y_i - z(x_i)'c - b)^2 + alpha |c|^2 in one pass over the rows; memory does not grow with them. ``partial_fit`` takes
    in more rows; the model is solved when it is next asked for.
"""
        + _PARAMETERS.format(per_target=" or array of one number per target", more="", coef="(n_components,) or (targets, n_components)",
                             intercept="a number, or one per target", held_out="a number or one per target; ")
        + """
    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFeatureRidge
    >>> X = np.random.RandomState(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> RandomFeatureRidge(0.01, gamma=1.0, n_components=200, random_state=0).fit(X, y).score(X, y) > 0.999
    True
    """
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomFeatureRidge:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets), forgetting what was seen before."""
        self._add(X, y, sample_weight, afresh=True)
        return self._solved()

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomFeatureRidge:
        """Take in more rows. The first ones fix the features (an automatic length scale is theirs) and the number of targets."""
        return self._add(X, y, sample_weight, afresh=not self._continues())

    def _add(self, X: Any, y: Any, sample_weight: Any, afresh: bool) -> RandomFeatureRidge:
        X, y = _validation.numbers(
            self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, multi_output=True, y_numeric=True, reset=afresh
        )
        self._take(X, _estimators.targets(y), _estimators.weights(sample_weight, X), afresh)
        if afresh:
            self._single_target = y.ndim == 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for rows X: (n,), or (n, targets) if y had two dimensions."""
        f = self._scores(X)
        return f[:, 0] if self._single_target else f

    @property
    def coef_(self) -> np.ndarray:
        coef = self.model_.coef.T
        return coef[0] if self._single_target else coef

    @property
    def intercept_(self) -> float | np.ndarray:
        b = self.model_.intercept
        return float(b[0]) if self._single_target else b


class RandomFeatureRidgeClassifier(ClassifierMixin, _RandomFeatureModel):
    __doc__ = (
        """Classification by ridge regression on random Fourier features, of -1 and +1 for each class against the rest.

    As :class:`sklearn.linear_model.RidgeClassifier` on the features of :class:`RandomFourierFeatures`, in one pass and with ``partial_fit``.
"""
        + _PARAMETERS.format(per_target="", more="""
    class_weight : dict, "balanced" or None
        Weights of the classes; "balanced" is n / (classes * rows of the class), for fit alone.""", coef="(1 or classes, n_components)",
                             intercept="(1 or classes,)", held_out="of the scores; ")
        + """    classes_ : the labels.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(random_state=0)
    >>> mercer.RandomFeatureRidgeClassifier(0.1, gamma=2.0, n_components=200, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """
    )

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | str | None = None,
        n_components: int = 1000,
        form: str = "auto",
        orthogonal: bool | str = False,
        lambda_: float | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        validation_fraction: float = 0.0,
        precision: str | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            alpha,
            kernel=kernel,
            gamma=gamma,
            n_components=n_components,
            form=form,
            orthogonal=orthogonal,
            lambda_=lambda_,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            precision=precision,
            n_jobs=n_jobs,
            memory=memory,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomFeatureRidgeClassifier:
        """Fit to rows X (n x features, dense or sparse) and labels y, forgetting what was seen before."""
        self._add(X, y, None, sample_weight, afresh=True, weight=self.class_weight)
        return self._solved()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> RandomFeatureRidgeClassifier:
        """Take in more rows. The first call needs all classes that will ever come."""
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" needs all rows at once: give sample_weight, or a dict of class weights')
        afresh = not self._continues()
        if afresh and classes is None:
            raise ValueError("classes must be given to the first call of partial_fit: all labels that will ever come")
        if not afresh and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes are {self.classes_.tolist()} since the first call of partial_fit, got {np.unique(classes).tolist()}")
        return self._add(X, y, classes, sample_weight, afresh, self.class_weight)

    def _add(self, X: Any, y: Any, classes: Any, sample_weight: Any, afresh: bool, weight: Any) -> RandomFeatureRidgeClassifier:
        X, y = _validation.numbers(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, reset=afresh)
        check_classification_targets(y)
        known = (np.unique(y if classes is None else classes)) if afresh else self.classes_
        _estimators.require_two_classes(known)
        place = np.searchsorted(known, y)
        unknown = (place == len(known)) | (known[np.minimum(place, len(known) - 1)] != y)
        if unknown.any():
            raise ValueError(f"the label {_estimators.shown(y[unknown])[0]} is not among the classes {known.tolist()}")
        w = _estimators.weights(sample_weight, X)
        if weight is not None:
            of_class = compute_sample_weight(weight, y)
            w = of_class if not len(w) else w * of_class
        Y = np.where(place[:, None] == np.arange(len(known)), 1.0, -1.0)
        self._take(X, np.ascontiguousarray(Y[:, 1:] if len(known) == 2 else Y), w, afresh)
        self.classes_ = known
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        f = self._scores(X)
        return f[:, 0] if len(self.classes_) == 2 else f

    def predict(self, X: Any) -> np.ndarray:
        """The label with the largest score."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    @property
    def coef_(self) -> np.ndarray:
        return self.model_.coef.T

    @property
    def intercept_(self) -> np.ndarray:
        return self.model_.intercept
