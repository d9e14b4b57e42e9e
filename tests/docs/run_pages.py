"""Runs the code of a page from top to bottom, as a reader would: one folder, one Python interpreter, the built tool on PATH.

    .venv/bin/python tests/docs/run_pages.py --write docs/gram.md     writes what the blocks print into the text blocks behind them
"""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import doctest
import io
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from blocks import LANGUAGES, ROOT, Block, blocks_of  # noqa: E402

BUILD = pathlib.Path(os.environ.get("MERCER_BUILD", ROOT / "build" / "release"))
PROGRAMS = BUILD / "bin" / "docs_programs"

# Lines of sh blocks that are left out, by how they begin, and why.
NOT_RUN = {
    "make demo": "builds the tree and is what `make test-clone` runs",
    "make test": "runs this test",
    "make setup": "installs packages on the machine",
    "make build": "builds the tree that this test runs in",
    "make docs": "installs packages; `make test-site` runs it",
    "make bench": "takes minutes, and measures",
    "cmake --preset cpp": "builds and installs a second time; tests/install does it in a folder of its own",
    "pip install .": "builds a wheel; `make test-pip` runs it",
    ". .venv/bin/activate": "the test runs in that environment already",
    "export PATH=": "the test has the tool on its PATH already",
}


class Failed(Exception):
    """A block that stopped, with its place and what it said."""


def not_run(line: str) -> bool:
    return any(line == start or (line.startswith(start) and not line[len(start)].isalnum()) or (start.endswith("=") and line.startswith(start)) for start in NOT_RUN)


def subprocess_output(block: Block, words: list[str]) -> str:
    environment = os.environ | {"PATH": f"{BUILD / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failed(f"{block.place} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def run_python(block: Block, names: dict) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for first_line, code in ((block.line - 1, block.setup), (block.line, block.code)):
            exec(compile("\n" * (first_line - 1) + code, str(block.page), "exec"), names)
    return out.getvalue()


def run_block(block: Block, names: dict) -> str:
    """What the block printed on standard output."""
    if block.language == "python":
        return run_python(block, names)
    if block.language == "cpp":
        return subprocess_output(block, [str(PROGRAMS), block.name])
    lines = [line for line in block.code.splitlines() if not not_run(line)]
    return subprocess_output(block, ["bash", "-euo", "pipefail", "-c", "\n".join([block.setup, *lines])])


def run_page(page: pathlib.Path):
    """Yields each block with what it printed. The working directory is a new, empty folder meanwhile."""
    names: dict = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks_of(page):
            if block.language not in LANGUAGES:
                raise Failed(f"{block.place}: nothing runs a block of {block.language or 'no language'}; name one of {', '.join(LANGUAGES)}, or make it a text block right behind what prints it")
            yield block, run_block(block, names)


def as_promised(block: Block, got: str) -> bool:
    """Python without a text block promises to print nothing; for the others the page need not say."""
    if block.printed is None:
        return block.language != "python" or got == ""
    return doctest.OutputChecker().check_output(block.printed, got, doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE)


def write_outputs(page: pathlib.Path) -> int:
    text = page.read_text()
    changed = [(block.printed_span, got) for block, got in run_page(page) if block.printed is not None and not as_promised(block, got)]
    for (start, end), got in reversed(changed):
        text = text[:start] + got + text[end:]
    page.write_text(text)
    return len(changed)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    for name in sys.argv[2:]:
        print(f"{name}: {write_outputs(pathlib.Path(name).resolve())} outputs written")
