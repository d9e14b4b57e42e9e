"""Models in files, shared with the command line."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from . import _callbacks, _data, _estimators, _mercer, _run
from ._errors import FileMissing
from ._falkon import FalkonClassifier, FalkonRegressor
from ._gaussian_process import GaussianProcessRegressor
from ._kernel import wrap
from ._kernel_kmeans import KernelKMeans
from ._kernel_logistic import KernelLogisticRegression
from ._kernel_mean import KernelMeanClassifier
from ._kernel_ridge import KernelRidge
from ._linear_svc import LinearSVC
from ._kernel_sgd import KernelSGDClassifier
from ._random_features import RandomFeatureRidge, RandomFeatureRidgeClassifier
from ._representer import RepresenterRegressor
from ._ridge import Ridge
from ._svc import SVC, NuSVC
from ._svr import SVR, NuSVR, OneClassSVM
from ._structured_svm import StructuredSVM
from ._kernel_maps import EmpiricalKernelMap, MercerMap
from ._nystroem import Nystroem
from ._random_fourier import RandomFourierFeatures
from ._mean_matching import KernelMeanMatching
from ._monomials import Monomials
from ._sketches import AdditiveChi2Sampler, TensorSketch
from ._shown import Shown
from ._spectral_clustering import SpectralClustering
from ._kernel_pca import KernelPCA
from ._pca import PCA

__all__ = ["TableModel", "info", "load", "save"]

# Models that can be classifiers by themselves; of the others a classifier is a TableModel, which knows the labels.
_CLASSIFIERS = (
    _mercer.FalkonModel,
    _mercer.KernelLogisticModel,
    _mercer.RandomFeatureRidgeModel,
    _mercer.LinearSvcModel,
    _mercer.KernelSGDModel,
    _mercer.KernelMeanModel,
    _mercer.SvcModel,
    _mercer.StructuredSvmModel,
)
_MODELS = (
    *_CLASSIFIERS,
    _mercer.GaussianProcessModel,
    _mercer.KernelRidgeModel,
    _mercer.RepresenterModel,
    _mercer.RidgeModel,
    _mercer.SvrModel,
    _mercer.OneClassModel,
    _mercer.KernelKMeansModel,
    _mercer.PcaModel,
    _mercer.KernelPcaModel,
)

_MAPS = (_mercer.NystromMap, _mercer.FourierMap, _mercer.KernelMap, _mercer.TensorSketchMap)
_WITHOUT_FILE = (AdditiveChi2Sampler, KernelMeanMatching, Monomials, SpectralClustering)


def _existing(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileMissing(errno.ENOENT, "there is no such model file", name)
    return name


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file, which Mercer's command line reads too. An interrupted save leaves nothing.

    Files of KernelRidgeCV, and of KernelRidge with ``intervals=True`` or after ``predict(X, interval=...)``, have what intervals need.
    Of KernelPCA it keeps the components: without the ridge map of ``fit_inverse_transform`` the loaded one goes back by pre-images.
    A file holds no code: of a kernel function or a feature map it has the name, and ``load`` is given the function.

    >>> import os, tempfile
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(mercer.KernelRidge(kernel="gaussian(1)").fit(X, y), path)
    >>> os.path.getsize(path) > 0
    True
    """
    name = os.fspath(path)
    if isinstance(model, TableModel):
        _mercer.save_saved(model._saved, name)
        return
    if isinstance(model, _WITHOUT_FILE):
        raise ValueError(f"{type(model).__name__} has no model file; pickle keeps it")
    if isinstance(model, StructuredSVM) and not isinstance(model.model, str):
        raise ValueError("a StructuredSVM with a problem of your own has no model file, which holds no code; pickle keeps it")
    native = getattr(model, "model_", getattr(model, "map_", None))
    if isinstance(model, KernelRidge) and native is not None:
        native = model._model_for_file()
    if not isinstance(native, _MODELS + _MAPS):
        raise ValueError(f"only a fitted estimator of Mercer can be saved, got {model!r}")
    if isinstance(model, KernelPCA) and "_inverse" in model.__dict__:
        warnings.warn(
            "the file keeps the components only, not the ridge map of fit_inverse_transform: the loaded estimator goes back by pre-images; "
            "pickle keeps both",
            UserWarning,
            stacklevel=2,
        )
    names = getattr(model, "feature_names_in_", None)
    labels = getattr(model, "classes_", None)
    _mercer.save_model(
        native, None if names is None else [str(n) for n in names], name, None if labels is None else [str(label) for label in labels.tolist()]
    )


def load(path: str | os.PathLike[str], library: Mapping[str, Any] | None = None) -> Any:
    """Read a model file: an estimator, or a TableModel where the model brings its own scaling, categories or class labels.

    ``library`` has the kernel functions, feature maps and decompositions that the model's kernel names, as in :func:`mercer.kernel`.

    >>> import os, tempfile
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(mercer.KernelRidge(kernel="gaussian(1)").fit(X, y), path)
    >>> mercer.load(path).kernel_
    Gaussian(length_scale=1.0)
    """
    name = _existing(path)
    kernel = info(name).get("kernel", "") if library else ""  # says which of the functions are decompositions
    saved = _mercer.load_model(name, _callbacks.library(library, kernel))
    has_labels = saved.only_labels and isinstance(saved.model, _CLASSIFIERS)
    return _estimator(saved) if has_labels or not saved.changes_values else TableModel(saved)


def info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model file: version, kind, kernel, options, feature names, summary.

    >>> import os, tempfile
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(mercer.KernelRidge(kernel="gaussian(1)").fit(X, y), path)
    >>> mercer.info(path)["kernel"]
    'gaussian(1)'
    """
    return json.loads(_mercer.model_info(_existing(path)))


def _alpha_of(summary: _mercer.RidgeSummary) -> float:
    """alpha from the filter s / (s^2 + alpha), to rounding: the file of a ridge model does not name it."""
    s, f = summary.singular_values, summary.filter
    if not f.any():
        return 0.0
    j = np.flatnonzero(f)[-1]  # the smallest singular value says most about alpha
    alpha = s[j] / f[j] - s[j] ** 2
    return float(f"{alpha:.12g}") if alpha > 1e-14 * s[j] ** 2 else 0.0


def _gaussian_process(model: _mercer.GaussianProcessModel) -> GaussianProcessRegressor:
    noise = model.noise
    estimator = GaussianProcessRegressor(
        wrap(model.kernel),
        alpha=float(noise[0]) if len(noise) == 1 else noise,
        optimizer=None,
        normalize_y=bool(np.any(model.target_mean != 0) or np.any(model.target_scale != 1)),
    )
    estimator._X_fit = estimator._y_train = None
    estimator._fixed, estimator._bounds = [], []
    estimator._is_flat = model.dual_coef.shape[1] == 1
    return estimator


def _labels(texts: list[str]) -> np.ndarray:
    """Class labels of a file, as numbers where all are."""
    for number in (int, float):
        try:
            return np.asarray([number(text) for text in texts])
        except ValueError:
            pass
    return np.asarray(texts, dtype=object)


def _one_or_all(alpha: np.ndarray) -> Any:
    return alpha if len(set(alpha)) > 1 else float(alpha[0])


def _kernel_ridge(model: _mercer.KernelRidgeModel) -> KernelRidge:
    estimator = KernelRidge(
        _one_or_all(model.alpha),
        kernel=wrap(model.kernel),
        fit_intercept=bool(np.any(model.intercept)),
        precision="float32" if model.is_float32 else None,
    )
    estimator._X_fit = None
    return estimator


def _falkon(model: _mercer.FalkonModel, labels: np.ndarray | None) -> FalkonRegressor | FalkonClassifier:
    make = FalkonRegressor if labels is None else FalkonClassifier
    return make(
        wrap(model.kernel),
        n_landmarks=len(model.dual_coef),
        alpha=model.alpha,
        fit_intercept=bool(np.any(model.intercept)),
        precision="float32" if model.is_float32 else None,
    )


def _random_features(model: _mercer.RandomFeatureRidgeModel, labels: np.ndarray | None) -> RandomFeatureRidge | RandomFeatureRidgeClassifier:
    features = model.features
    make = RandomFeatureRidge if labels is None else RandomFeatureRidgeClassifier
    estimator = make(
        _one_or_all(model.alpha),
        kernel=wrap(model.kernel),
        n_components=features.n_components,
        form="cos" if features.is_cosine else "sincos",
        orthogonal="structured" if features.draw == "structured" else features.draw == "orthogonal",
        fit_intercept=bool(np.any(model.intercept)),
        precision="float32" if model.is_float32 else "float64",
    )
    estimator._model, estimator._sums = model, None
    return estimator


def _said(model: Any, *names: str) -> dict[str, float]:
    """Those of a support vector machine's settings that its file has: LIBSVM models and older files do not say them."""
    return {name: value for name in names if (value := getattr(model, name)) is not None}


def _support_vector_classifier(model: _mercer.SvcModel) -> SVC | NuSVC:
    shared: dict[str, Any] = {"kernel": wrap(model.kernel), "probability": model.has_probabilities, "break_ties": model.break_ties}
    shared["multi_class"] = "ovo" if model.one_vs_one else "ovr"
    if model.by_nu:
        return NuSVC(**shared, **_said(model, "nu"))
    return SVC(**shared, hard_margin=model.hard_margin, fit_intercept=bool(np.any(model.intercept)), **_said(model, "C"))


def _transformer(made: Any) -> Any:
    """The estimator of a feature map."""
    if isinstance(made, _mercer.FourierMap):
        draw = made.draw
        transformer: Any = RandomFourierFeatures(
            made.n_components,
            wrap(made.kernel),
            form="cos" if made.is_cosine else "sincos",
            orthogonal="structured" if draw == "structured" else draw == "orthogonal",
            quasi_random=draw == "quasi",
        )
    elif isinstance(made, _mercer.TensorSketchMap):
        transformer = TensorSketch(gamma=made.scale, degree=made.degree, coef0=made.offset, n_components=made.n_components)
    elif isinstance(made, _mercer.NystromMap):
        transformer = Nystroem(wrap(made.kernel), n_components=len(made.normalization))._with(made)
    elif made.kind == "mercer":
        transformer = MercerMap(made.n_components, wrap(made.kernel))
    else:
        transformer = EmpiricalKernelMap(wrap(made.kernel), whiten=made.kind == "whitened", n_components=made.n_components)
    transformer.map_ = made
    return transformer


def _kernel_pca(model: _mercer.KernelPcaModel) -> KernelPCA:
    estimator = KernelPCA(
        model.n_components,
        kernel=wrap(model.kernel),
        eigen_solver="lowrank" if model.is_low_rank else "auto",
        whiten=(False, True, "map")[model.output],
        center=model.is_centered,
    )
    estimator._X_fit = None
    return estimator


def _estimator(saved: _mercer.SavedModel) -> Any:
    model = saved.model
    if isinstance(model, _MAPS):
        estimator: Any = _transformer(model)
        return _with_columns(estimator, saved)
    labels = None if saved.classes is None else _labels(saved.classes)
    if isinstance(model, _mercer.KernelRidgeModel):
        estimator = _kernel_ridge(model)
    elif isinstance(model, _mercer.GaussianProcessModel):
        estimator = _gaussian_process(model)
    elif isinstance(model, _mercer.FalkonModel):
        estimator = _falkon(model, labels)
    elif isinstance(model, _mercer.RandomFeatureRidgeModel):
        estimator = _random_features(model, labels)
    elif isinstance(model, _mercer.KernelLogisticModel):
        estimator = KernelLogisticRegression(kernel=wrap(model.kernel), lambda_=model.lambda_, fit_intercept=bool(np.any(model.intercept)))
        labels = np.arange(model.n_classes) if labels is None else labels
    elif isinstance(model, _mercer.LinearSvcModel):
        estimator = LinearSVC(loss=model.loss, C=model.C, fit_intercept=bool(np.any(model.intercept)))
    elif isinstance(model, _mercer.KernelSGDModel):
        s = model.summary
        estimator = KernelSGDClassifier(model.lambda_, kernel=wrap(model.kernel), iterations=s.iterations, average=s.output != "last iterate")
        labels = np.arange(model.n_classes) if labels is None else labels
    elif isinstance(model, _mercer.KernelMeanModel):
        parzen = model.is_parzen
        estimator = KernelMeanClassifier(wrap(model.kernel), rule="parzen" if parzen else "nearest", priors=model.priors if parzen else None)
        labels = np.arange(model.n_classes) if labels is None else labels
    elif isinstance(model, _mercer.SvcModel):
        estimator = _support_vector_classifier(model)
        labels = np.arange(model.n_classes) if labels is None else labels
    elif isinstance(model, _mercer.StructuredSvmModel):
        kernel = "linear" if model.is_linear else wrap(model.kernel)
        estimator = StructuredSVM(model.form, C=model.C, kernel=kernel, fit_intercept=bool(np.any(model.intercept)))
        labels = np.arange(model.n_classes) if labels is None and model.form != "ranking" else labels
    elif isinstance(model, _mercer.SvrModel):
        if model.by_nu:
            estimator = NuSVR(kernel=wrap(model.kernel), **_said(model, "C", "nu"))
        else:
            bias = bool(np.any(model.intercept))
            estimator = SVR(kernel=wrap(model.kernel), epsilon=model.epsilon, fit_intercept=bias, **_said(model, "C"))
    elif isinstance(model, _mercer.OneClassModel):
        estimator = OneClassSVM(kernel=wrap(model.kernel), **_said(model, "nu"))
    elif isinstance(model, _mercer.KernelKMeansModel):
        estimator = KernelKMeans(model.summary.wanted, kernel=wrap(model.kernel))
        estimator.labels_, estimator._distances = np.asarray(model.labels, dtype=np.int32), None
    elif isinstance(model, _mercer.RepresenterModel):
        estimator = RepresenterRegressor(
            model.loss.text, kernel=wrap(model.kernel), lambda_=float(model.lambda_[0]), fit_intercept=bool(np.any(model.intercept))
        )
    elif isinstance(model, _mercer.PcaModel):
        estimator = PCA(model.n_components, whiten=model.whiten)
    elif isinstance(model, _mercer.KernelPcaModel):
        estimator = _kernel_pca(model)
    else:
        estimator = Ridge(_alpha_of(model.summary), fit_intercept=bool(np.any(model.intercept)), degree=model.degree)
    if labels is not None and isinstance(model, _CLASSIFIERS):
        estimator.classes_ = labels
    if not isinstance(model, _mercer.RandomFeatureRidgeModel):  # whose model_ follows its running sums
        estimator.model_ = model
    estimator._single_target = saved.n_targets == 1
    return _with_columns(estimator, saved)


def _with_columns(estimator: Any, saved: _mercer.SavedModel) -> Any:
    estimator.n_features_in_ = saved.width
    if saved.column_names and saved.is_named and not saved.changes_columns:
        estimator.feature_names_in_ = np.asarray(saved.column_names, dtype=object)
    return estimator


class TableModel(Shown):
    """A model from a file, with the treatment of table columns that was learned with it: scaling, categories, missing values, labels.

    ``predict`` takes a pandas DataFrame (columns by name, in any order, further ones ignored) or an array of the feature columns in order,
    in the units of the original table.

    Attributes
    ----------
    kind : "krr", "ridge", "gp", ...: the word of ``mercer fit``.
    feature_names_in_ : the table columns used.
    target : the name of the target column.
    classes_ : the labels of a classifier, None for regression.
    estimator : the estimator inside, which takes encoded and scaled rows.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(mercer.KernelRidge(kernel="gaussian(1)").fit(X, y), path)
    >>> isinstance(mercer.load(path), mercer.TableModel)      # numbers as they are: the estimator itself
    False
    """

    def __init__(self, saved: _mercer.SavedModel) -> None:
        self._saved = saved

    def _facts(self) -> dict[str, Any]:
        return {"features": list(self.feature_names_in_), "classes": "none" if self.classes_ is None else self.classes_.tolist()}

    def __repr__(self) -> str:
        return f"TableModel(kind={self.kind!r}, target={self.target!r}, features={list(self.feature_names_in_)!r})"

    @property
    def kind(self) -> str:
        return self._saved.kind

    @property
    def target(self) -> str:
        return self._saved.target

    @property
    def feature_names_in_(self) -> np.ndarray:
        return np.asarray(self._saved.column_names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return self._saved.width if self._saved.is_sparse else len(self._saved.column_names)

    @property
    def classes_(self) -> np.ndarray | None:
        labels = self._saved.classes
        return None if labels is None else _labels(labels)

    @property
    def estimator(self) -> Any:
        return _estimator(self._saved)

    def _numbers(self, X: Any) -> Any:
        """The feature columns of a table of numbers, in order."""
        if not hasattr(X, "columns"):
            X = _data.rows(X)
            if X.shape[1] != self.n_features_in_:
                raise ValueError(f"X has {X.shape[1]} columns, the model was fitted on {self.n_features_in_}")
            return X
        for name in self.feature_names_in_:
            if name not in X.columns:
                raise ValueError(f'X has no column "{name}"; the model was fitted on {", ".join(self.feature_names_in_)}')
        return _data.rows(X[list(self.feature_names_in_)].to_numpy())

    def _number_rows(self, X: Any) -> Any:
        """Rows as the model takes them, of a table of numbers."""
        rows = _data.samples(self._numbers(X))
        rows.require_finite("X")
        return self._saved.scaled(rows)

    def _scores(self, X: Any, n_jobs: int | None, probabilities: bool = False) -> np.ndarray:
        threads, model = _run.threads(n_jobs), self._saved.model
        if isinstance(model, _MAPS) and not probabilities:
            single = (False, False) if isinstance(model, _mercer.NystromMap) else (False,)
            return np.asarray(model.transform(self._rows(X), *single, threads))
        if self._saved.is_numbers_only:
            rows = self._number_rows(X)
            return self._saved.probabilities(rows, threads) if probabilities else model.predict(rows, threads)
        scores, remarks = self._saved.predict_table(*_columns(X), threads, probabilities)
        for remark in remarks:
            warnings.warn(remark, stacklevel=3)
        return scores

    def _rows(self, X: Any) -> Any:
        """Rows as the model takes them, of any table."""
        if self._saved.is_numbers_only:
            return self._number_rows(X)
        rows, remarks = self._saved.features_of(*_columns(X))
        for remark in remarks:
            warnings.warn(remark, stacklevel=4)
        return rows

    def _intervals(self, X: Any, interval: float, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        level, model = _estimators.level(interval), self._saved.model
        if self.classes_ is not None or not isinstance(model, _mercer.GaussianProcessModel | _mercer.KernelRidgeModel):
            raise ValueError(f"intervals are for kernel ridge models and Gaussian processes of numbers, not for {self!r}")
        if isinstance(model, _mercer.KernelRidgeModel) and not model.has_intervals:
            raise ValueError("this model was saved without what intervals need; fit it with --intervals, or with --alphas")
        rows = self._rows(X)
        f, lower, upper = model.predict_interval(rows, level, _run.threads(n_jobs))
        ends = _estimators.ends(lower, upper, level, stacklevel=4)
        return _flat(f), ends[:, 0] if ends.shape[1] == 1 else ends

    def decision_function(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """The model's real values: predictions of a regression, class scores of a classifier."""
        return _flat(self._scores(X, n_jobs))

    def predict(self, X: Any, *, interval: float | None = None, n_jobs: int | None = None) -> Any:
        """Numbers for a regression, labels for a classifier, 1 (inside) or -1 for one class, components or features for a map.

        With ``interval`` = 0.9, say, (predictions, intervals), the latter (n, 2): of a Gaussian process, or of a kernel ridge model that was
        fitted with --intervals or --alphas.
        """
        if interval is not None:
            return self._intervals(X, interval, n_jobs)
        classes = self.classes_
        if self.kind == "one-class":
            return np.where(_flat(self._scores(X, n_jobs)) > 0, 1, -1)
        if classes is None:
            return _flat(self._scores(X, n_jobs))
        if getattr(self._saved.model, "sequence_column", ""):
            return classes[self._chain_labels(X, n_jobs)]
        return classes[np.asarray(self._saved.class_indices(self._rows(X), _run.threads(n_jobs)), dtype=np.intp)]

    def _chain_labels(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Labels of the rows of a table whose sequences are told apart by a column, each in the order of the table."""
        model = self._saved.model
        if not hasattr(X, "columns") or model.sequence_column not in X.columns:
            raise ValueError(f'X must be a DataFrame with the column "{model.sequence_column}", which tells the sequences apart')
        _, codes = np.unique(X[model.sequence_column].to_numpy(), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
        out = np.empty(len(order), dtype=np.intp)
        out[order] = model.label_sequences(self._rows(X.iloc[order]), offsets, _run.threads(n_jobs))
        return out

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """The probability of each class, of a model that has them (logistic, svc with probabilities, mean by Parzen windows)."""
        return self._scores(X, n_jobs, probabilities=True)

    def score(self, X: Any, y: Any) -> float:
        """R^2 of a regression, accuracy of a classifier."""
        measure = r2_score if self.classes_ is None else accuracy_score
        return float(measure(self._own_labels(y), self.predict(X)))

    def _own_labels(self, y: Any) -> Any:
        """The labels of a table as classes of the model: of one against the rest, every other label is the rest."""
        positive = self._saved.positive
        if not positive:
            return y
        rest, one = self.classes_
        return np.where([_is_label(value, positive) for value in np.asarray(y).ravel()], one, rest)


def _is_label(value: Any, label: str) -> bool:
    try:
        return float(value) == float(label)
    except ValueError:
        return str(value) == label


def _flat(scores: np.ndarray) -> np.ndarray:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _columns(X: Any) -> tuple[list[tuple[str, Any]], bool]:
    """The columns of a table with their names, and whether X names them."""
    if hasattr(X, "columns"):
        return [(str(name), _column(X[name].to_numpy())) for name in X.columns], True
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions (one row per sample), got {array.ndim}")
    return [(f"x{j + 1}", _column(array[:, j])) for j in range(array.shape[1])], False


def _column(values: np.ndarray) -> list[float] | list[str]:
    """Numbers, or words where some cell is no number; a missing cell is NaN or an empty word."""
    try:
        return values.astype(np.float64).tolist()
    except (TypeError, ValueError):
        return ["" if v is None or v != v else str(v) for v in values]
