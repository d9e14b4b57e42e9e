"""What every estimator is: scikit-learn's BaseEstimator, where the numbers of a kernel are parameters too, as in ``kernel__length_scale``."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator as ScikitEstimator
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from ._kernel import Kernel, kernel as make_kernel

__all__ = ["BaseEstimator"]

_INSIDE = "kernel__"


def _values(kernel: Any) -> Kernel | None:
    """The kernel with numbers of its own; None for words of scikit-learn, lists of kernels, and functions."""
    if isinstance(kernel, str) and kernel not in PAIRWISE_KERNEL_FUNCTIONS:
        try:
            return make_kernel(kernel)
        except ValueError:  # precomputed, a function's name, a slip: fit says more
            return None
    return kernel if isinstance(kernel, Kernel) else None


class BaseEstimator(ScikitEstimator):
    """Searches, pipelines and clones set ``kernel__<name>``: the kernel is replaced by one with the other number, since kernels do not change.

    >>> import mercer
    >>> from mercer.kernels import Gaussian
    >>> mercer.KernelRidge(kernel=Gaussian(2)).set_params(kernel__length_scale=5.0).kernel
    Gaussian(length_scale=5.0)
    >>> print(mercer.SVC(kernel="2*gaussian(1) + linear").set_params(**{"kernel__gaussian.length_scale": 3.0}).kernel)
    2*gaussian(3) + linear
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, and with ``deep`` those of the kernel as ``kernel__<name>``."""
        params = super().get_params(deep)
        kernel = _values(params.get("kernel")) if deep else None
        return params if kernel is None else params | {_INSIDE + name: value for name, value in kernel.arguments.items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the kernel by ``kernel__<name>``."""
        own = getattr(params.get("kernel", getattr(self, "kernel", None)), "set_params", None)  # a kernel of scikit-learn sets its own
        inside = {} if own is not None else {name: value for name, value in params.items() if name.startswith(_INSIDE)}
        super().set_params(**{name: value for name, value in params.items() if name not in inside})
        if not inside:
            return self
        kernel = _values(getattr(self, "kernel", None))
        if kernel is None:
            what = f"kernel={self.kernel!r}" if hasattr(self, "kernel") else "no kernel"
            raise ValueError(f"{', '.join(inside)}: {type(self).__name__} has {what}, which has no parameters of its own; give a kernel such as Gaussian(2)")
        self.kernel = kernel.with_arguments(**{name.removeprefix(_INSIDE): value for name, value in inside.items()})
        return self
