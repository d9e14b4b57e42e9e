"""Kernels of strings, sets, words and graphs. They take lists of such objects where other kernels take rows.

>>> from mercer.kernels import Spectrum, WeisfeilerLehman
>>> Spectrum(2)(["abab", "abba", "baab"]).round(3)
array([[1.   , 0.775, 0.775],
       [0.775, 1.   , 0.667],
       [0.775, 0.667, 1.   ]])
>>> path, triangle = {"n": 3, "edges": [(0, 1), (1, 2)]}, {"n": 3, "edges": [(0, 1), (1, 2), (0, 2)]}
>>> WeisfeilerLehman(1, normalized=False)([path, triangle])
array([[14., 12.],
       [12., 18.]])
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from . import _callbacks, _mercer
from ._arguments import number, scale
from ._kernel import Kernel, Leaf, kernel as make_kernel

OneScale = float | Literal["auto"]


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or value != value // 1 or abs(value) > 10**6:
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value)


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _word(value: Any, name: str, words: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value


# -- of strings


class Spectrum(Leaf):
    """Common substrings of k letters: sum over w of count(w in x) count(w in y), divided by sqrt(k(x, x) k(y, y)) if normalized.

    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2, normalized=False)(["banana"], ["ananas", "bab"])
    array([[8., 1.]])
    """

    __slots__ = ()
    k: int

    def __init__(self, k: int = 3, normalized: bool = True) -> None:
        self._set(k=_count(k, "k"), normalized=_flag(normalized, "normalized"))


class WeightedDegree(Leaf):
    """Common substrings of 1 to degree letters at the same place, longer ones counting less: for aligned sequences.

    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(1, normalized=False)(["ACGT"], ["ACCT"])
    array([[3.]])
    """

    __slots__ = ()
    degree: int

    def __init__(self, degree: int = 3, normalized: bool = True) -> None:
        self._set(degree=_count(degree, "degree"), normalized=_flag(normalized, "normalized"))


class Mismatch(Leaf):
    """Substrings of k letters where up to m letters may differ. ``letters`` is the size of the alphabet; None counts those of the data.

    >>> from mercer.kernels import Mismatch
    >>> Mismatch(2, 1, letters=4, normalized=False)(["AC"], ["AC", "AG", "GT"])
    array([[7., 4., 2.]])
    """

    __slots__ = ()
    k: int
    m: int
    letters: int | None

    def __init__(self, k: int = 3, m: int = 1, letters: int | None = None, normalized: bool = True) -> None:
        self._set(
            k=_count(k, "k"), m=_count(m, "m"), letters=None if letters is None else _count(letters, "letters"), normalized=_flag(normalized, "normalized")
        )


class Gappy(Leaf):
    """Substrings of k letters in order, with up to ``gaps`` other letters among them.

    >>> from mercer.kernels import Gappy
    >>> Gappy(2, 1, normalized=False)(["abc"], ["abc", "adc"])     # "ab", "ac" and "bc"; "ac"
    array([[3., 1.]])
    """

    __slots__ = ()
    k: int
    gaps: int

    def __init__(self, k: int = 3, gaps: int = 1, normalized: bool = True) -> None:
        self._set(k=_count(k, "k"), gaps=_count(gaps, "gaps"), normalized=_flag(normalized, "normalized"))


class Subsequence(Leaf):
    """Common subsequences of k letters, with gaps: each pair counts decay^(length that it spans in x + in y).

    >>> from mercer.kernels import Subsequence
    >>> Subsequence(2, 0.5, normalized=False)(["cat"], ["car"])     # decay^4: "ca" spans 2 letters in both
    array([[0.0625]])
    """

    __slots__ = ()
    k: int
    decay: float

    def __init__(self, k: int = 2, decay: float = 0.5, normalized: bool = True) -> None:
        self._set(k=_count(k, "k"), decay=number(decay, "decay"), normalized=_flag(normalized, "normalized"))


class EditDistance(Leaf):
    """exp(-d / length_scale), d the edit distance: fewest letters inserted, deleted or changed. Not positive semi-definite.

    >>> from mercer.kernels import EditDistance
    >>> EditDistance(3.0)(["kitten"], ["sitting"]).round(4)
    array([[0.3679]])
    """

    __slots__ = ()
    length_scale: OneScale

    def __init__(self, length_scale: OneScale = 1.0) -> None:
        self._set(length_scale=scale(length_scale, "length_scale"))


# -- of sets, texts and parts


def _inside(native: _mercer.Kernel, word: str) -> list[str] | None:
    """The arguments of ``word(...)``, split at their commas; None where the text is more than that call."""
    text, parts, depth, quoted, begin = native.text, [], 0, False, len(word) + 1
    for i in range(len(word), len(text)):
        c = text[i]
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        depth += (c in "([") - (c in ")]")
        if (c == "," and depth == 1) or depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return parts if i == len(text) - 1 else None
    return None


class BagOf(Leaf):
    """Kernels of sets A, B by a kernel of their elements: the "sum" of k(x, y) over x in A and y in B, its "mean" (which compares mean
    embeddings), or the mean of every element's "best" match, which is not positive semi-definite. The default kernel is Gaussian(1).

    A set is a 2-D array with a row for each element, or a list of strings or graphs. ``BagOf(k, "mean").radial()`` is the kernel of
    distribution regression.

    >>> import numpy as np
    >>> from mercer.kernels import BagOf, Linear
    >>> BagOf(Linear())([np.array([[1.0], [2.0]])], [np.array([[3.0]])])
    array([[9.]])
    """

    __slots__ = ()
    kernel: Kernel
    form: str

    def __init__(self, kernel: Kernel | str | None = None, form: Literal["sum", "mean", "best"] = "sum") -> None:
        part = make_kernel("gaussian(1)" if kernel is None else kernel)
        self._set(_mercer.bag_of(part._native, _word(form, "form", ("sum", "mean", "best"))), kernel=part, form=form)

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        parts = _inside(native, cls._word)
        return None if parts is None else cls(make_kernel(parts[0], native.callbacks), *parts[1:])


class BagOfWords(Leaf):
    """Common words of texts (strings, or lists of tokens): each weighs ln((1 + texts) / (1 + texts with it)) + 1 in the data ("tfidf"), its
    "count", or once ("binary").

    >>> from mercer.kernels import BagOfWords
    >>> BagOfWords("binary", normalized=False)(["to be or not to be"], ["not to worry"])
    array([[2.]])
    """

    __slots__ = ()
    weights: str

    def __init__(self, weights: Literal["tfidf", "count", "binary"] = "tfidf", normalized: bool = True) -> None:
        self._set(weights=_word(weights, "weights", ("tfidf", "count", "binary")), normalized=_flag(normalized, "normalized"))

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        return None if '"' in native.text else super()._read(native)  # with weights that were learned


class Words(Leaf):
    """A kernel of the mean of the vectors that a table has for the words of a text; the linear one if not given.

    Parameters
    ----------
    table : a dictionary of words and vectors, a pair (words, array), or the path of a text file as GloVe and word2vec write them.
    kernel : of the mean vectors.
    name : what text and files call the table; by default the file's name, else "words".

    >>> from mercer.kernels import Words
    >>> k = Words({"good": [1.0, 0.0], "bad": [-1.0, 0.0], "day": [0.0, 1.0]})
    >>> k(["good day"], ["bad", "day"])
    array([[-0.5,  0.5]])
    >>> print(k)
    words("words")
    """

    __slots__ = ()
    table: _mercer.WordTable
    kernel: Kernel
    name: str

    def __init__(self, table: Any, kernel: Kernel | str | None = None, name: str | None = None) -> None:
        if name is None:
            name = os.path.basename(os.fspath(table)).split(".")[0] or "words" if isinstance(table, str | os.PathLike) else "words"
        if not isinstance(name, str):
            raise TypeError(f"name must be text, got {name!r}")
        held = _callbacks.table(table)
        part = make_kernel("linear" if kernel is None else kernel)
        self._set(_mercer.words(name, held, part._native), table=held, kernel=part, name=name)

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        parts = _inside(native, cls._word)
        if parts is None:
            return None
        known = native.callbacks
        name = next((name for name in known if parts[0] == _quoted(name)), None)
        return None if name is None else cls(known[name], make_kernel(parts[1], known) if len(parts) > 1 else None, name)

    def __repr__(self) -> str:
        return f"Words(<{len(self.table)} words>, kernel={self.kernel!r}, name={self.name!r})"


class Convolution(Leaf):
    """Objects by their parts: the sum of a kernel over all pairs of parts (R-convolution). The default kernel is Spectrum(3).

    Parameters
    ----------
    parts : "words", "letters" or "lines" of strings, or a function that makes a list of parts of an object: strings, graphs or rows of numbers.
    kernel : of two parts.
    name : what text and files call the function; by default its own name.

    >>> from mercer.kernels import Convolution, Spectrum
    >>> Convolution("words", Spectrum(1))(["a bb"], ["b", "a"])
    array([[1., 1.]])
    >>> k = Convolution(lambda text: [[len(word)] for word in text.split()], "linear", name="lengths")
    >>> k(["a bb"], ["ccc"])
    array([[9.]])
    >>> print(k)
    convolution("lengths", linear)
    """

    __slots__ = ()
    parts: str | Callable[[Any], Any]
    kernel: Kernel
    name: str | None

    def __init__(self, parts: str | Callable[[Any], Any] = "words", kernel: Kernel | str | None = None, name: str | None = None) -> None:
        part = make_kernel("spectrum(3)" if kernel is None else kernel)
        if isinstance(parts, str):
            self._set(_mercer.known_convolution(parts, part._native), parts=parts, kernel=part, name=None)
            return
        if not callable(parts):
            raise TypeError(f'parts must be "words", "letters", "lines" or a function of one object, got {parts!r}')
        held = _callbacks.PartsOf(parts, _callbacks.name_of(parts) if name is None else name)
        if not isinstance(held.name, str):
            raise TypeError(f"name must be text, got {name!r}")
        self._set(_mercer.convolution(held.name, held, part._native), parts=parts, kernel=part, name=held.name)

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        parts = _inside(native, cls._word)
        if parts is None:
            return None
        known = native.callbacks
        name = next((name for name in known if parts[0] == _quoted(name)), None)
        if name is not None and known[name] is None:  # written in C++
            return None
        return cls(parts[0] if name is None else known[name].f, make_kernel(parts[1], known), name)


def _quoted(name: str) -> str:
    """A name as kernel text has it."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# -- of graphs


class WeisfeilerLehman(Leaf):
    """Common subtree patterns of graphs, by so many rounds of relabelling each node by its label and those around it; with
    form="assignment" the best assignment of nodes to nodes by these labels.

    >>> from mercer.kernels import WeisfeilerLehman
    >>> G = {"n": 2, "edges": [(0, 1)], "labels": ["C", "O"]}
    >>> WeisfeilerLehman(1, normalized=False)([G])
    array([[4.]])
    """

    __slots__ = ()
    iterations: int
    form: str

    def __init__(self, iterations: int = 5, form: Literal["subtree", "assignment"] = "subtree", normalized: bool = True) -> None:
        self._set(
            iterations=_count(iterations, "iterations"), form=_word(form, "form", ("subtree", "assignment")), normalized=_flag(normalized, "normalized")
        )


class ShortestPath(Leaf):
    """Pairs of nodes with equal labels at equal distance.

    >>> from mercer.kernels import ShortestPath
    >>> float(ShortestPath()([{"n": 3, "edges": [(0, 1), (1, 2)]}])[0, 0])
    1.0
    """

    __slots__ = ()

    def __init__(self, normalized: bool = True) -> None:
        self._set(normalized=_flag(normalized, "normalized"))


class RandomWalk(Leaf):
    """Common walks, each counting decay^length; None takes a decay that the degrees of the data allow.

    >>> from mercer.kernels import RandomWalk
    >>> RandomWalk(0.25, normalized=False)([{"n": 1, "edges": []}])
    array([[1.]])
    """

    __slots__ = ()
    decay: float | None

    def __init__(self, decay: float | None = None, normalized: bool = True) -> None:
        self._set(decay=None if decay is None else number(decay, "decay"), normalized=_flag(normalized, "normalized"))


class Graphlet(Leaf):
    """Connected subgraphs of 3, 4 or 5 nodes, counted by their shape.

    >>> from mercer.kernels import Graphlet
    >>> float(Graphlet(3)([{"n": 3, "edges": [(0, 1), (1, 2)]}], [{"n": 3, "edges": [(0, 1), (1, 2), (0, 2)]}])[0, 0])
    0.0
    """

    __slots__ = ()
    size: int

    def __init__(self, size: int = 3, normalized: bool = True) -> None:
        self._set(size=_count(size, "size"), normalized=_flag(normalized, "normalized"))
