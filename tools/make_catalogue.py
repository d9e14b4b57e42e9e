#!/usr/bin/env python3
"""Writes the tables of docs/kernels.md from what the tool itself says, so that the page cannot differ from it.

    python3 tools/make_catalogue.py           rewrites the page between its markers
    python3 tools/make_catalogue.py --check   only says whether the page is up to date

The tool is $MERCER_TOOL, else build/release/bin/mercer.
"""
# SPDX-License-Identifier: BSD-3-Clause
import html
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "kernels.md"
VERDICTS = ["psd", "strictly_pd", "universal", "characteristic", "bounded", "shift_invariant"]


def code(text: str) -> str:
    """As code in a cell of a table: a bar would end the cell even between backticks."""
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def long_code(text: str) -> str:
    return code(text).replace("<code>", '<code class="wrap">')


def cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;")


def parameters_of(kernel: dict) -> str:
    return "<br>".join(f"{code(p['name'] + ' = ' + p['default'])} {cell(p['range'])}" for p in kernel["parameters"]) or "none"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def catalogue(kernels: list[dict]) -> str:
    formulas = table(
        ["kernel", "formula", "parameters", "notes and source"],
        [[code(k["name"]), long_code(k["formula"]), parameters_of(k), cell("; ".join(filter(None, [k["note"], k["source"]])))] for k in kernels],
    )
    verdicts = table(
        ["kernel", *(v.replace("_", " ") for v in VERDICTS)],
        [[code(k["name"]), *(k[v] for v in VERDICTS)] for k in kernels],
    )
    return f"{formulas}\n{verdicts}"


def operations(listed: list[dict]) -> str:
    return table(["operation", "makes", "notes"], [[code(o["text"]), long_code(o["formula"]), cell(o["note"])] for o in listed])


def written(page: str, listed: dict) -> str:
    """The page with its tables made anew."""
    for name, text in (("catalogue", catalogue(listed["kernels"])), ("operations", operations(listed["operations"]))):
        begin, end = f"<!-- {name}: written by tools/make_catalogue.py -->\n", f"<!-- end of {name} -->\n"
        if begin not in page or end not in page:
            sys.exit(f"{PAGE.relative_to(ROOT)} needs the two lines\n{begin}{end}")
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    return page


def main() -> None:
    tool = os.environ.get("MERCER_TOOL", str(ROOT / "build" / "release" / "bin" / "mercer"))
    listed = json.loads(subprocess.run([tool, "kernels", "--json"], capture_output=True, check=True).stdout)
    page = PAGE.read_text()
    new = written(page, listed)
    if "--check" in sys.argv[1:]:
        sys.exit(None if new == page else "docs/kernels.md is not what `mercer kernels` says: run python3 tools/make_catalogue.py")
    PAGE.write_text(new)
    print(f"docs/kernels.md: {len(listed['kernels'])} kernels")


if __name__ == "__main__":
    main()
