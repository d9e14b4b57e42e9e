"""What a model of one or two columns says everywhere: regions of classes, margins, surfaces and curves."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn import base
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ._draw import axes, column_names, labels_for, matrix, palette, pyplot, scatter_classes

__all__ = ["decision_boundary", "regression_curve"]

_AROUND = 0.08  # of the range of a column, drawn beyond its ends


# -- what estimators are made of


def _fitted(estimator: Any) -> Any:
    """The estimator, checked: fitted, and one that predicts from rows."""
    if not hasattr(estimator, "predict"):
        raise TypeError(f"estimator must have predict, got {type(estimator).__name__}")
    if hasattr(estimator, "get_params"):  # a TableModel from a file has none, and is always fitted
        if getattr(estimator, "requires_fit", True):
            check_is_fitted(estimator)
        if get_tags(estimator).input_tags.pairwise:
            raise ValueError("a model of precomputed kernel values knows no rows to draw it over: fit one with a kernel of rows")
    return getattr(estimator, "best_estimator_", estimator)


def _last_step(estimator: Any) -> tuple[Any, Any]:
    """The steps before the last one of a pipeline, or None; and the last one."""
    if not hasattr(estimator, "steps"):
        return None, estimator
    return estimator[:-1] if len(estimator.steps) > 1 else None, estimator[-1]


def _columns(estimator: Any, X: Any, wanted: int, what: str) -> tuple[np.ndarray, list[str]]:
    rows = matrix(X, "X")
    fitted = getattr(estimator, "n_features_in_", rows.shape[1])
    for width, whose in ((rows.shape[1], "X has"), (fitted, "the model was fitted on")):
        if width != wanted:
            words = "one column" if wanted == 1 else "two columns"
            raise ValueError(f"{what} draws models of {words}, but {whose} {width}: fit on {words}, such as X[:, {list(range(wanted))}]")
    if not np.isfinite(rows).all():
        raise ValueError("X must be finite to be drawn, but it holds NaN or infinity: leave those rows out")
    return rows, column_names(X, wanted)


def _like(X: Any, rows: np.ndarray) -> Any:
    """Rows as X has them, so that kernels and pipelines find columns by name."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows


def _ends(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    around = _AROUND * (high - low) or 1.0
    return low - around, high + around


def _support_rows(estimator: Any, X: Any, rows: np.ndarray) -> np.ndarray | None:
    """The support vectors in the columns of X; None where there are none, or where X is not what a pipeline was fitted on."""
    before, last = _last_step(estimator)
    vectors = getattr(last, "support_vectors_", None)
    if vectors is None:
        return None
    vectors = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
    if before is None:
        return vectors if vectors.ndim == 2 and vectors.shape[1] == rows.shape[1] else None
    support = np.asarray(last.support_)
    if len(support) == 0 or support.max() >= len(rows):
        return None
    moved = before.transform(X)
    moved = moved.toarray() if hasattr(moved, "toarray") else np.asarray(moved)
    same = moved[support].shape == vectors.shape and np.allclose(moved[support], vectors)
    return rows[support] if same else None


def _is(kind: str, model: Any) -> bool:
    """Whether it is a "classifier", "regressor" or "outlier_detector". A TableModel says it by its classes."""
    if hasattr(model, "__sklearn_tags__"):
        return bool(getattr(base, f"is_{kind}")(model))
    return kind == ("classifier" if getattr(model, "classes_", None) is not None else "outlier_detector" if getattr(model, "kind", "") == "one-class" else "regressor")


# -- two columns


def decision_boundary(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    margins: bool | None = None,
    support: bool = True,
    points: int = 200,
    ax: Any = None,
) -> Any:
    """What a model of two columns predicts everywhere, with the samples in it.

    A classifier's picture has a region for each class and the boundary between them; a detector of outliers has two regions; a regression is a
    surface with a colour bar.

    Parameters
    ----------
    estimator : a fitted classifier, regressor, outlier detector or clusterer of two columns
        Of Mercer or scikit-learn, also a pipeline or a search; its ``predict`` is asked at every point of a grid.
    X : array or DataFrame of shape (n, 2)
        Samples, whose range the picture covers; a DataFrame names the axes.
    y : array of length n or None
        Their classes or targets as colours; a pandas Series names them. None draws grey points.
    margins : bool or None
        Dashed lines where the decision function is -1 and 1. None draws them for two classes where the model has support vectors.
    support : bool, default True
        Circles around the support vectors, where the model has some. In a pipeline they are found if X is what it was fitted on.
    points : places along each column.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> ax = mercer.plot.decision_boundary(mercer.SVC(gamma=1.0).fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['0', '1']
    """
    model = _fitted(estimator)
    rows, names = _columns(model, X, 2, "decision_boundary")
    if points < 2:
        raise ValueError(f"points must be at least 2, got {points}")
    targets = None if y is None else labels_for(getattr(estimator, "_own_labels", lambda labels: labels)(y), "y", len(rows))
    ax = axes(ax)
    across, along = (np.linspace(*_ends(rows[:, j]), points) for j in (0, 1))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(across, along)])
    predicted = np.asarray(model.predict(_like(X, grid)))
    if predicted.ndim != 1:
        raise ValueError(f"decision_boundary draws one target, but the model predicts {predicted.shape[1]}: fit it on one of them")
    title = getattr(y, "name", None)
    if _is("regressor", model):
        _surface(ax, across, along, predicted, rows, targets, title)
    else:
        _regions(ax, model, X, (across, along, grid), predicted, rows, targets, margins)
    vectors = _support_rows(model, X, rows) if support else None
    if vectors is not None and len(vectors):
        label = f"support vectors ({len(vectors)})"
        ax.scatter(vectors[:, 0], vectors[:, 1], s=60, facecolors="none", edgecolors="black", linewidths=0.8, label=label, zorder=4)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(title=title, loc="upper right")  # to look for the best place takes long over a grid
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_xlim(across[0], across[-1])
    ax.set_ylim(along[0], along[-1])
    return ax


def _surface(ax: Any, across: np.ndarray, along: np.ndarray, predicted: np.ndarray, rows: np.ndarray, targets: np.ndarray | None, title: Any) -> None:
    """Predictions as colours, targets in the same colours."""
    shown = predicted if targets is None else np.concatenate([predicted, targets.astype(float)])
    limits = {"vmin": float(shown.min()), "vmax": float(shown.max())}
    picture = ax.pcolormesh(across, along, predicted.reshape(len(along), len(across)), shading="auto", cmap="viridis", **limits)
    if predicted.min() < predicted.max():
        ax.contour(across, along, predicted.reshape(len(along), len(across)), colors="white", linewidths=0.5, alpha=0.7)
    how = {"color": "0.3"} if targets is None else {"c": targets.astype(float), "cmap": "viridis", "edgecolors": "black", "linewidths": 0.5, **limits}
    ax.scatter(rows[:, 0], rows[:, 1], s=18, zorder=3, **how)
    ax.figure.colorbar(picture, ax=ax, label=str(title) if title is not None else "prediction")


def _regions(
    ax: Any, model: Any, X: Any, where: tuple[np.ndarray, ...], predicted: np.ndarray, rows: np.ndarray, targets: np.ndarray | None, margins: bool | None
) -> None:
    """A pale region for each class, the boundary, margins, and the samples."""
    across, along, grid = where
    classes = _labels(model, predicted)
    place = {label: k for k, label in enumerate(classes.tolist())}  # not in order where a model tells one class from the rest
    at = np.array([place[label] for label in predicted.tolist()], dtype=float).reshape(len(along), len(across))
    color = palette(len(classes))
    shades = pyplot().matplotlib.colors.ListedColormap([color(k) for k in range(len(classes))])
    ax.pcolormesh(across, along, at, cmap=shades, vmin=-0.5, vmax=len(classes) - 0.5, alpha=0.25, shading="auto")
    values = _values(model, _like(X, grid), classes)
    values = None if values is None else values.reshape(at.shape)
    if values is not None and np.array_equal(values > 0, at == 1):  # else predict goes by something else, such as probabilities
        _lines(ax, across, along, values, [0.0], "solid")
    else:
        _lines(ax, across, along, at, np.arange(len(classes) - 1) + 0.5, "solid")
    has_margins = values is not None and hasattr(model, "decision_function") and not _is("outlier_detector", model)
    if margins and not has_margins:
        raise ValueError(f"margins are of the decision function of two classes, which {type(_last_step(model)[1]).__name__} does not have here")
    if has_margins and (hasattr(_last_step(model)[1], "support_vectors_") if margins is None else margins):
        _lines(ax, across, along, values, [-1.0, 1.0], "dashed")
    style = {"s": 18, "edgecolors": "white", "linewidths": 0.4, "zorder": 3}
    if targets is None:
        ax.scatter(rows[:, 0], rows[:, 1], color="0.3", **style)
        return
    known = set(classes.tolist())
    strange = [label for label in np.unique(targets).tolist() if label not in known]
    if strange and _is("classifier", model):
        raise ValueError(f"y has the class {strange[0]!r}, which the model does not know: its classes are {', '.join(map(repr, classes.tolist()))}")
    scatter_classes(ax, rows, targets, np.unique(targets) if strange else classes, **style)


def _labels(model: Any, predicted: np.ndarray) -> np.ndarray:
    """The classes in order: those that the model knows, else those it predicts."""
    if _is("outlier_detector", model):
        return np.array([-1, 1])
    known = getattr(model, "classes_", None)
    return np.unique(predicted) if known is None else np.asarray(known)


def _values(model: Any, grid: Any, classes: np.ndarray) -> np.ndarray | None:
    """Of two classes, what is positive for the second: the decision function, or its probability less a half."""
    if len(classes) != 2:
        return None
    if hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(grid))
        return values if values.ndim == 1 else None
    if _is("classifier", model) and hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(grid))[:, 1] - 0.5
    return None


def _lines(ax: Any, across: np.ndarray, along: np.ndarray, values: np.ndarray, levels: Any, style: str) -> None:
    """Contours of those levels that the values cross; matplotlib warns of others."""
    crossed = [level for level in levels if values.min() < level < values.max()]
    if crossed:
        ax.contour(across, along, values, levels=crossed, colors="black", linewidths=1.2 if style == "solid" else 0.8, linestyles=style)


# -- one column


def regression_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    band: bool | None = None,
    level: float = 0.9,
    points: int = 300,
    ax: Any = None,
) -> Any:
    """What a regression of one column predicts, as a curve with a band where the model offers one.

    Parameters
    ----------
    estimator : a fitted regressor of one column
        Of Mercer or scikit-learn, also a pipeline or a search.
    X : array of shape (n,) or (n, 1), or DataFrame of one column
        Samples, whose range the curve covers.
    y : array of length n or None
        Their targets, drawn as points.
    band : bool or None
        Intervals by ``predict(X, interval=level)``, else by the standard deviation of ``predict(X, return_std=True)``. None draws them where
        the model offers either.
    level : of the intervals.
    points : places along the column.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)
    >>> ax = mercer.plot.regression_curve(model, X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['samples (100)', '90% interval', 'prediction']
    """
    model = _fitted(estimator)
    if _is("classifier", model):
        raise ValueError(f"regression_curve draws regressions, and {type(model).__name__} predicts classes: see decision_boundary")
    if np.ndim(X) == 1 and not hasattr(X, "columns"):
        X = X.to_frame() if hasattr(X, "to_frame") else np.asarray(X)[:, None]
    rows, names = _columns(model, X, 1, "regression_curve")
    targets = None if y is None else labels_for(y, "y", len(rows)).astype(float)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.9, got {level!r}")
    ax = axes(ax)
    places = np.linspace(*_ends(rows[:, 0]), points)
    curve, lower, upper = _with_band(model, _like(X, places[:, None]), band, level)
    if targets is not None:
        ax.scatter(rows[:, 0], targets, s=14, color="0.45", label=f"samples ({len(rows)})", zorder=2)
    if lower is not None:
        ax.fill_between(places, lower, upper, color="C0", alpha=0.2, linewidth=0, label=f"{level:.0%} interval")
    ax.plot(places, curve, color="C0", label="prediction", zorder=3)
    ax.set_xlabel(names[0])
    ax.set_ylabel(str(getattr(y, "name", None) or "prediction"))
    ax.legend()
    return ax


def _with_band(model: Any, grid: Any, band: bool | None, level: float) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Predictions, and both ends of the band; None where there is none, or where its ends are infinite, which the model warns of."""
    offered = inspect.signature(_last_step(model)[1].predict).parameters
    kind = next((word for word in ("interval", "return_std") if word in offered), None)
    if band and kind is None:
        raise ValueError(f"{type(_last_step(model)[1]).__name__} offers no intervals: take KernelRidge or GaussianProcessRegressor, or band=False")
    lower = upper = None
    if kind is None or band is False:
        curve = model.predict(grid)
    elif kind == "interval":
        try:
            curve, ends = model.predict(grid, interval=level)
        except (ValueError, NotFittedError):  # a file without what intervals need, or a prior
            if band:
                raise
            return _with_band(model, grid, False, level)
        lower, upper = ends[..., 0], ends[..., 1]
    else:
        curve, std = model.predict(grid, return_std=True)
        lower, upper = (curve + sign * ndtri(0.5 + level / 2) * std for sign in (-1, 1))
    if np.ndim(curve) != 1:
        raise ValueError(f"regression_curve draws one target, but the model predicts {np.shape(curve)[1]}: fit it on one of them")
    finite = lower is not None and np.isfinite(lower).all() and np.isfinite(upper).all()
    return np.asarray(curve), lower if finite else None, upper if finite else None
