"""Another name of :mod:`mercer.plot`, which it was called before."""
# SPDX-License-Identifier: BSD-3-Clause
from .plot import *  # noqa: F403
from .plot import __all__  # noqa: F401
