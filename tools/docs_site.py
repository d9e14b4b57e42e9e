"""What `make docs` adds to the pages: the libraries that draw formulas and search without a server, from web/node_modules; room for tables."""
# SPDX-License-Identifier: BSD-3-Clause
import html
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

MODULES = Path(__file__).resolve().parents[1] / "web" / "node_modules"
# Where it goes in the site, and where it comes from.
LIBRARIES = {
    "assets/iframe-worker.js": "iframe-worker/shim/index.js",
    "assets/katex/katex.min.js": "katex/dist/katex.min.js",
    "assets/katex/katex.min.css": "katex/dist/katex.min.css",
}
# Pages whose tables need the room of the list of headings.
WIDE = ("theory-map.md", "benchmarks.md")


def code_with_bars(code) -> str:
    """A bar inside code in a table is written with a backslash for GitHub, which hides it; Python-Markdown would show it."""
    inside = code[1].replace("\\|", "|")
    return code[0] if inside == code[1] else f"<code>{html.escape(inside).replace('|', '&#124;')}</code>"


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    return re.sub(r"^\|.*$", lambda row: re.sub(r"`([^`]*)`", code_with_bars, row[0]), markdown, flags=re.MULTILINE)


def on_files(files, config):
    wanted = {site: MODULES / source for site, source in LIBRARIES.items()}
    wanted |= {f"assets/katex/fonts/{font.name}": font for font in (MODULES / "katex/dist/fonts").glob("*.woff2")}
    for site, source in wanted.items():
        if not source.exists():
            raise PluginError(f"{source.relative_to(MODULES.parents[1])} is missing: install node 18 or newer with npm, then `make setup`")
        files.append(File.generated(config, site, abs_src_path=str(source)))
    return files
