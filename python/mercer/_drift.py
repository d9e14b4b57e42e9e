"""An online monitor that says when a stream has left its reference, with a rate of false alarms that is set beforehand.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> monitor = mercer.DriftMonitor(rng.normal(size=(300, 2)), window=20, expected_run_length=500, random_state=0)
>>> bool(monitor.update(rng.normal(size=(100, 2))))               # as the reference
False
>>> seen = monitor.update(rng.normal(size=(50, 2)) + 1.5)         # shifted
>>> bool(seen), bool(seen.alarms[0] < 120)
(True, True)
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._change_points import _count
from ._arguments import number
from ._kernel import Kernel, kernel_for, wrap
from ._shown import Shown
from ._test_result import seed_of

__all__ = ["DriftMonitor", "DriftUpdate"]


@dataclass(frozen=True, eq=False, repr=False)
class DriftUpdate(Shown):
    """What the monitor says of some rows, one entry each; True in a condition if there was an alarm.

    Attributes
    ----------
    time : numbers of the rows since the monitor was made, from 0.
    statistic, threshold : mmd-u of the window against the reference, and what it must exceed; NaN until the window is full.
    alarm : whether it does; alarms : the times where it does.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> monitor = mercer.DriftMonitor(rng.normal(size=(200, 2)), window=20, random_state=0)
    >>> update = monitor.update(rng.normal(size=(5, 2)))
    >>> len(update), bool(update), update.time
    (5, False, array([0, 1, 2, 3, 4]))
    """

    time: np.ndarray
    statistic: np.ndarray
    threshold: np.ndarray
    alarm: np.ndarray

    @property
    def alarms(self) -> np.ndarray:
        return self.time[self.alarm]

    def __bool__(self) -> bool:
        return bool(self.alarm.any())

    def __len__(self) -> int:
        return len(self.time)

    def __str__(self) -> str:
        if len(self) == 0:
            return "no rows"
        said = f"{len(self)} row{'s' * (len(self) > 1)} seen (time {self.time[0]} to {self.time[-1]}): "
        times = self.alarms
        if len(times) == 0:
            said += "no alarm"
        elif len(times) == 1:
            said += f"an alarm at time {times[0]}"
        else:
            said += f"{len(times)} alarms, first at time {times[0]}, last at {times[-1]}"
        if np.isnan(self.statistic[-1]):
            return said + "; the window is not full yet"
        return said + f"; last statistic {self.statistic[-1]:.4g}, threshold {self.threshold[-1]:.4g}"

    def __repr__(self) -> str:
        return f"<DriftUpdate: {self}>"

    def plot(self, ax: Any = None) -> Any:
        """Statistic and threshold over time, alarms as dots."""
        from . import plot

        return plot.drift(self, ax=ax)


class DriftMonitor(Shown):
    """Compares the last rows of a stream with a reference, row by row, by the maximum mean discrepancy.

    While nothing has changed, an alarm comes after ``expected_run_length`` rows on average, at the same rate at every row once the window is
    full. That holds over references, for independent rows; see the page on drift for what it is in practice.

    Parameters
    ----------
    reference : rows of the time when all was well, at least three windows of them.
    kernel : a kernel or its text; None is a Gaussian one with the median distance of the reference. Data are not scaled.
    window : rows that are compared with the reference; None is a quarter of it, at most 50.
    expected_run_length : rows to a false alarm, on average; None is 1000. false_alarm_rate : the same as a rate per row, instead of it.
    n_simulations : streams drawn from the reference to find the thresholds; None is 25 times the run length, at least 2000.
    max_reference : rows; more are thinned at random.
    random_state : of the simulations; None draws one, which ``seed`` names.

    Attributes
    ----------
    kernel, window, expected_run_length, n_simulations, seed, thresholds, remarks : as calibrated.
    time, filled, last_alarm : rows seen, rows in the window, time of the latest alarm since the last reset (None: none).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> monitor = mercer.DriftMonitor(rng.normal(size=(200, 2)), window=20, random_state=0)
    >>> bool(monitor.update(rng.normal(size=(40, 2)) + 2.0)), monitor.time
    (True, 40)
    """

    def __init__(
        self,
        reference: Any,
        kernel: Kernel | str | None = None,
        *,
        window: int | None = None,
        expected_run_length: float | None = None,
        false_alarm_rate: float | None = None,
        n_simulations: int | None = None,
        max_reference: int = 4000,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: int = 0,
    ) -> None:
        if false_alarm_rate is not None:
            if expected_run_length is not None:
                raise ValueError("give expected_run_length or false_alarm_rate, not both: one is 1 over the other")
            rate = number(false_alarm_rate, "false_alarm_rate")
            if not 0 < rate <= 0.5:
                raise ValueError(f"false_alarm_rate must be above 0 and at most 0.5 for each row, got {false_alarm_rate!r}")
            expected_run_length = 1 / rate
        if not sp.issparse(reference) and not _data.looks_structured(reference) and np.ndim(reference) == 1:
            reference = np.asarray(reference).reshape(-1, 1)
        self._names = _data.column_names(reference)
        native = kernel_for(kernel, reference)._at_columns(self._names)
        with _run.progress(verbose) as bar:
            self._native = _mercer.drift_monitor(
                _data.samples(_data.rows(reference, "reference")), native, 0 if window is None else _count(window, "window", 2),
                number(1000 if expected_run_length is None else expected_run_length, "expected_run_length"), 0 if n_simulations is None else _count(n_simulations, "n_simulations", 1),
                _count(max_reference, "max_reference", 1), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
            )  # fmt: skip

    kernel = property(lambda self: wrap(self._native.kernel), doc="The kernel, with automatic length scales set.")
    window = property(lambda self: self._native.window, doc="Rows compared with the reference.")
    thresholds = property(lambda self: self._native.thresholds, doc="Of the steps after the window is full; the last one holds from then on.")
    expected_run_length = property(lambda self: self._native.expected_run_length, doc="Rows to a false alarm, on average.")
    n_simulations = property(lambda self: self._native.simulations, doc="Streams that the thresholds are from.")
    seed = property(lambda self: self._native.seed, doc="Of the simulations.")
    remarks = property(lambda self: self._native.remarks, doc="What a reader must know.")
    reference_rows = property(lambda self: self._native.reference_rows, doc="Rows of the reference that the window is compared with.")
    time = property(lambda self: self._native.time, doc="Rows seen.")
    filled = property(lambda self: self._native.filled, doc="Rows in the window.")

    @property
    def last_alarm(self) -> int | None:
        """Time of the latest alarm since the last reset."""
        return self._native.last_alarm if self._native.last_alarm >= 0 else None

    @property
    def state(self) -> dict[str, Any]:
        """time, filled, window and last_alarm as a dictionary."""
        return {"time": self.time, "filled": self.filled, "window": self.window, "last_alarm": self.last_alarm}

    def update(self, rows: Any, *, n_jobs: int | None = None, verbose: int = 0) -> DriftUpdate:
        """Looks at the next rows of the stream: a matrix, or one row as a list of numbers. Monitors that have alarmed go on until reset."""
        if isinstance(rows, str | dict):  # one object
            rows = [rows]
        objects = _data.looks_structured(rows)
        if not sp.issparse(rows) and not objects and np.ndim(rows) <= 1:
            one = np.atleast_1d(np.asarray(rows))
            rows = one.reshape(-1, 1) if self._native.width == 1 else one.reshape(1, -1)
        names = _data.column_names(rows)
        if names is not None and self._names is not None and names != self._names:
            raise ValueError(f"rows must have the columns {self._names}, in this order" + _data._difference(self._names, names, "rows", "reference"))
        if not sp.issparse(rows) and not objects and np.ndim(rows) == 2 and np.shape(rows)[0] == 0:
            return DriftUpdate(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0, dtype=bool))
        with _run.progress(verbose) as bar:
            time, statistic, threshold, alarm = self._native.update(_data.samples(_data.rows(rows, "rows")), _run.threads(n_jobs), bar)
        return DriftUpdate(np.asarray(time, dtype=np.intp), statistic, threshold, np.asarray(alarm, dtype=bool))

    def reset(self) -> None:
        """Empties the window, after an alarm that was looked into, say; time goes on."""
        self._native.reset()

    def _facts(self) -> dict[str, Any]:
        return self.state | {"kernel": self.kernel, "reference_rows": self.reference_rows, "expected_run_length": self.expected_run_length}

    def __repr__(self) -> str:
        return f"DriftMonitor(window={self.window}, expected_run_length={self.expected_run_length:g}, kernel={str(self.kernel)!r}, time={self.time})"

    def __str__(self) -> str:
        return self._native.sentence

    _PLAIN = ("thresholds", "window", "expected_run_length", "simulations", "seed", "remarks", "time", "steps", "last_alarm")

    def __getstate__(self) -> dict[str, Any]:
        parts = self._native.parts
        state = {name: getattr(parts, name) for name in self._PLAIN}
        state["kernel"] = wrap(parts.kernel)
        state["reference"] = _data.stored(parts.reference)
        state["recent"] = _data.stored(parts.recent) if parts.recent.size > 0 else None
        state["names"] = self._names
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = _mercer.DriftParts()
        for name in self._PLAIN:
            setattr(parts, name, state[name])
        parts.kernel = state["kernel"]._native
        parts.reference = _data.samples(state["reference"])
        if state["recent"] is not None:
            parts.recent = _data.samples(state["recent"])
        self._names = state["names"]
        self._native = _mercer.DriftMonitor(parts)

    def __copy__(self) -> DriftMonitor:
        other = DriftMonitor.__new__(DriftMonitor)
        other.__setstate__(self.__getstate__())
        return other
