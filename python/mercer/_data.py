"""Arrays as the compiled library reads them: float32 or float64 rows in one piece, or CSR with sorted rows; copied only if they are not.
Strings, sets, graphs and records become Objects (_objects.py), which pass through here as rows do."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._mercer import Samples
from ._objects import Objects, described, first_kind, looks_structured, require_numbers, require_samples, structured


def is_float32(X: Any) -> bool:
    return getattr(X, "dtype", None) == np.float32


def _csr_samples(X: Any) -> Samples:
    X = sp.csr_array(X) if not sp.issparse(X) or X.format != "csr" else X
    if not X.has_canonical_format:  # sorted columns, no entry twice
        X = X.copy()
        X.sum_duplicates()
    values = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X has {X.shape[1]} columns; sparse rows may have at most {np.iinfo(np.int32).max}")
    columns = np.ascontiguousarray(X.indices, dtype=np.int32)
    return Samples.csr(np.ascontiguousarray(values), columns, np.ascontiguousarray(X.indptr, dtype=np.int64), X.shape[1])


def _dense_samples(X: np.ndarray) -> Samples:
    rows_in_one_piece = X.shape[0] <= 1 or X.strides[0] >= X.shape[1] * X.itemsize
    columns_adjacent = X.shape[1] <= 1 or X.strides[1] == X.itemsize
    whole_steps = X.shape[0] <= 1 or X.strides[0] % X.itemsize == 0
    if not (rows_in_one_piece and columns_adjacent and whole_steps and X.flags.aligned):
        X = np.ascontiguousarray(X)
        if not X.flags.aligned:
            X = X.copy()
    return Samples.dense(X)


def samples(X: Any) -> Samples:
    """Samples over validated rows: a 2-D float array, a scipy sparse matrix, or Objects."""
    if isinstance(X, Objects):
        return X.native
    return _csr_samples(X) if sp.issparse(X) else _dense_samples(X)


def _where_text_is(X: Any) -> str:
    """Which column of a DataFrame is no number, for an error."""
    for place, name in enumerate(getattr(X, "columns", ())):
        try:
            np.asarray(X.iloc[:, place]).astype(np.float64)
        except (TypeError, ValueError):
            return f"column {str(name)!r}: "
    return ""


def rows(X: Any, name: str = "X", kernel: Any = None) -> Any:
    """A 2-D array of float32 or float64, a sparse matrix, or Objects, from what a user gave, for functions that are not estimators.

    ``kernel`` (compiled) says which columns of a DataFrame hold objects where their text reads as numbers.
    """
    if not (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        objects = structured(X, name, None if kernel is None else kernel.object_columns)
        if objects is not None:
            return objects
        if kernel is not None and kernel.looks_at_objects:
            require_samples(X, name)
    if sp.issparse(X):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}")
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    array = np.asarray(X)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers: {_where_text_is(X)}{error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim != 2:
        hint = f"; use {name}.reshape(-1, 1) for one feature or {name}.reshape(1, -1) for one sample" if array.ndim == 1 else ""
        raise ValueError(f"{name} must have two dimensions (one row per sample), got {array.ndim}{hint}")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one row and one column, got shape {array.shape}")
    if array.dtype == np.float32 and array.dtype.isnative:
        return array
    return array.astype(np.float64, copy=False)


def column(X: Any, width: int = 1) -> Any:
    """A vector (or pandas Series), one number for each row, as rows of one column; all else, and where rows are of another width, as it is."""
    if width != 1 or sp.issparse(X) or hasattr(X, "columns") or looks_structured(X):
        return X
    array = np.asarray(X)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def column_names(X: Any, Y: Any = None) -> list[str] | None:
    """The names of a DataFrame's columns; None for arrays. X and Y must not disagree."""
    names, others = (_names(M) for M in (X, Y))
    if names is not None and others is not None and names != others:
        raise ValueError("X and Y must have the same columns in the same order" + _difference(names, others, "Y", "X"))
    return names if names is not None else others


def _names(X: Any) -> list[str] | None:
    if isinstance(X, Objects):
        return X.names
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _difference(wanted: list[str], got: list[str], name: str, like: str) -> str:
    """How the columns of ``name`` differ from the wanted ones, those of ``like``: in which names, or in their order alone."""
    missing, extra = [c for c in wanted if c not in got], [c for c in got if c not in wanted]
    if missing or extra:
        parts = [f"{word} {name}: {', '.join(map(repr, which))}" for word, which in (("missing from", missing), ("only in", extra)) if which]
        return "; " + "; ".join(parts)
    return f", got {wanted} and {got}" + (f": use {name}[{like}.columns]" if sorted(wanted) == sorted(got) else "")


def second_sample(Y: Any) -> None:
    """Kernels take None for X against itself; a comparison of two samples must not."""
    if Y is None:
        raise ValueError("Y must be the second sample, got None")


def samples_pair(X: Any, Y: Any, kernel: Any = None) -> tuple[Samples, Samples, bool]:
    """Samples for a cross-Gram, and whether it is to be float32: only if both sides are. Y=None (or X itself) is X against X."""
    A = rows(X, kernel=kernel)
    if Y is None or Y is X:
        S = samples(A)
        S.require_finite("X")
        return S, S, is_float32(A)
    B = rows(Y, "Y", kernel)
    same_kinds(A, B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"X has {A.shape[1]} columns but Y has {B.shape[1]}")
    if isinstance(A, Objects):
        return A.native, B.native, False
    single = is_float32(A) and is_float32(B)
    if not single:
        A, B = (M.astype(np.float64, copy=False) for M in (A, B))
    if sp.issparse(A) != sp.issparse(B):
        A, B = sp.csr_array(A), sp.csr_array(B)
    S, T = samples(A), samples(B)
    S.require_finite("X")
    T.require_finite("Y")
    return S, T, single


def same_kinds(A: Any, B: Any, name: str = "Y", like: str = "X") -> None:
    """Both hold numbers, or objects of the same kinds."""
    kinds, others = (M.kinds if isinstance(M, Objects) else None for M in (A, B))
    if kinds != others:
        had, have = ("numbers" if some is None else described(some) for some in (kinds, others))
        raise ValueError(f"{like} holds {had}, but {name} holds {have}: both must hold the same")


def joined(parts: list[Objects]) -> Objects:
    """The objects of all parts, one after the other."""
    return Objects(Samples.joined([part.native for part in parts]), parts[0].names)


def given_pair(K: Any, gram: Any) -> tuple[Samples, Samples, bool]:
    """The same for objects known by kernel values alone: K is their Gram matrix, or rows of k(new, object) against those of ``gram``."""
    A = rows(K, "K")
    B = A if gram is None or gram is K else rows(gram, "K")
    if isinstance(A, Objects) or isinstance(B, Objects):
        raise ValueError(f"a precomputed kernel takes kernel values, but these samples are {(A if isinstance(A, Objects) else B).described()}")
    if B.shape[0] != B.shape[1]:
        raise ValueError(f"a precomputed kernel takes a square matrix of k(x_i, x_j), got shape {B.shape}")
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"rows of kernel values against {B.shape[0]} objects must have {B.shape[0]} columns, got shape {A.shape}")
    objects = Samples.given_gram(samples(B))
    return objects if B is A else Samples.given_rows(samples(A)), objects, is_float32(A) and is_float32(B)


def owned(X: Any) -> Any:
    """Rows of our own: what is asked later must not change with the caller's array."""
    return X.copy() if sp.issparse(X) or isinstance(X, Objects) else np.array(X, order="C")


def stored(S: Samples) -> Any:
    """The rows of samples as pickle keeps them, for ``samples`` to read."""
    return Objects(S) if S.has_objects else to_numpy(S, copy=True)


def points(S: Samples, which: Any = slice(None)) -> Any:
    """The rows of samples as people see them: some or all of ``to_numpy``, of objects a list (Objects where they are records)."""
    if not S.has_objects:
        return to_numpy(S)[which]
    chosen = Objects(S)[which]
    return chosen.tolist() if S.width == 1 else chosen


def value_type(X: Any) -> Any:
    """The type of numbers that answers about X have: float32 for float32 rows, else float64."""
    return np.float64 if isinstance(X, Objects) else X.dtype


def to_numpy(S: Samples, *, copy: bool = False) -> Any:
    """The rows of samples: an array, or a scipy CSR array, shared and read-only unless copied; a list of objects, or Objects of records."""
    if S.has_objects:
        return points(S)
    parts = S.arrays()
    if not isinstance(parts, tuple):
        return parts.copy() if copy else parts
    values, columns, offsets, width = parts
    return sp.csr_array((values, columns, offsets - offsets[0]), shape=(len(offsets) - 1, width), copy=copy)
