"""How results look in a notebook and at the prompt: the verdict first, then numbers and a table; long arrays are shortened.

Everything a user may have named, such as columns and kernels, is escaped.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from html import escape
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["Shown", "html", "short"]

_MOST_ENTRIES = 6
_MOST_ROWS = 20
_IN_WORDS = ("sentence", "summary", "remarks")  # what the text of a result says already


def short(value: Any) -> str:
    """A value in a few words: numbers with six digits, arrays by their ends, lists by their first entries."""
    if isinstance(value, bool | np.bool_) or value is None:
        return str(value)
    if isinstance(value, Real):
        return f"{float(value):.6g}" if not isinstance(value, int | np.integer) else str(int(value))
    if isinstance(value, str):
        return value if len(value) <= 120 else value[:117] + "..."
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return _listed([f"{name}: {short(one)}" for name, one in value.items()], "{}")
    if isinstance(value, list | tuple):
        return _listed([short(one) for one in value], "[]" if isinstance(value, list) else "()")
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _listed(words: list[str], brackets: str) -> str:
    more = [f"... ({len(words)} in all)"] if len(words) > _MOST_ENTRIES else []
    return brackets[0] + ", ".join(words[:_MOST_ENTRIES] + more) + brackets[1]


def _array(values: np.ndarray) -> str:
    if values.ndim == 1 and values.size <= _MOST_ENTRIES:
        return _listed([short(one) for one in values.tolist()], "[]")
    about = f"array of shape {values.shape}"
    if values.size == 0 or values.dtype.kind not in "fiu" or not np.isfinite(values).any():
        return about
    return f"{about}, from {short(np.nanmin(values).item())} to {short(np.nanmax(values).item())}"


def html(text: str, facts: Mapping[str, Any] | None = None, table: Sequence[Mapping[str, Any]] = ()) -> str:
    """A verdict (its first line in bold), a list of facts to unfold, and a table of at most twenty rows."""
    first, *rest = text.split("\n")
    out = [f"<div><strong>{escape(first)}</strong>"]
    out += [f"<div>{escape(line.strip())}</div>" for line in rest]
    if table:
        heads = list(dict.fromkeys(name for row in table for name in row))
        rows = "".join("<tr>" + "".join(_cell("td", row.get(name, "")) for name in heads) + "</tr>" for row in table[:_MOST_ROWS])
        more = f"<div>{len(table) - _MOST_ROWS} more rows</div>" if len(table) > _MOST_ROWS else ""
        out.append(f"<table><thead><tr>{''.join(_cell('th', name) for name in heads)}</tr></thead><tbody>{rows}</tbody></table>{more}")
    if facts:
        rows = "".join(f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in facts.items())
        out.append(f"<details><summary>details</summary><table><tbody>{rows}</tbody></table></details>")
    return "".join(out) + "</div>"


def _cell(tag: str, value: Any) -> str:
    return f'<{tag} style="text-align: left">{escape(short(value))}</{tag}>'


class Shown:
    """A result with ``_repr_html_``, which notebooks ask for, and a repr of one line. str() gives its text."""

    __slots__ = ()

    def _facts(self) -> dict[str, Any]:
        """What the details list: the fields that the text has not said."""
        if dataclasses.is_dataclass(self):
            return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _IN_WORDS and f.name != self._table_name()}
        return {name: value for name, value in getattr(self, "__dict__", {}).items() if not name.startswith("_") and name not in _IN_WORDS}

    def _table_name(self) -> str:
        """The field that is shown as a table, if one is."""
        return ""

    def _table(self) -> Sequence[Mapping[str, Any]]:
        return getattr(self, self._table_name()) if self._table_name() else ()

    def _repr_html_(self) -> str:
        return html(str(self), self._facts(), self._table())

    def __repr__(self) -> str:
        shown = [f.name for f in dataclasses.fields(self) if f.repr] if dataclasses.is_dataclass(self) else []  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_quoted(getattr(self, name))}' for name in shown)})"


def _quoted(value: Any) -> str:
    return repr(value) if isinstance(value, str) and len(value) <= 120 else short(value)
