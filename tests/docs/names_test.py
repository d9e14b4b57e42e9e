"""The tables that name a capability on several fronts tell the truth: what stands below "C++" is in the public headers, below "Python" in the package, below "shell" a command of the tool."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest
from blocks import PAGES, ROOT

TABLE = re.compile(r"^\|.*\n\|[-| ]+\|\n(?:^\|.*\n)+", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w+")


def words_in(folder: str, *patterns: str) -> set[str]:
    return {word for pattern in patterns for path in (ROOT / folder).rglob(pattern) for word in NAME.findall(path.read_text())}


KNOWN = {
    "C++": words_in("include/mercer", "*.hpp") | {"kernels", "mercer"},
    "Python": words_in("python/mercer", "*.py") | words_in("python/bindings", "*.cpp"),
    "shell": words_in("cli", "*.cpp", "*.hpp") | words_in("src/data", "simulate.cpp"),
}


def cells():
    """Page, front and the code of each cell of a table with columns for the C++ and the Python name."""
    for page in PAGES:
        for table in TABLE.findall(page.read_text()):
            header, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
            if {"C++", "Python"} <= set(header):
                for row in rows:
                    for front, cell in zip(header, row, strict=True):
                        if front in KNOWN:
                            yield page, front, re.findall(r"`([^`]+)`", cell)


CELLS = list(cells())


@pytest.mark.parametrize("page", sorted({page for page, _, _ in CELLS}), ids=lambda page: page.name)
def test_names_exist(page):
    for here, front, codes in CELLS:
        if here == page:
            for code in codes:
                unquoted = re.sub(r"\"[^\"]*\"", "", code)
                missing = [name for name in NAME.findall(unquoted) if name.lower() not in ("true", "false", "none") and name not in KNOWN[front]]
                assert not missing, f"{page.name}: {front} has no {', '.join(missing)} (`{code}`)"


def test_tables_were_read():
    assert len(CELLS) > 200 and {front for _, front, _ in CELLS} == set(KNOWN)
