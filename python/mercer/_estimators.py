"""What the estimators share: validation of targets, weights and penalties, with messages that say what, got, wanted."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from . import _data, _mercer

FLOATS = (np.float64, np.float32)


def penalties(alpha: Any, lambda_: Any, n_targets: int) -> np.ndarray:
    """alpha as one number per target, checked; lambda_ is checked too."""
    if lambda_ is not None and (not isinstance(lambda_, Real) or not 0 <= lambda_ < np.inf):
        raise ValueError(f"lambda_ must be a finite number >= 0, or None, got {lambda_!r}")
    try:
        values = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"alpha must be a number >= 0, or one per target, got {alpha!r}") from None
    if values.ndim != 1 or values.size not in (1, n_targets):
        raise ValueError(f"alpha must be one number or one per target ({n_targets}), got shape {values.shape}")
    if not np.all((values >= 0) & (values < np.inf)):
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}")
    return np.ascontiguousarray(np.broadcast_to(values, (n_targets,)))


def weights(sample_weight: Any, X: Any) -> np.ndarray:
    """Sample weights for the library: empty where none are given."""
    if sample_weight is None:
        return np.empty(0)
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (checked < 0).any():
        at = int(np.flatnonzero(checked < 0)[0])
        raise ValueError(f"sample_weight must be >= 0, got {checked[at]} for sample {at}")
    return np.ascontiguousarray(checked)


def training_rows(native: _mercer.Kernel, X: Any) -> _mercer.Samples:
    """X as the library takes it for a fit: rows or objects, or the objects behind a matrix of kernel values.

    Warns where the kernel finds nothing in some objects, or kernel values are not positive semi-definite.
    """
    if native.needs_given_gram and X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
    rows = _data.samples(X)
    if native.needs_given_gram:
        rows = _mercer.Samples.given_gram(rows)
    if native.looks_at_objects or native.needs_given_gram:
        for remark in _mercer.kernel_remarks(native, rows):
            warnings.warn(remark, UserWarning, stacklevel=4)
    return rows


def require_two_classes(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(f"a classifier needs at least two classes, but y has one class: {', '.join(shown(classes))}")


def require_weight(classes: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> None:
    """Every class has a sample that counts; weight is empty where none are given."""
    empty = np.bincount(labels, weights=weight if len(weight) else None, minlength=len(classes)) == 0
    if empty.any():
        raise ValueError(f"the class {shown(classes[empty])[0]} has no sample of positive weight")


def shown(labels: Any) -> list[str]:
    """Labels as the user wrote them: texts in quotes, numbers without their numpy type."""
    return [repr(label) for label in np.asarray(labels).tolist()]


def level(value: Any, name: str = "interval") -> float:
    """The level of an interval, checked."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name} must be a level between 0 and 1, such as 0.9, got {value!r}")
    return float(value)


def ends(lower: np.ndarray, upper: np.ndarray, wanted: float, stacklevel: int = 3) -> np.ndarray:
    """Both ends along a last axis; says so where too few samples make them infinite."""
    if not np.isfinite(upper).all():
        needed = max(2, math.ceil(wanted / (1 - wanted) - 1e-9 / (1 - wanted)))
        warnings.warn(
            f"the intervals are infinite: level {wanted:g} needs at least {needed} training samples (of weight > 0)", stacklevel=stacklevel
        )
    return np.stack([lower, upper], axis=-1)


def targets(y: np.ndarray) -> np.ndarray:
    """y as a C-ordered float64 matrix, one column per target."""
    return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
