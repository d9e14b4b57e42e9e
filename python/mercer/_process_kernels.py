"""scikit-learn's kernels of Gaussian processes as Mercer's, with their bounds."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as twins

from .kernels import Constant, Gaussian, Kernel, Linear, Matern, Periodic, RationalQuadratic, White, kernel_function

Bounds = list[tuple[float, float]]


class _Converter:
    """Builds a kernel from scikit-learn's. With ``stand_ins``, parameters have values of their own (1 + j / 1024), by which each is found
    again, with its bounds, wherever the algebra puts it.
    """

    def __init__(self, n_features: int, stand_ins: bool) -> None:
        self.n_features = n_features
        self.stand_ins = stand_ins
        self.bounds: dict[float, tuple[float, float]] = {}
        self.as_functions: list[Any] = []  # kernels without an exact form

    def number(self, value: float, bounds: tuple[float, float]) -> float:
        if not self.stand_ins:
            return float(value)
        stand_in = 1.0 + (len(self.bounds) + 1) / 1024
        self.bounds[stand_in] = (float(bounds[0]), float(bounds[1]))
        return stand_in

    def hyper(self, k: Any, name: str, power: int = 1) -> Any:
        """One parameter of a kernel: a number, or one for each of several."""
        about = getattr(k, f"hyperparameter_{name}")
        values = np.atleast_1d(getattr(k, name)) ** power
        if about.fixed:
            limits = [(v, v) for v in values]
        else:
            limits = [tuple(b) for b in np.broadcast_to(np.asarray(about.bounds, dtype=float) ** power, (len(values), 2))]
        made = [self.number(v, b) for v, b in zip(values, limits, strict=True)]
        return made if np.ndim(getattr(k, name)) else made[0]

    def __call__(self, k: Any) -> Kernel:
        if isinstance(k, twins.Sum):
            return self(k.k1) + self(k.k2)
        if isinstance(k, twins.Product):
            for constant, other in ((k.k1, k.k2), (k.k2, k.k1)):
                if type(constant) is twins.ConstantKernel:
                    return self.hyper(constant, "constant_value") * self(other)
            return self(k.k1) * self(k.k2)
        if isinstance(k, twins.Exponentiation) and float(k.exponent).is_integer() and 1 <= k.exponent <= 1000:
            return self(k.kernel) ** int(k.exponent)
        if type(k) is twins.ConstantKernel:
            return Constant(self.hyper(k, "constant_value"))
        if type(k) is twins.WhiteKernel:
            return White(self.hyper(k, "noise_level"))
        if type(k) is twins.RBF or (type(k) is twins.Matern and k.nu == np.inf):
            return Gaussian(self.hyper(k, "length_scale"))
        if type(k) is twins.Matern and k.nu in (0.5, 1.5, 2.5):
            return Matern(k.nu, self.hyper(k, "length_scale"))
        if type(k) is twins.RationalQuadratic:
            return RationalQuadratic(self.hyper(k, "length_scale"), self.hyper(k, "alpha"))
        if type(k) is twins.DotProduct:
            return Linear() + Constant(self.hyper(k, "sigma_0", power=2)) if k.sigma_0 else Linear()
        if type(k) is twins.ExpSineSquared and self.n_features == 1:  # in more dimensions it is one of the Euclidean distance, and no kernel
            return Periodic(self.hyper(k, "length_scale"), self.hyper(k, "periodicity"))
        return self.function(k)

    def function(self, k: Any) -> Kernel:
        """Called block by block, so it cannot know where a sample meets itself: white noise inside it would vanish."""
        if "WhiteKernel(" in repr(k):
            raise ValueError(f"{k} has no exact form in Mercer, and white noise inside it cannot be told apart: write the noise as a sum outside")
        self.as_functions.append(k)
        return kernel_function(k, name=repr(k))


def converted(k: twins.Kernel, n_features: int) -> tuple[Kernel, Bounds]:
    """The same kernel in Mercer's terms, and the bounds of its parameters, in their order; equal ends for those that are fixed.

    A part without an exact form in Mercer is called as a function, block by block, and keeps its parameters.
    """
    made = _Converter(n_features, stand_ins=False)
    kernel = made(k)
    if any(not h.fixed for part in made.as_functions for h in part.hyperparameters):
        listed = ", ".join(str(part) for part in made.as_functions)
        warnings.warn(f"{listed} has no exact form in Mercer: it is called as a function, and its parameters stay as they are", stacklevel=4)
    marked = _Converter(n_features, stand_ins=True)
    # Where the algebra has made one number of two (factors of factors), the usual bounds hold.
    return kernel, [marked.bounds.get(value, (1e-5, 1e5)) for _, value in marked(k).parameters]
