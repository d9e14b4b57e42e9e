"""How a search over parameters went: scores along a penalty, or over two parameters as a map."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._kernel import kernel as make_kernel
from ._draw import axes

__all__ = ["path"]

_MOST_LINES = 12
_FIRST = ("alpha", "C", "lambda_", "nu", "gamma")  # the order in which parameters take the horizontal axis


def path(search: Any, *, kind: Literal["auto", "lines", "map"] = "auto", ax: Any = None) -> Any:
    """Scores of all candidates of a search, with the chosen one marked.

    Parameters
    ----------
    search : a fitted KernelRidgeCV, SVCCV, SVRCV, or GridSearchCV of scikit-learn
        Or anything with its ``cv_results_`` and ``best_index_``.
    kind : "lines" is the score against alpha or C (else the first parameter that is a number), a line for each value of the others; "map" is
        a heat map over two parameters that are numbers, such as C and gamma, of the best score among the others. "auto" is a map where exactly
        two parameters vary, both numbers with three values or more each, else lines.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(random_state=0)
    >>> search = mercer.KernelRidgeCV(kernel="rbf", gamma=[0.1, 1, 10]).fit(X, y)
    >>> ax = mercer.plot.path(search, kind="lines")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('alpha', 'leave-one-out RMSE')
    """
    if kind not in ("auto", "lines", "map"):
        raise ValueError(f'kind must be "auto", "lines" or "map", got {kind!r}')
    if hasattr(search, "get_params"):
        check_is_fitted(search)
    if not hasattr(search, "cv_results_"):
        raise TypeError(f"search must be a fitted search with cv_results_, such as KernelRidgeCV or SVCCV, got {type(search).__name__}")
    scores, label = _scores(search)
    columns = _columns(search.cv_results_["params"])
    varying = {name: values for name, values in columns.items() if len(set(map(str, values))) > 1} or dict(list(columns.items())[:1])
    numbers = [name for name in sorted(varying, key=_place) if all(_is_number(v) for v in varying[name])]
    if kind == "auto":
        fine = len(numbers) == len(varying) == 2 and all(len(set(varying[name])) >= 3 for name in numbers)
        kind = "map" if fine else "lines"
    if kind == "map" and len(numbers) < 2:
        raise ValueError(f"a map needs two parameters that are numbers and vary, but these do: {', '.join(numbers) or 'none'}; kind='lines' draws one")
    ax = axes(ax)
    if kind == "map":
        return _map(ax, search, scores, label, {name: varying[name] for name in numbers[:2]})
    return _lines(ax, search, scores, label, varying, numbers[0] if numbers else None)


# -- what was searched


def _place(name: str) -> int:
    """alpha and C first, wherever they are nested (``svc__C``)."""
    word = name.rpartition("__")[2]
    return _FIRST.index(word) if word in _FIRST else len(_FIRST)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)


def _columns(params: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values of each parameter, a candidate each; kernels that differ in one number alone become that number."""
    out = {name: [p.get(name, "") for p in params] for name in dict.fromkeys(name for p in params for name in p)}
    for name in [name for name, values in out.items() if name.rpartition("__")[2] == "kernel"]:
        number = _one_number([str(value) for value in out[name]])
        if number is not None:
            word, values = number
            out = {(word if key == name else key): (values if key == name else column) for key, column in out.items()}
    return out


def _one_number(texts: list[str]) -> tuple[str, list[float]] | None:
    try:
        lists = {text: make_kernel(text).parameters for text in dict.fromkeys(texts)}
    except ValueError:  # words of scikit-learn, functions, length scales that wait for data
        return None
    names = {tuple(name for name, _ in parameters) for parameters in lists.values()}
    if len(names) != 1 or len(lists) < 2:
        return None
    table = np.array([[value for _, value in parameters] for parameters in lists.values()])
    different = np.flatnonzero(np.ptp(table, axis=0) > 0) if table.size else []
    if len(different) != 1 or len(np.unique(table[:, different[0]])) != len(lists):
        return None
    at = int(different[0])
    return next(iter(names))[at].rpartition(".")[2], [lists[text][at][1] for text in texts]


def _scores(search: Any) -> tuple[np.ndarray, str]:
    """A score for each candidate and what it is; kernel ridge's squared errors as their root."""
    scores = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
    criterion = getattr(search, "criterion", None)
    scoring = getattr(search, "scoring", None)
    if criterion is None:  # a classifier's score is the accuracy, where none is named
        own = getattr(search, "_score_word", None)
        return scores, f"mean {own()}" if own else f"mean {scoring}" if isinstance(scoring, str) else "mean score"
    if scoring is not None:
        return scores, str(scoring)
    if criterion == "evidence":
        return scores, "log evidence"
    return np.sqrt(-scores), {"loo": "leave-one-out RMSE" if search.cv is None else "RMSE on folds", "gcv": "root of GCV"}[criterion]


def _chosen(search: Any) -> int | None:
    """The candidate that was chosen; a search with a penalty for each target has no single one."""
    return int(search.best_index_) if hasattr(search, "best_index_") else None


def _said(value: Any) -> str:
    return f"{value:.4g}" if _is_number(value) else str(value)


# -- pictures


def _lines(ax: Any, search: Any, scores: np.ndarray, label: str, varying: dict[str, list[Any]], along: str | None) -> Any:
    places = np.arange(len(scores)) if along is None else np.asarray(varying[along], dtype=float)
    others = {name: values for name, values in varying.items() if name != along} if along is not None else {}
    lines: dict[str, list[int]] = {}
    for i in range(len(scores)):
        alone = len(others) == 1 and not _is_number(next(iter(others.values()))[i])  # kernels say what they are
        lines.setdefault(", ".join(_said(v[i]) if alone else f"{name} = {_said(v[i])}" for name, v in others.items()), []).append(i)
    best = _chosen(search)
    for text, mine in _most_telling(lines, scores, best, label).items():
        order = np.asarray(mine)[np.argsort(places[mine], kind="stable")]
        ax.plot(places[order], scores[order], marker=".", label=text or None)
    penalties = places[[best]] if best is not None else np.unique(np.atleast_1d(getattr(search, "alpha_", [])))
    for place in penalties:
        ax.axvline(place, color="0.6", linestyle=":")
    if best is not None:
        ax.scatter([places[best]], [scores[best]], marker="*", s=120, color="black", zorder=4, label=f"best: {scores[best]:.4g}")
    if along is None:
        ax.set_xticks(places, [", ".join(_said(v[i]) for v in varying.values()) for i in range(len(scores))], rotation=90, fontsize="x-small")
    elif (places > 0).all():
        ax.set_xscale("log")
    ax.set_xlabel("candidate" if along is None else along)
    ax.set_ylabel(label)
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax


def _most_telling(lines: dict[str, list[int]], scores: np.ndarray, best: int | None, label: str) -> dict[str, list[int]]:
    """At most as many lines as a legend holds: those with the best scores, and always the chosen one."""
    if len(lines) <= _MOST_LINES:
        return lines
    sign = -1.0 if "RMSE" in label or "GCV" in label else 1.0
    reached = {text: np.nanmax(np.append(sign * scores[mine], -np.inf)) for text, mine in lines.items()}
    kept = sorted(lines, key=lambda text: (best not in lines[text], -reached[text]))[:_MOST_LINES]
    return {text: mine for text, mine in lines.items() if text in kept}


def _map(ax: Any, search: Any, scores: np.ndarray, label: str, two: dict[str, list[float]]) -> Any:
    (across, x), (along, y) = ((name, np.asarray(values, dtype=float)) for name, values in two.items())
    columns, rows = np.unique(x), np.unique(y)
    less_is_better = "RMSE" in label or "GCV" in label
    table = np.full((len(rows), len(columns)), np.nan)
    for i, score in enumerate(scores):
        place = np.searchsorted(rows, y[i]), np.searchsorted(columns, x[i])
        table[place] = np.fmin(table[place], score) if less_is_better else np.fmax(table[place], score)
    picture = ax.imshow(table, origin="lower", aspect="auto", cmap="viridis_r" if less_is_better else "viridis", interpolation="nearest")
    ax.set_facecolor("0.85")  # where a candidate was abandoned
    ax.set_xticks(range(len(columns)), [_said(v) for v in columns], rotation=45 if len(columns) > 6 else 0)
    ax.set_yticks(range(len(rows)), [_said(v) for v in rows])
    best = _chosen(search)
    if best is not None:
        place = np.searchsorted(columns, x[best]), np.searchsorted(rows, y[best])
        ax.scatter(*place, marker="*", s=160, color="white", edgecolors="black", zorder=4, label=f"best: {scores[best]:.4g}")
        ax.legend()
    ax.figure.colorbar(picture, ax=ax, label=label + (" (grey: abandoned)" if np.isnan(table).any() else ""))
    ax.set_xlabel(across)
    ax.set_ylabel(along)
    return ax
