"""What all kernels share: evaluation, algebra, properties, text. The classes with names are in kernels.py."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from . import _callbacks, _data, _mercer, _run
from ._arguments import columns_of, number, whole
from ._shown import html

Verdict = bool | None
_VERDICTS = ("is_psd", "is_strictly_pd", "is_universal", "is_characteristic", "is_bounded", "is_shift_invariant")


class Kernel:
    """A kernel: an immutable value with ``+``, ``*``, ``**``, multiples, and ``k(X, Y=None)`` for its Gram matrix.

    Kernels are equal when their texts are, and the functions that these name; they hash, pickle, and go into estimators as ``kernel=``.

    The properties are what is known whatever the data: True, False, or None where it is not known. Universal is meant on every compact set,
    characteristic on R^d; a kernel that looks at some columns only is judged on those.

    >>> import mercer
    >>> k = mercer.Kernel("gaussian(2).on(0) * linear.on(1, 2) + 1")
    >>> print(k, k.is_psd, k.is_bounded)
    gaussian(2).on(0)*linear.on(1, 2) + constant(1) True False
    """

    __slots__ = ("_native",)
    __array_ufunc__ = None  # so that numpy's numbers leave 2 * k to us
    _native: _mercer.Kernel

    def __init__(self, expression: str | Kernel, library: Mapping[str, Any] | None = None) -> None:
        object.__setattr__(self, "_native", kernel(expression, library)._native)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"kernels do not change: make a new one instead of setting {name}")

    # -- evaluation

    def __call__(self, X: Any, Y: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The Gram matrix k(x_i, y_j); Y=None takes X on both sides. float32 in gives float32 out.

        A kernel with ``Precomputed()`` in it takes kernel values in place of rows: k(K) of a Gram matrix, k(K_new, K) of rows
        k(new, object) against the objects of K. Kernels of strings, sets and graphs take lists of them, or DataFrames where they name columns.
        """
        native, A, B, float32 = self._bound(X, Y)
        return _mercer.gram(native, A, B, float32, _run.threads(n_jobs))

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i) for every row, without the Gram matrix."""
        native, A, _, _ = self._bound(X)
        return _mercer.gram_diagonal(native, A)

    def resolve(self, X: Any) -> Kernel:
        """This kernel with every length scale "auto" set to the median distance between rows of X, and named columns set to positions."""
        native, A, _, _ = self._bound(X)
        return wrap(_mercer.resolve(native, A))

    def _bound(self, X: Any, Y: Any = None) -> tuple[_mercer.Kernel, _mercer.Samples, _mercer.Samples, bool]:
        """The compiled kernel with columns by position, samples of both sides, and whether values are to be float32."""
        native = self._at_columns(_data.column_names(X, Y))
        return native, *(_data.given_pair(X, Y) if native.needs_given_gram else _data.samples_pair(X, Y, native))

    def _at_columns(self, names: Sequence[str] | None) -> _mercer.Kernel:
        if not self._native.has_named_columns:
            return self._native
        if names is None:
            raise ValueError(f"the kernel {self} names columns, but X has no column names: give a DataFrame, or use positions as in .on(0, 3)")
        return self._native.resolve_columns([str(name) for name in names])

    # -- properties

    @property
    def is_psd(self) -> Verdict:
        """Every Gram matrix is positive semi-definite."""
        return self._native.is_psd

    @property
    def is_strictly_pd(self) -> Verdict:
        """Gram matrices of distinct samples are nonsingular."""
        return self._native.is_strictly_pd

    @property
    def is_universal(self) -> Verdict:
        """Its functions approximate every continuous one, on every compact set."""
        return self._native.is_universal

    @property
    def is_characteristic(self) -> Verdict:
        """Mean embeddings of different distributions on R^d differ."""
        return self._native.is_characteristic

    @property
    def is_bounded(self) -> Verdict:
        """k(x, x) has a bound."""
        return self._native.is_bounded

    @property
    def is_shift_invariant(self) -> Verdict:
        """k(x, y) depends on x - y alone."""
        return self._native.is_shift_invariant

    @property
    def has_auto(self) -> bool:
        """Whether some length scale still waits for data."""
        return self._native.has_auto

    @property
    def needs_given_gram(self) -> bool:
        """Whether some part is ``Precomputed()``, so that it takes kernel values in place of rows."""
        return self._native.needs_given_gram

    @property
    def looks_at_objects(self) -> bool:
        """Whether some part is a kernel of strings, sets or graphs."""
        return self._native.looks_at_objects

    # -- parameters

    @property
    def parameters(self) -> list[tuple[str, float]]:
        """The positive numbers that a kernel can be tuned by, in the order of its text; names may repeat.

        >>> import mercer
        >>> mercer.kernel("2*gaussian([1, 3]) + white(0.1)").parameters
        [('factor', 2.0), ('gaussian.length_scale[0]', 1.0), ('gaussian.length_scale[1]', 3.0), ('white.variance', 0.1)]
        """
        if self.has_auto:
            raise ValueError(f"{self} has no length scale yet: k.resolve(X) sets it from data")
        return self._native.parameters

    def with_parameters(self, values: Iterable[float]) -> Kernel:
        """The same kernel with other values for its ``parameters``, in their order."""
        wanted = len(self.parameters)
        numbers = [number(value, "a parameter") for value in values]
        if len(numbers) != wanted:
            raise ValueError(f"{self} has {wanted} parameters, got {len(numbers)} values")
        for value, (name, _) in zip(numbers, self.parameters, strict=True):
            if not 0 < value < np.inf:
                raise ValueError(f"{name} must be a finite number > 0, got {value}")
        return wrap(self._native.with_parameters(numbers))

    @property
    def arguments(self) -> dict[str, Any]:
        """What :meth:`with_arguments` takes: of a kernel with a name its arguments, else ``parameters`` by name.

        Names that repeat are counted.

        >>> import mercer
        >>> mercer.kernel("matern(1.5, auto)").arguments
        {'nu': 1.5, 'length_scale': 'auto'}
        >>> mercer.kernel("gaussian(1) + gaussian(3)").arguments
        {'gaussian.length_scale (1)': 1.0, 'gaussian.length_scale (2)': 3.0}
        """
        return {} if self.has_auto else dict(_numbered(self.parameters))

    def with_arguments(self, **values: Any) -> Kernel:
        """The same kernel with other values for some of its ``arguments``.

        >>> from mercer.kernels import Matern
        >>> Matern(1.5).with_arguments(nu=2.5)
        Matern(nu=2.5, length_scale=1.0)
        """
        known = self.arguments
        for name in values:
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none" if not self.has_auto else "its length scales wait for data: give numbers first"
                raise ValueError(f"the kernel {self} has no parameter {name!r}; {has}")
        return self._with_arguments(known | values)

    def _with_arguments(self, values: dict[str, Any]) -> Kernel:
        return self.with_parameters(values.values())

    def gradient(self, X: Any, W: Any, Y: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """sum_ij W_ij dk(x_i, y_j)/d log(parameter), for every one of ``parameters``; W is of the shape of k(X, Y).

        This is what the gradient of any function of the Gram matrix needs: W is the derivative with respect to its entries. No matrix
        per parameter is made.
        """
        native, A, B, _ = self._bound(X, Y)
        weights = np.ascontiguousarray(_data.rows(W, "W"), dtype=np.float64)
        if weights.shape != (A.size, B.size):
            raise ValueError(f"W must have one number per pair of rows, shape {(A.size, B.size)}, got {weights.shape}")
        return _mercer.resolve(native, B).gradient(A, B, weights, _run.threads(n_jobs))

    # -- algebra

    def __add__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            other = wrap(_mercer.constant(float(other)))
        return wrap(self._native.plus(self._beside(other))) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, Integral) and other == 0:  # where sum([k, l]) begins
            return self
        return wrap(_mercer.constant(float(other)).plus(self._native)) if isinstance(other, Real) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return wrap(self._native.scaled(float(other)))
        return wrap(self._native.times(self._beside(other))) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Kernel:
        if isinstance(exponent, bool) or not isinstance(exponent, Real):
            return NotImplemented
        return wrap(self._native.power(whole(exponent, "a power")))

    def _beside(self, other: Kernel) -> _mercer.Kernel:
        """The other kernel, which must not mean another function by the same name: text and files could not tell them apart."""
        mine, theirs = self._native.callbacks, other._native.callbacks
        for name in mine.keys() & theirs.keys():
            if not _callbacks.same({name: mine[name]}, {name: theirs[name]}):
                raise ValueError(f'two different functions are called "{name}": give one of them another name with name=')
        return other._native

    def normalized(self, form: Literal["root", "product"] = "root") -> Kernel:
        """k(x, y) / sqrt(k(x, x) k(y, y)), or with form="product" k(x, y) / (k(x, x) k(y, y))."""
        if form not in ("root", "product"):
            raise ValueError(f'form must be "root" or "product", got {form!r}')
        return wrap(self._native.normalized(form == "root"))

    def on(self, *columns: Any) -> Kernel:
        """The kernel of some columns alone: positions from 0, names, ranges or slices, or lists of them.

        k.on(A) + l.on(B) is a direct sum, k.on(A) * l.on(B) a tensor product. Names are looked up when the kernel meets a DataFrame.

        >>> from mercer.kernels import Gaussian, Linear
        >>> print(Gaussian(2).on(0, slice(3, 6)) * Linear().on("age"))
        gaussian(2).on(0, 3:6)*linear.on("age")
        """
        return wrap(self._native.on(list(columns_of(columns))))

    def exp(self) -> Kernel:
        """exp(k(x, y))."""
        return wrap(self._native.exp())

    def geometric(self) -> Kernel:
        """1 / (1 - k(x, y)) = 1 + k + k^2 + ..., where k(x, x) < 1."""
        return wrap(self._native.geometric())

    def series(self, coefficients: Iterable[float]) -> Kernel:
        """c0 + c1 k + c2 k^2 + ... for the coefficients c."""
        return wrap(self._native.series([number(c, "a coefficient") for c in coefficients]))

    def over(self, Z: Any) -> Kernel:
        """sum_z k(x, z) k(z, y) over the rows of Z: positive semi-definite whatever k is."""
        points = _data.rows(Z, "Z")
        if isinstance(points, _data.Objects):
            raise ValueError(f"over() takes rows of numbers, but Z holds {points.described()}")
        return wrap(self._native.over(np.asarray(points.toarray() if hasattr(points, "toarray") else points, dtype=np.float64)))

    def radial(self, length_scale: float | Literal["auto"] = "auto") -> Kernel:
        """exp(-d^2 / (2 length_scale^2)), d the distance in this kernel's feature space: d^2 = k(x, x) + k(y, y) - 2 k(x, y).

        "auto" is the median of d. ``BagOf(Gaussian(1), "mean").radial()`` compares distributions that are known by samples of them.

        >>> from mercer.kernels import Linear, Gaussian
        >>> X = [[0.0, 1.0], [2.0, 5.0]]
        >>> bool(abs(Linear().radial(3.0)(X) - Gaussian(3.0)(X)).max() < 1e-12)
        True
        """
        return wrap(self._native.radial(None if length_scale == "auto" else number(length_scale, "length_scale")))

    # -- identity

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        return self._native.text == other._native.text and _callbacks.same(self._native.callbacks, other._native.callbacks)

    def __hash__(self) -> int:
        return hash(self._native.text)

    def __str__(self) -> str:
        return self._native.text

    def __format__(self, form: str) -> str:
        return format(self._native.text, form)

    def __repr__(self) -> str:
        return f"mercer.kernel({self._native.text!r})"

    def _repr_html_(self) -> str:
        words = {True: "yes", False: "no", None: "not known"}
        verdicts = {name.replace("is_", "").replace("_", " "): words[getattr(self, name)] for name in _VERDICTS}
        return html(str(self), verdicts | self.arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return kernel, (self._native.text, self._native.callbacks or None)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self


def _numbered(parameters: list[tuple[str, float]]) -> Iterable[tuple[str, float]]:
    """Names that repeat are counted."""
    names = [name for name, _ in parameters]
    return ((f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name, value) for i, (name, value) in enumerate(parameters))


_leaves: dict[str, type[Leaf]] = {}  # by the word that text has


class Leaf(Kernel):
    """A kernel with a name and arguments, which are its attributes."""

    __slots__ = ("_arguments",)
    _arguments: dict[str, Any]
    _word: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls._word = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()  # RationalQuadratic is rational_quadratic
        _leaves[cls._word] = cls

    def _set(self, native: _mercer.Kernel | None = None, **arguments: Any) -> None:
        if native is None:
            native = getattr(_mercer, self._word)(*(None if value == "auto" else value for value in arguments.values()))
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_arguments", arguments)

    @classmethod
    def _read(cls, native: _mercer.Kernel) -> Leaf | None:
        """The leaf whose text this is. Python's own grammar has it as a call; auto and l1 are names there."""
        arguments = native.text[len(cls._word) + 1 : -1]
        if ")" in arguments:  # something follows the call
            return None
        call = ast.parse(f"f({arguments})", mode="eval").body  # with words for numbers and flags
        assert isinstance(call, ast.Call)
        return cls(*map(_value, call.args), **{k.arg: _value(k.value) for k in call.keywords if k.arg})

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self._arguments)

    def _with_arguments(self, values: dict[str, Any]) -> Kernel:
        return type(self)(**values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._arguments:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return self._arguments[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._arguments]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._arguments.items())})"


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id, node.id)
    return ast.literal_eval(node)


def wrap(native: _mercer.Kernel) -> Kernel:
    """The Python kernel for a compiled one: of its own class where it is a single named kernel."""
    text = native.text
    found = _leaves.get(text.partition("(")[0])
    leaf = found._read(native) if found is not None else None
    if leaf is not None and leaf._native.text == text:
        return leaf
    plain = Kernel.__new__(Kernel)
    object.__setattr__(plain, "_native", native)
    return plain


def kernel(expression: str | Kernel, library: Mapping[str, Any] | None = None) -> Kernel:
    """A kernel from text such as ``"gaussian(2) + 0.5*linear"``; a kernel comes back as it is.

    ``library`` has the functions, feature maps, decompositions and tables of words that the text names: functions of two blocks of rows (of
    an object, where the text has convolution("name")), tables as ``Words`` takes them, or kernels made from them.

    >>> import mercer
    >>> k = mercer.kernel('function("overlap") + linear', library={"overlap": lambda A, B: (A @ B.T) ** 2})
    >>> k([[1.0], [2.0]])
    array([[ 2.,  6.],
           [ 6., 20.]])
    """
    if isinstance(expression, Kernel):
        return expression
    if not isinstance(expression, str):
        what = "a function: mercer.kernel_function(f) makes a kernel of it" if callable(expression) else f"{type(expression).__name__}"
        raise TypeError(f"a kernel is written as text or built from mercer.kernels, got {what}")
    return wrap(_mercer.parse_kernel(expression, _callbacks.library(library, expression)))


def kernel_for(given: str | Kernel | None, X: Any, name: str = "kernel") -> Kernel:
    """The kernel that a function was given; where it was given none, a Gaussian with the median distance of the rows, if X has rows."""
    if given is None:
        _data.require_numbers("the default kernel", X, name)
    return kernel("gaussian(auto)" if given is None else given)
