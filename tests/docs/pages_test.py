"""Every program in the documentation runs, and prints what its page says. A block that nothing runs is a failure."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest
from blocks import LANGUAGES, PAGES, ROOT, blocks_of
from make_programs import source
from run_pages import NOT_RUN, PROGRAMS, as_promised, run_page

IDS = [str(page.relative_to(ROOT)) for page in PAGES]
# Written by `make bench`, which takes minutes.
WITHOUT_PROGRAMS = {"benchmarks.md"}
# Pages to look things up in; the others are about a capability, a source or a way over, and say what it cannot do.
REFERENCE = {"README.md", "benchmarks.md", "command-line.md", "gallery.md", "learn.md", "notation.md", "plot.md", "python.md", "theory-map.md"}


def test_the_programs_are_those_of_the_pages():
    """Compiled from the C++ that the pages show now; that text around it moved does not matter."""
    made = PROGRAMS.parents[1] / "tests" / "docs" / "docs_programs.cpp"
    assert PROGRAMS.exists() and made.exists(), f"{PROGRAMS} is not built: make build"
    now = source([block for page in PAGES for block in blocks_of(page) if block.language == "cpp"])
    without_places = [re.sub(r"^#line .*$", "", text, flags=re.MULTILINE) for text in (made.read_text(), now)]
    assert without_places[0] == without_places[1], "the C++ of a page changed: make build"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_page(page):
    for block, got in run_page(page):
        assert as_promised(block, got), f"{block.place} says\n{block.printed or 'nothing'}\nand printed\n{got}\n(run_pages.py --write {page.relative_to(ROOT)} takes it over)"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent != ROOT and p.parent.name != "design" and p.name not in WITHOUT_PROGRAMS], ids=lambda p: p.name)
def test_page_opens_with_lines_that_run(page):
    first = next((block for block in blocks_of(page) if block.language in LANGUAGES), None)
    assert first is not None and first.line <= 16, f"{page.name} should open with three lines that run"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent != ROOT and p.parent.name != "design" and p.name not in REFERENCE], ids=lambda p: p.name)
def test_page_says_what_it_cannot_do(page):
    assert re.search(r"^## .*\blimits\b", page.read_text(), re.MULTILINE | re.IGNORECASE), f"{page.name} has no section on limits"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent != ROOT], ids=lambda p: p.name)
def test_programs_fit_the_page(page):
    for block in blocks_of(page):
        for number, line in enumerate(block.code.splitlines()):
            assert len(line) <= 100, f"{page.name}:{block.line + number} has {len(line)} characters; the site shows about 100"


def test_lines_left_out_are_words_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {line.split()[1] for line in NOT_RUN if line.startswith("make ")} <= targets
