#!/usr/bin/env python3
"""Writes the tables of docs/kernels.md from what the tool itself says, so that the page cannot differ from it.

    python3 tools/make_catalogue.py           rewrites the page between its two markers
    python3 tools/make_catalogue.py --check   only says whether the page is up to date

The tool is $MERCER_TOOL, else build/release/bin/mercer. A kernel's parameters, in the order in which they are written, may be one sentence, or a list of objects with name, default,
range and meaning; the properties one sentence, or a field each that is yes, no or unknown.
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
BEGIN, END = "<!-- catalogue: written by tools/make_catalogue.py -->\n", "<!-- end of catalogue -->\n"
# Columns of the table of properties, in this order, where the tool gives them; one that is not here is added behind.
PROPERTIES = ["psd", "strictly_pd", "universal", "characteristic", "bounded", "shift_invariant"]
KNOWN = {"name", "formula", "parameters", "properties"}


def code(text: str) -> str:
    """As code in a cell of a table: a bar would end the cell even between backticks."""
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def cell(text) -> str:
    return html.escape(str(text), quote=False).replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;")


def parameter(p: dict) -> str:
    default = f" = {p['default']}" if p.get("default") not in (None, "") else ""
    words = [str(p[key]) for key in ("range", "meaning") if p.get(key) not in (None, "")]
    return code(p["name"] + default) + (" " + cell("; ".join(words)) if words else "")


def parameters_of(kernel: dict) -> str:
    parameters = kernel.get("parameters", "")
    if isinstance(parameters, list):
        return "<br>".join(parameter(p) for p in parameters) or "none"
    return cell(parameters)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def catalogue(kernels: list[dict]) -> str:
    """The markdown between the markers."""
    given = {field for kernel in kernels for field, value in kernel.items() if field not in KNOWN and isinstance(value, str)}
    verdicts = {field for field in given if all(kernel.get(field, "unknown") in ("yes", "no", "unknown") for kernel in kernels)}
    columns = [field for field in PROPERTIES if field in verdicts] + sorted(verdicts - set(PROPERTIES))
    notes = any(kernel.get("properties") for kernel in kernels)
    first = table(
        ["kernel", "formula", "parameters"] + ["properties"] * (notes and not columns),
        [[code(k["name"]), code(k["formula"]).replace("<code>", '<code class="wrap">'), parameters_of(k)] + [cell(k.get("properties", ""))] * (notes and not columns) for k in kernels],
    )
    if not columns:
        return first
    second = table(
        ["kernel", *(column.replace("_", " ") for column in columns)] + ["notes"] * notes,
        [[code(k["name"]), *(k.get(column, "unknown") for column in columns)] + [cell(k.get("properties", ""))] * notes for k in kernels],
    )
    return f"{first}\n{second}"


def written(page: str, kernels: list[dict]) -> str:
    """The page with its catalogue made anew."""
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE.relative_to(ROOT)} needs the two lines\n{BEGIN}{END}")
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{catalogue(kernels)}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    tool = os.environ.get("MERCER_TOOL", str(ROOT / "build" / "release" / "bin" / "mercer"))
    listed = json.loads(subprocess.run([tool, "kernels", "--json"], capture_output=True, check=True).stdout)["kernels"]
    page = PAGE.read_text()
    new = written(page, listed)
    if "--check" in sys.argv[1:]:
        sys.exit(None if new == page else "docs/kernels.md is not what `mercer kernels` says: run python3 tools/make_catalogue.py")
    PAGE.write_text(new)
    print(f"docs/kernels.md: {len(listed)} kernels")


if __name__ == "__main__":
    main()
