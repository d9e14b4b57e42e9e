"""Mercer: kernel methods to learn, explore, test and reweight.

>>> import mercer
>>> X, y = mercer.datasets.waves()
>>> model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)
>>> model.predict([[1.0]]).shape
(1,)
"""
# SPDX-License-Identifier: BSD-3-Clause
from . import datasets, kernels
from ._errors import FileError
from ._files import TableModel, info, load, save
from ._gram import GramCheck, check_gram, gram
from ._kernel_ridge import KernelRidge
from ._mercer import version
from ._ridge import Ridge, monomials
from .kernels import Kernel, feature_map, kernel, kernel_function

__version__: str = version()

__all__ = [
    "FileError",
    "GramCheck",
    "Kernel",
    "KernelRidge",
    "Ridge",
    "TableModel",
    "check_gram",
    "datasets",
    "feature_map",
    "gram",
    "info",
    "kernel",
    "kernel_function",
    "kernels",
    "load",
    "monomials",
    "save",
]
