"""What estimators make of X and y: numbers as scikit-learn validates them, objects as the library has them."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_feature_names, _check_n_features, _check_y, check_consistent_length, validate_data

from ._kernel import Kernel, kernel as make_kernel
from ._objects import Objects, described, is_frame, looks_structured, require_samples, structured

_OF_NUMBERS = (*PAIRWISE_KERNEL_FUNCTIONS, "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors")


def validate(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """validate_data of scikit-learn for an estimator with a kernel; where X holds strings, sets, graphs or records, Objects of them.

    Sets n_features_in_ and feature_names_in_ at ``reset`` (the default), else compares with them, and with what the columns held.
    """
    objects = _objects(estimator, X) if looks_structured(X) else None
    if objects is None:
        _require_samples(estimator, X)
        _remember(estimator, None, checks.get("reset", True))
        return validate_data(estimator, X, *y, **checks)
    reset = checks.get("reset", True)
    if reset:
        _require_kernel_of(estimator, objects)
    _check_feature_names(estimator, X, reset=reset)
    _remember(estimator, objects.kinds, reset)
    _check_n_features(estimator, objects, reset=reset)
    least = checks.get("ensure_min_samples", 1)
    if len(objects) < least:
        raise ValueError(f"Found array with {len(objects)} sample(s) while a minimum of {least} is required by {type(estimator).__name__}.")
    return objects if not y else (objects, _targets(estimator, objects, y[0], checks))


def _require_samples(estimator: Any, X: Any) -> None:
    """Says what X is where a list of strings, sets or graphs is wanted."""
    wanted = estimator.__dict__.get("_kinds_in") is not None or _columns(estimator) is not None
    if not wanted or (isinstance(X, np.ndarray) and X.dtype.kind == "f"):
        return
    require_samples(X)


def numbers(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """validate_data for an estimator that has no kernel, or only kernels of numbers."""
    if looks_structured(X) and not _reads_as_rows(X):
        objects = structured(X)
        if objects is not None:
            raise ValueError(
                f"{type(estimator).__name__} looks at numbers, but X holds {objects.described()}: take an estimator with a kernel of them, "
                f"such as SVC(kernel={objects.example()}){_encoding(objects)}"
            )
    return validate_data(estimator, X, *y, **checks)


def _kernels(estimator: Any) -> tuple[str, list[Any]]:
    """The parameter that is the estimator's kernel, and what it says, as a list."""
    name = "kernel" if hasattr(estimator, "kernel") else "affinity"
    given = getattr(estimator, name, None)
    return name, list(given) if isinstance(given, list | tuple) else [given]


def _columns(estimator: Any) -> list[int | str] | None:
    """The columns that the estimator's kernels of objects look at: None where there are no such kernels, empty for all there are."""
    found: list[int | str] | None = None
    for one in _kernels(estimator)[1]:
        if isinstance(one, str) and one not in _OF_NUMBERS:
            try:
                one = make_kernel(one)
            except ValueError:  # fit will say so
                continue
        own = one._native.object_columns if isinstance(one, Kernel) else None
        if own is not None:
            found = own if found is None else [] if not (own and found) else found + own
    return found


def _objects(estimator: Any, X: Any) -> Objects | None:
    columns = _columns(estimator)
    if columns is None and _reads_as_rows(X):
        return None
    return structured(X, columns=columns)


def _reads_as_rows(X: Any) -> bool:
    """Texts that are numbers, in rows of one length: what scikit-learn takes for numbers."""
    if is_frame(X) or isinstance(X, Objects):
        return False
    try:
        return np.asarray(X, dtype=np.float64).ndim == 2
    except (TypeError, ValueError):
        return False


def _require_kernel_of(estimator: Any, objects: Objects) -> None:
    """A word of scikit-learn means a kernel of numbers, or of kernel values."""
    name, kernels = _kernels(estimator)
    for one in kernels:
        if one is None or (isinstance(one, str) and one in _OF_NUMBERS):
            looks = "a matrix of kernel values" if isinstance(one, str) and "precomputed" in one else "numbers"
            raise ValueError(
                f"{'the default kernel' if one is None else repr(one)} looks at {looks}, but X holds {objects.described()}: "
                f"use {name}={objects.example()}, say{_encoding(objects)}"
            )


def _encoding(objects: Objects) -> str:
    """What to do with columns of words in a DataFrame of numbers, where they are categories."""
    words = [name for name, kind in zip(objects.names or [], objects.kinds, strict=False) if kind == "strings"]
    if not words:
        return ""
    return f"; or turn categories into numbers first, as in make_column_transformer((OneHotEncoder(), {words!r}), remainder='passthrough')"


def _remember(estimator: Any, kinds: list[str] | None, reset: bool) -> None:
    """What the columns held at fit, where they held objects; later X must hold the same."""
    here = estimator.__dict__
    if reset:
        here.pop("_kinds_in", None)
        if kinds is not None:
            here["_kinds_in"] = kinds
        return
    fitted = here.get("_kinds_in")
    if fitted == kinds or (fitted is None and "n_features_in_" not in here):
        return
    if fitted is None and _model_has_objects(estimator):  # from a file, which says it in its own way
        return
    had, have = ("numbers" if some is None else described(some) for some in (fitted, kinds))
    if had == have and fitted is not None and kinds is not None:
        had, have = ", ".join(fitted), ", ".join(kinds)
    raise ValueError(f"X holds {have}, but this {type(estimator).__name__} was fitted on {had}")


def _model_has_objects(estimator: Any) -> bool:
    model = getattr(estimator, "model_", getattr(estimator, "map_", None))
    for name in ("samples", "basis", "landmarks", "points"):
        if hasattr(model, name):
            return bool(getattr(model, name).has_objects)
    return False


def _targets(estimator: Any, objects: Objects, y: Any, checks: dict[str, Any]) -> Any:
    if y is None:
        if get_tags(estimator).target_tags.required:
            raise ValueError(f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None.")
        return y
    y = _check_y(y, multi_output=checks.get("multi_output", False), y_numeric=checks.get("y_numeric", False), estimator=estimator)
    check_consistent_length(objects, y)
    return y
