"""Kernels as values: build them by name, combine them with + and *, call them on data, print them and parse them back.

>>> from mercer.kernels import Gaussian, Linear
>>> k = Gaussian(2) + 0.5 * Linear()
>>> str(k)
'gaussian(2) + 0.5*linear'
>>> k([[0.0], [1.0]]).shape
(2, 2)
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from . import _data, _mercer, _run

__all__ = ["Constant", "Gaussian", "Kernel", "Laplacian", "Linear", "Polynomial", "catalogue", "kernel"]

LengthScale = float | Literal["auto"]


class Kernel:
    """A kernel: an immutable value with ``+``, ``*``, multiples, and ``k(X, Y=None)`` for its Gram matrix.

    Kernels are equal when their texts are; they hash, pickle, and go into estimators as ``kernel=``.
    """

    __slots__ = ("_native",)
    __array_ufunc__ = None  # so that numpy's numbers leave 2 * k to us
    _native: _mercer.Kernel

    def __init__(self, expression: str | Kernel) -> None:
        native = expression._native if isinstance(expression, Kernel) else _mercer.parse_kernel(expression)
        object.__setattr__(self, "_native", native)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"kernels do not change: make a new one instead of setting {name}")

    # -- evaluation

    def __call__(self, X: Any, Y: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The Gram matrix k(x_i, y_j); Y=None takes X on both sides. float32 in gives float32 out."""
        A, B, float32 = _data.samples_pair(X, Y)
        return _mercer.gram(self._native, A, B, float32, _run.threads(n_jobs))

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i) for every row, without the Gram matrix."""
        A, _, _ = _data.samples_pair(X, None)
        return _mercer.gram_diagonal(self._native, A)

    def resolve(self, X: Any) -> Kernel:
        """This kernel with every length scale "auto" set to the median distance between rows of X."""
        A, _, _ = _data.samples_pair(X, None)
        return _wrap(_mercer.resolve(self._native, A))

    # -- properties

    @property
    def is_psd(self) -> bool:
        """Whether every Gram matrix is positive semi-definite, as these parameters are known to guarantee."""
        return self._native.is_psd

    @property
    def is_universal(self) -> bool | None:
        """Universal on every compact set: True, False, or None where unknown."""
        return self._native.is_universal

    @property
    def is_characteristic(self) -> bool | None:
        """Characteristic on R^d: True, False, or None where unknown."""
        return self._native.is_characteristic

    @property
    def has_auto(self) -> bool:
        """Whether some length scale still waits for data."""
        return self._native.has_auto

    # -- algebra

    def __add__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return _wrap(self._native.plus(other._native))
        if isinstance(other, Real):
            return _wrap(self._native.plus(_mercer.constant(float(other))))
        return NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return _wrap(_mercer.constant(float(other)).plus(self._native))
        return NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return _wrap(self._native.times(other._native))
        if isinstance(other, Real):
            return _wrap(self._native.scaled(float(other)))
        return NotImplemented

    __rmul__ = __mul__

    # -- identity

    def __eq__(self, other: object) -> bool:
        return self._native.text == other._native.text if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.text)

    def __str__(self) -> str:
        return self._native.text

    def __repr__(self) -> str:
        return f"mercer.kernel({self._native.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return kernel, (self._native.text,)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self


def _scale(value: Any) -> float | None:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'length_scale must be a number > 0 or "auto", got {value!r}')
        return None
    return _number(value, "length_scale")


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


class _Leaf(Kernel):
    """A kernel with a name and parameters."""

    __slots__ = ("_parameters",)
    _parameters: dict[str, Any]

    def _set(self, native: _mercer.Kernel, **parameters: Any) -> None:
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_parameters", parameters)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({arguments})"


class Linear(_Leaf):
    """<x, y>"""

    __slots__ = ()

    def __init__(self) -> None:
        self._set(_mercer.linear())


class Polynomial(_Leaf):
    """(offset + scale <x, y>)^degree; positive semi-definite for scale > 0 and offset >= 0."""

    __slots__ = ()

    def __init__(self, degree: int = 3, scale: float = 1.0, offset: float = 1.0) -> None:
        if isinstance(degree, bool) or not (isinstance(degree, Integral) or (isinstance(degree, Real) and float(degree).is_integer())):
            raise ValueError(f"degree must be a whole number >= 1, got {degree!r}")
        degree, scale, offset = int(degree), _number(scale, "scale"), _number(offset, "offset")
        if not 1 <= degree <= 1000:
            raise ValueError(f"degree must be a whole number from 1 to 1000, got {degree}")
        self._set(_mercer.polynomial(degree, scale, offset), degree=degree, scale=scale, offset=offset)

    @property
    def degree(self) -> int:
        return self._parameters["degree"]

    @property
    def scale(self) -> float:
        return self._parameters["scale"]

    @property
    def offset(self) -> float:
        return self._parameters["offset"]


class Gaussian(_Leaf):
    """exp(-|x - y|^2 / (2 length_scale^2)); length_scale="auto" takes the median distance of the data."""

    __slots__ = ()

    def __init__(self, length_scale: LengthScale = 1.0) -> None:
        scale = _scale(length_scale)
        self._set(_mercer.gaussian(scale), length_scale="auto" if scale is None else scale)

    @property
    def length_scale(self) -> LengthScale:
        return self._parameters["length_scale"]


class Laplacian(_Leaf):
    """exp(-|x - y| / length_scale) with the Euclidean norm ("l2") or the sum of absolute differences ("l1")."""

    __slots__ = ()

    def __init__(self, length_scale: LengthScale = 1.0, norm: Literal["l2", "l1"] = "l2") -> None:
        scale = _scale(length_scale)
        if norm not in ("l1", "l2"):
            raise ValueError(f'norm must be "l1" or "l2", got {norm!r}')
        self._set(_mercer.laplacian(scale, norm == "l1"), length_scale="auto" if scale is None else scale, norm=norm)

    @property
    def length_scale(self) -> LengthScale:
        return self._parameters["length_scale"]

    @property
    def norm(self) -> str:
        return self._parameters["norm"]


class Constant(_Leaf):
    """The same value for every pair."""

    __slots__ = ()

    def __init__(self, value: float = 1.0) -> None:
        value = _number(value, "value")
        self._set(_mercer.constant(value), value=value)

    @property
    def value(self) -> float:
        return self._parameters["value"]


_LEAVES: dict[str, type[_Leaf]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "constant": Constant,
}
_LEAF_TEXT = re.compile(r"(\w+)(?:\(([^()]*)\))?")


def _wrap(native: _mercer.Kernel) -> Kernel:
    """The Python kernel for a compiled one: of its own class where it is a single named kernel."""
    match = _LEAF_TEXT.fullmatch(native.text)
    if match is not None and match[1] in _LEAVES:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for argument in filter(None, (match[2] or "").split(",")):
            name, equals, value = argument.strip().rpartition("=")
            read = value if value in ("auto", "l1", "l2") else float(value)
            if equals:
                named[name] = read
            else:
                positional.append(read)
        leaf = _LEAVES[match[1]](*positional, **named)
        if leaf._native.text == native.text:
            return leaf
    plain = Kernel.__new__(Kernel)
    object.__setattr__(plain, "_native", native)
    return plain


def kernel(expression: str | Kernel) -> Kernel:
    """A kernel from text such as ``"gaussian(2) + 0.5*linear"``; a kernel comes back as it is."""
    if isinstance(expression, Kernel):
        return expression
    if not isinstance(expression, str):
        raise TypeError(f"a kernel is written as text or built from mercer.kernels, got {expression!r}")
    return _wrap(_mercer.parse_kernel(expression))


def catalogue() -> list[dict[str, str]]:
    """Name, formula, parameters and properties of every kernel."""
    return _mercer.kernel_catalogue()
