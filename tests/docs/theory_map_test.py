"""docs/theory-map.md tells the truth: every row id is one of the project's, every function and test that it names is in the file that it names."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest
from blocks import ROOT

PAGE = ROOT / "docs" / "theory-map.md"
COUNTS = {"K": 10, "R": 6, "S": 7, "P": 4, "M": 9, "E": 14}  # K1 .. K10 and so on
ROWS = {f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)}
SLIPS = {f"S{number}" for number in range(1, 22)}
NAMES_IN_FILE = re.compile(r"((?:`[^`]+`, )*`[^`]+`) in `([^`]+)`")


def tables():
    """The header and the rows of every table of the page, cells as text."""
    for table in re.findall(r"(?:^\|.*\n)+", PAGE.read_text(), re.MULTILINE):
        header, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
        yield header, rows


MAP = [dict(zip(header, row, strict=True)) for header, rows in tables() if "test" in header for row in rows]


def named(cell: str):
    for names, file in NAMES_IN_FILE.findall(cell):
        for name in re.findall(r"`([^`]+)`", names):
            yield name, file


def source_of(file: str) -> str:
    path = ROOT / file
    assert path.is_file(), f"{file} does not exist"
    return path.read_text()


@pytest.mark.parametrize("row", MAP, ids=lambda row: row["row"])
def test_row(row):
    assert row["row"] in ROWS
    functions, tests = list(named(row["function"])), list(named(row["test"]))
    assert functions and tests, "a row names at least one function and one test, each as `name` in `file`"
    # Nothing in these cells escapes the check.
    for column in ("function", "test"):
        assert not re.sub(r"[,; ]", "", NAMES_IN_FILE.sub("", row[column])), f"{row[column]}: write `name`, `name` in `file`"
    for name, file in functions:
        assert re.search(rf"(?<!\w){re.escape(name.rpartition('::')[2])}(?!\w)", source_of(file)), f"{name} is not in {file}"
    for name, file in tests:
        suite, _, case = name.rpartition(".")
        pattern = rf"def {case}\(" if file.endswith(".py") else rf"\((?:{suite}), {case}[,)]"
        assert re.search(pattern, source_of(file)), f"{name} is not in {file}"


def test_slips():
    slips = [row[0] for header, rows in tables() if header[0] == "slip" for row in rows]
    assert slips == [f"S{number}" for number in range(1, 22)], "every slip, once and in order"


def test_every_slip_is_named_where_it_occurs():
    """On the pages that follow the sources, section by section."""
    pages = [page.read_text() for page in sorted((ROOT / "docs" / "theory").glob("*.md"))]
    assert len(pages) == 5
    assert {f"S{number}" for page in pages for number in re.findall(r"[Ss]lip S(\d+)", page)} == SLIPS


def test_the_map_was_read():
    assert len(MAP) >= 15
