"""Samples that are no rows of numbers, as people have them in Python, and as the compiled library has them.

A sample may be

* a string,
* a graph: ``{"n": 3, "edges": [(0, 1), (1, 2)]}``, with ``"labels"`` of the nodes and ``"edge_labels"`` if it has any, or a networkx graph,
* a set: rows of numbers (a 2-D array), or a list, tuple or set of strings (a bag of tokens), of graphs or of further sets,
* a row of a DataFrame some of whose columns hold such objects: a record.

Samples come as a list, a tuple, a numpy array of objects with one column at most, or a pandas Series. Labels are compared as text: 1 and "1"
are the same label.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._mercer import Samples

_GRAPH_KEYS = ("n", "edges", "labels", "edge_labels")
_EXAMPLES = {"strings": "spectrum(3)", "graphs": "weisfeiler_lehman(5)", "sets": "bag_of(gaussian(1))"}  # a kernel for each kind


class Objects:
    """Objects as the library has them, behind the few words of an array that estimators use. They never change.

    An index gives the object, a slice, a mask or a list of indices further Objects. Several columns make records, whose objects are tuples.
    """

    __slots__ = ("names", "native")
    ndim = 2
    dtype = np.dtype(object)
    native: Samples
    names: list[str] | None  # of the columns of a DataFrame

    def __init__(self, native: Samples, names: list[str] | None = None) -> None:
        self.native = native
        self.names = names

    @property
    def shape(self) -> tuple[int, int]:
        return self.native.size, self.native.width

    @property
    def kinds(self) -> list[str]:
        """What each column holds: "numbers", "strings", "sets" or "graphs"."""
        return self.native.kinds

    def __len__(self) -> int:
        return self.native.size

    def __getitem__(self, which: Any) -> Any:
        picked = np.arange(len(self))[which]
        if np.ndim(picked) == 0:
            return Objects(self.native.subset([int(picked)]), self.names).tolist()[0]
        return Objects(self.native.subset(picked.tolist()), self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The objects, one a sample; tuples of them where there are several columns."""
        columns = [_values(self.native, j, kind) for j, kind in enumerate(self.kinds)]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def copy(self) -> Objects:
        return self

    def described(self) -> str:
        """ "strings", "sets of strings", or "records of strings (column 'seq') and numbers"."""
        if self.kinds == ["sets"]:
            return f"sets of {described(self.native.objects_at(0)[0].kinds[:1])}"
        return described(self.kinds, self.names)

    def example(self) -> str:
        """The text of a kernel that looks at them, in quotes."""
        place = next(j for j, kind in enumerate(self.kinds) if kind != "numbers")
        text = _EXAMPLES[self.kinds[place]] if self.described() != "sets of strings" else "bag_of_words"
        if len(self.kinds) == 1:
            return f'"{text}"'
        return f'"{text}.on({place})"' if self.names is None else f"'{text}.on(\"{self.names[place]}\")'"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.tolist()
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out

    def __repr__(self) -> str:
        return f"Objects({described(self.kinds)}, {len(self)} of them)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.kinds, [_values(self.native, j, kind) for j, kind in enumerate(self.kinds)], self.names)


def described(kinds: Sequence[str], names: Sequence[str] | None = None) -> str:
    """ "strings", or "records of strings and numbers", with the first column of each kind of objects where there are names."""
    if len(kinds) == 1:
        return kinds[0]
    where = {kind: f" (column {names[kinds.index(kind)]!r})" if names is not None and kind != "numbers" else "" for kind in dict.fromkeys(kinds)}
    different = [kind + place for kind, place in where.items()]
    return "records of " + (", ".join(different[:-1]) + " and " if len(different) > 1 else "") + different[-1]


def require_numbers(who: str, X: Any, name: str = "kernel") -> None:
    """Says so where X holds objects, of which ``who``, a kernel of numbers, knows nothing."""
    objects = structured(X)
    if objects is not None:
        raise ValueError(f"{who} looks at numbers, but X holds {objects.described()}: use {name}={objects.example()}, say")


def require_samples(X: Any, name: str = "X") -> None:
    """What people pass in place of a list of strings, sets or graphs."""
    first = next(iter(X), None) if isinstance(X, list | tuple) else None
    if isinstance(X, str):
        raise ValueError(f"{name} is one string, {X[:40]!r}: put it in a list, [{name}]")
    if isinstance(X, dict):
        raise ValueError(f"{name} is one dictionary: put a graph in a list, [{name}]; records come as a DataFrame")
    if isinstance(X, bytes) or isinstance(first, bytes) or (isinstance(X, np.ndarray) and X.dtype.kind == "S"):
        raise ValueError(f"{name} holds bytes: decode them to text first, as in [x.decode() for x in {name}]")
    if isinstance(X, set | frozenset) or (hasattr(X, "__next__") and not hasattr(X, "__len__")):
        raise ValueError(f"{name} is a {type(X).__name__}, which has no order to count its samples in: make it a list, list({name})")
    if hasattr(X, "__len__") and len(X) == 0:
        raise ValueError(f"{name} is empty: at least one sample is needed")
    if isinstance(first, list | tuple | np.ndarray) and len({len(x) for x in X if hasattr(x, "__len__")}) > 1:
        raise ValueError(f"{name} holds lists of numbers of different lengths: a set of numbers is an array of one column, np.reshape(x, (-1, 1))")


def _values(native: Samples, place: int, kind: str) -> list[Any]:
    """The objects of one column, in the forms that people give."""
    if kind == "numbers":
        return _dense(native.column(place))[:, 0].tolist()
    objects = native.objects_at(place)
    if kind != "sets":
        return objects
    elements, offsets = objects
    if elements.has_objects:
        inner = Objects(elements).tolist()
        return [inner[begin:end] for begin, end in zip(offsets[:-1], offsets[1:], strict=True)]
    rows = _dense(elements)
    return [rows[begin:end].copy() for begin, end in zip(offsets[:-1], offsets[1:], strict=True)]


def _dense(native: Samples) -> np.ndarray:
    rows = native.arrays()
    return rows if isinstance(rows, np.ndarray) else sp.csr_array((rows[0], rows[1], rows[2] - rows[2][0]), shape=(len(rows[2]) - 1, rows[3])).toarray()


def _restored(kinds: list[str], columns: list[list[Any]], names: list[str] | None) -> Objects:
    parts = [_numbers(values) if kind == "numbers" else _column(values, "X", kind) for kind, values in zip(kinds, columns, strict=True)]
    return Objects(parts[0] if len(parts) == 1 else Samples.records(parts), names)


def _numbers(values: list[float]) -> Samples:
    return Samples.dense(np.asarray(values, dtype=np.float64).reshape(-1, 1))


# -- what X looks like


def looks_structured(X: Any) -> bool:
    """Whether X holds objects rather than numbers, by a look at its type and its first samples."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "UT":
            return X.ndim == 1 or (X.ndim == 2 and X.shape[1] == 1)
        return X.dtype.kind == "O" and (X.ndim == 1 or (X.ndim == 2 and X.shape[1] == 1)) and _first_kind(X.ravel()) is not None
    if isinstance(X, Objects):
        return True
    if sp.issparse(X) or X is None:
        return False
    if is_frame(X):
        return any(_may_be_objects(kind) for kind in X.dtypes)
    if hasattr(X, "iloc") or (hasattr(X, "to_numpy") and getattr(X, "ndim", 0) == 1):  # a Series or an Index
        return _may_be_objects(X.dtype) and _first_kind(X) is not None
    return isinstance(X, list | tuple) and _first_kind(X) is not None


def _may_be_objects(dtype: Any) -> bool:
    return getattr(dtype, "kind", "f") in ("O", "U", "T")


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def first_kind(X: Any) -> str | None:
    """ "strings", "sets", "graphs", "records"; None where X holds numbers."""
    if not looks_structured(X):
        return None
    if isinstance(X, Objects):
        return X.kinds[0] if len(X.kinds) == 1 else "records"
    return "records" if is_frame(X) else _first_kind(np.ravel(X) if isinstance(X, np.ndarray) else X)


def _first_kind(values: Iterable[Any]) -> str | None:
    """What the first sample is that says it: missing values and empty lists do not."""
    for value in values:
        if not _is_missing(value):
            kind = _kind(value)
            if kind != "empty":
                return kind
    return None


def _kind(value: Any) -> str | None:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, dict) or _is_networkx(value):
        return "graphs"
    if isinstance(value, set | frozenset) or is_frame(value):
        return "sets"
    if isinstance(value, np.ndarray):
        return "sets" if value.ndim == 2 or (value.ndim == 1 and value.dtype.kind in "UTO" and _first_kind(value) is not None) else None
    if isinstance(value, list | tuple):
        if len(value) == 0:
            return "empty"
        first = value[0]
        is_row = isinstance(first, list | tuple | np.ndarray) or _kind(first) is not None
        return "sets" if is_row else None
    return None


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _is_networkx(value: Any) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)


# -- from what people give


def structured(X: Any, name: str = "X", columns: Sequence[int | str] | None = None) -> Objects | None:
    """X as Objects; None where it holds numbers. ``columns`` are those of a DataFrame that kernels of objects look at (empty: all there are)."""
    if isinstance(X, Objects):
        return X
    if not looks_structured(X):
        return None
    if is_frame(X):
        return _frame(X, name, columns)
    values = np.ravel(X) if isinstance(X, np.ndarray) else X
    kind = _first_kind(values)
    assert kind is not None
    return Objects(_column(list(values), name, kind))


def _frame(X: Any, name: str, wanted: Sequence[int | str] | None) -> Objects | None:
    names = [str(column) for column in X.columns]
    if X.shape[0] == 0:
        return None
    parts, found = [], False
    for j, column in enumerate(names):
        values = X.iloc[:, j]
        asked = wanted is not None and (len(wanted) == 0 or j in wanted or column in wanted)
        objects = _objects_of(values, f"column {column!r} of {name}", asked)
        found = found or objects is not None
        parts.append(_finite(values, column, name) if objects is None else objects)
    return Objects(parts[0] if len(parts) == 1 else Samples.records(parts), names) if found else None


def _objects_of(values: Any, name: str, asked: bool) -> Samples | None:
    """The objects of a column; None where it holds numbers. Text that reads as numbers is objects only where a kernel asks for it."""
    if not _may_be_objects(values.dtype):
        return None
    cells = values.tolist()
    kind = _first_kind(cells)
    if kind is None or (kind == "strings" and not asked and _reads_as_numbers(cells)):
        return None
    return _column(cells, name, kind)


def _reads_as_numbers(cells: Any) -> bool:
    try:
        np.asarray(cells).astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _finite(values: Any, column: str, name: str) -> Samples:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {column!r} of {name} must hold numbers, or objects of one kind: {error}") from None
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"column {column!r} of {name} has a {'NaN' if np.isnan(numbers[row]) else 'infinite value'} in row {row}")
    return Samples.dense(np.ascontiguousarray(numbers).reshape(-1, 1))


def _column(values: list[Any], name: str, kind: str) -> Samples:
    """One column of objects, all of one kind."""
    for row, value in enumerate(values):
        if _is_missing(value):
            raise ValueError(f"{name} has a missing value in row {row}: drop the row, or say what stands for it")
        own = _kind(value)
        if own != kind and not (own == "empty" and kind == "sets"):
            raise ValueError(f"{name} holds {kind}, but row {row} is {_shown(value)}")
    if kind == "sets":  # a DataFrame is the set of its rows
        values = [value.to_numpy() if is_frame(value) else value for value in values]
    if kind == "strings":
        return Samples.strings(values)
    if kind == "graphs":
        return Samples.graphs([_graph(value, row, name) for row, value in enumerate(values)])
    return sets(values, name)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def sets(values: Sequence[Any], name: str) -> Samples:
    """One set a value: rows of numbers, or lists of objects."""
    first = next((value for value in values if len(value) > 0), None)
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in values])]).astype(np.int64).tolist()
    if first is None:
        return Samples.sets(Samples.strings([]), offsets)
    if isinstance(first, np.ndarray) and first.ndim == 2 or not isinstance(first, set | frozenset) and _kind(first[0]) in (None, "empty"):
        return Samples.sets(_rows_of_sets(values, name), offsets)
    elements = [one for value in values for one in (_in_order(value) if isinstance(value, set | frozenset) else value)]
    kind = _first_kind(elements)
    if kind is None:
        raise ValueError(f"the sets of {name} must hold rows of numbers, strings or graphs, got {_shown(elements[0])}; a set of numbers is an array (n, 1)")
    return Samples.sets(_column(elements, f"a set of {name}", kind), offsets)


def _in_order(value: Iterable[Any]) -> list[Any]:
    """The elements of a Python set, whose order changes from run to run."""
    return sorted(value, key=lambda one: (type(one).__name__, one if isinstance(one, str) else repr(one)))


def _rows_of_sets(values: Sequence[Any], name: str) -> Samples:
    blocks = []
    for row, value in enumerate(values):
        if len(value) == 0:
            continue
        try:
            block = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"set {row} of {name} must hold rows of numbers, all of one length, got {_shown(value)}") from None
        if block.ndim != 2 or (blocks and block.shape[1] != blocks[0].shape[1]):
            wanted = f"rows of {blocks[0].shape[1]} numbers, as those before it" if blocks else "two dimensions, a row for each element"
            raise ValueError(f"set {row} of {name} must have {wanted}, got shape {block.shape}; a set of numbers is reshape(-1, 1)")
        if not np.isfinite(block).all():
            raise ValueError(f"set {row} of {name} has a NaN or infinite value")
        blocks.append(block)
    return Samples.dense(np.ascontiguousarray(np.concatenate(blocks)))


# -- graphs


def _label(label: Any) -> str:
    """A label as text; 1, 1.0 and "1" are one label, as they are in files."""
    if isinstance(label, float | np.floating):
        if not np.isfinite(label):
            raise ValueError(f"a label of a graph must be text or a number, got {label!r}")
        return str(int(label)) if float(label).is_integer() else str(float(label))
    if not isinstance(label, str | Integral | np.generic | bool):
        raise ValueError(f"a label of a graph must be text or a number, got {label!r}")
    return str(label)


def _graph(value: Any, row: int, name: str) -> tuple[int, np.ndarray, list[str], list[str]]:
    who = f"graph {row} of {name}"
    if not isinstance(value, dict):
        return _from_networkx(value, who)
    unknown = [key for key in value if key not in _GRAPH_KEYS]
    if unknown or ("n" not in value and "labels" not in value):
        what = f"has the key {unknown[0]!r}" if unknown else 'has no "n", the number of its nodes'
        raise ValueError(
            f'{who} {what}: a graph is {{"n": 3, "edges": [(0, 1), (1, 2)]}}, with "labels" and "edge_labels" if it has any; '
            "records come as a DataFrame"
        )
    labels = [] if value.get("labels") is None else list(map(_label, value["labels"]))
    n = value.get("n", len(labels))
    if isinstance(n, bool) or not isinstance(n, Integral):
        raise ValueError(f'"n" of {who} must be a whole number, got {n!r}')
    of_edges = [] if value.get("edge_labels") is None else list(map(_label, value["edge_labels"]))
    return int(n), _edges(value.get("edges"), who), labels, of_edges


def _edges(given: Any, who: str) -> np.ndarray:
    if given is None or len(given) == 0:
        return np.empty((0, 2), dtype=np.int64)
    try:
        edges = np.asarray(given if isinstance(given, np.ndarray) else list(given))
    except (TypeError, ValueError):
        edges = np.empty(0)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f'"edges" of {who} must be pairs of nodes counted from 0, such as [(0, 1), (1, 2)], got {_shown(given)}')
    return np.ascontiguousarray(edges, dtype=np.int64)


def _from_networkx(graph: Any, who: str) -> tuple[int, np.ndarray, list[str], list[str]]:
    if graph.is_directed():
        raise ValueError(f"{who} has directions, which no kernel looks at: use graph.to_undirected()")
    place = {node: i for i, node in enumerate(graph.nodes)}
    nodes = [data.get("label") for _, data in graph.nodes(data=True)]
    pairs = [(place[u], place[v]) for u, v in graph.edges()]
    edges = [data.get("label") for _, _, data in graph.edges(data=True)]
    labels, of_edges = (list(map(_label, some)) if some and all(one is not None for one in some) else [] for some in (nodes, edges))
    return len(place), np.asarray(pairs, dtype=np.int64).reshape(-1, 2), labels, of_edges
