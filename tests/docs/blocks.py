"""Finds the code of a page: fenced blocks, in the order they stand, with the output that the page promises for each.

A block is ```python, ```cpp or ```sh. A ```text block right behind it is what it prints (`...` stands for anything, as in doctest). What a reader
need not see goes into a comment right before the block, and runs first:

    <!-- setup
    const auto [X, y] = mercer::simulate::waves(100);
    -->

Shell blocks run under `set -euo pipefail` and show standard output; `exec 2>&1; trap 'exit 0' EXIT` in the comment is for those that show an error.
"""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LANGUAGES = ("python", "cpp", "sh")

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$\n?", re.DOTALL | re.MULTILINE)
SETUP = re.compile(r"<!-- setup\n((?:(?!-->).)*)-->\n+\Z", re.DOTALL)


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    number: int  # among the page's blocks of its language, from 1
    line: int  # where the code begins
    language: str
    code: str
    setup: str = ""
    printed: str | None = None  # None: the page does not say
    printed_span: tuple[int, int] | None = None  # where in the page's text that stands

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.language}:{self.number}"

    @property
    def place(self) -> str:
        return f"{os.path.relpath(self.page, ROOT)}:{self.line}"


def blocks_of(page: pathlib.Path) -> list[Block]:
    """Every fenced block but those that are the output of the one before."""
    text = page.read_text()
    found: list[Block] = []
    count: dict[str, int] = {}
    end_of_last = -1
    for fence in FENCE.finditer(text):
        language = fence["language"].strip()
        between = text[end_of_last : fence.start()] if end_of_last >= 0 else "?"
        if language == "text" and not between.strip() and found and found[-1].language in LANGUAGES and found[-1].printed is None:
            found[-1].printed, found[-1].printed_span = fence["code"], fence.span("code")
        else:
            count[language] = count.get(language, 0) + 1
            before = SETUP.search(text, 0, fence.start())
            line = text.count("\n", 0, fence.start("code")) + 1
            found.append(Block(page, count[language], line, language, fence["code"], before[1] if before else ""))
        end_of_last = fence.end()
    return found
