"""How a job runs: threads, memory, and the bar that shows how far it is."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

from . import _mercer


def threads(n_jobs: int | None) -> int:
    """The library's thread count for scikit-learn's ``n_jobs``; 0 leaves the choice to the library.

    None means MERCER_NUM_THREADS, else OMP_NUM_THREADS (which joblib's workers set, so that a parallel grid search does
    not start more threads than there are cores), else all cores.
    """
    if n_jobs is None:
        if "MERCER_NUM_THREADS" in os.environ:
            return 0
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(int(limit), _mercer.default_threads()) if limit.isdigit() else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, _mercer.default_threads() + 1 + int(n_jobs))


def memory_bytes(memory: str | float | None) -> int:
    """The memory budget in bytes: a number, text such as "4G", or None (0) for the library's own choice."""
    if memory is None:
        return 0
    if isinstance(memory, str):
        return _mercer.parse_bytes(memory)
    if not isinstance(memory, Real) or not memory >= 1:
        raise ValueError(f'memory must be a number of bytes or text such as "4G", got {memory!r}')
    return int(memory)


class _Bar:
    """One line per stage on stderr, redrawn in place on a terminal and written once elsewhere."""

    width = 30

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.stage = ""
        self.seconds = 0.0

    def __call__(self, stage: str, fraction: float, seconds: float) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
        self.seconds = seconds
        if self.live:
            self._draw(fraction)

    def _draw(self, fraction: float) -> None:
        full = int(self.width * min(max(fraction, 0.0), 1.0))
        bar = "#" * full + "-" * (self.width - full)
        sys.stderr.write(f"\r{self.stage:<24} [{bar}] {fraction:4.0%} {self.seconds:6.1f} s")
        sys.stderr.flush()

    def close(self, done: bool = True) -> None:
        if not self.stage:
            return
        if self.live:
            if done:
                self._draw(1.0)
            sys.stderr.write("\n")
        else:
            sys.stderr.write(f"{self.stage}: {self.seconds:.1f} s\n")
        sys.stderr.flush()
        self.stage = ""


@contextmanager
def progress(verbose: Any) -> Iterator[_Bar | None]:
    """The progress callback of one job, None unless ``verbose``."""
    if not verbose:
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    except BaseException:
        bar.close(done=False)
        raise
    bar.close()
