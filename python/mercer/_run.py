"""How a job runs: threads, memory, and the bar that shows how far it is."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import shutil
import sys
import time
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


def _redraws(stream: Any) -> bool:
    """Whether a carriage return begins the line again: on terminals, and in the cells of notebooks."""
    if type(stream).__module__.partition(".")[0] == "ipykernel":
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


class _Bar:
    """One line on stderr, redrawn where that can be done, and the time of each stage at the end; elsewhere a line twice a minute."""

    width = 30
    silent = 30.0  # seconds without a word, where nothing can be redrawn

    def __init__(self) -> None:
        self.live = _redraws(sys.stderr)
        self.stage = ""
        self.fraction = self.seconds = 0.0
        self.taken: dict[str, float] = {}  # seconds of each stage, which may come again
        self.spoken = time.monotonic()
        self.drawn = 0  # characters

    def __call__(self, stage: str, fraction: float, seconds: float) -> None:
        if stage != self.stage or seconds < self.seconds:
            self._count()
        self.stage, self.fraction, self.seconds = stage, min(max(fraction, 0.0), 1.0), seconds
        if self.live:
            self._draw(self._line())
        elif time.monotonic() - self.spoken >= self.silent:
            self.spoken = time.monotonic()
            sys.stderr.write(f"{stage}: {self.fraction:.0%}, {seconds:.1f} s{self._left()}\n")
            sys.stderr.flush()

    def _count(self) -> None:
        if self.stage:
            self.taken[self.stage] = self.taken.get(self.stage, 0.0) + self.seconds

    def _left(self) -> str:
        """The time to the end of the stage, once a guess is worth something."""
        if self.seconds < 1 or not 0.02 <= self.fraction < 1:
            return ""
        left = self.seconds * (1 - self.fraction) / self.fraction
        return f", {left:.0f} s left" if left < 100 else f", {left / 60:.0f} min left"

    def _line(self) -> str:
        full = int(self.width * self.fraction)
        return f"{self.stage:<24} [{'#' * full}{'-' * (self.width - full)}] {self.fraction:4.0%} {self.seconds:6.1f} s{self._left()}"

    def _draw(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]  # what wraps cannot be redrawn
        sys.stderr.write("\r" + line.ljust(self.drawn))
        sys.stderr.flush()
        self.drawn = len(line)

    def close(self, done: bool = True) -> None:
        """What each stage took, or how far the job was."""
        if not self.stage:
            return
        self._count()
        said = [f"{stage}: {seconds:.1f} s" for stage, seconds in self.taken.items()]
        if not self.live:
            sys.stderr.write("".join(line + "\n" for line in said))
        else:
            self._draw(", ".join(said) if done else self._line())
            sys.stderr.write("\n")
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
