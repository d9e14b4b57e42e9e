"""The built site stands by itself: no page loads anything from the network, what a page loads is there, and every formula can be drawn.

    python3 tests/docs/check_site.py build/site
"""
# SPDX-License-Identifier: BSD-3-Clause
import html.parser
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAW = """
const katex = require(process.argv[1]);
for (const { page, tex } of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  try { katex.renderToString(tex, { throwOnError: true, strict: "error" }); } catch (error) { console.log(`${page}: ${tex}: ${error.message}`); }
}
"""


class Page(html.parser.HTMLParser):
    """What the page loads (not what it links to), and its formulas."""

    def __init__(self, text: str):
        super().__init__()
        self.loads: list[str] = []
        self.formulas: list[str] = []
        self.inside = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "img", "iframe", "source", "video", "audio") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.loads.append(given["href"])
        self.inside = "arithmatex" in (given.get("class") or "")
        if self.inside:
            self.formulas.append("")

    def handle_data(self, data):
        if self.inside:
            self.formulas[-1] += data

    def handle_endtag(self, tag):
        self.inside = False


def problems(site: pathlib.Path):
    formulas = []
    pages = sorted(site.rglob("*.html"))
    if len(pages) < 10:
        yield f"{site} has {len(pages)} pages; make docs"
    for path in pages:
        page, name = Page(path.read_text()), path.relative_to(site)
        for target in page.loads:
            if re.match(r"(https?:)?//", target):
                yield f"{name} loads {target} from the network"
            elif not target.startswith(("data:", "/")) and not (path.parent / target.partition("?")[0]).exists():
                yield f"{name} loads {target}, which is not there"
        formulas += [{"page": str(name), "tex": tex.strip()[2:-2]} for tex in page.formulas]
    for path in site.rglob("*.css"):
        for target in re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", path.read_text()):
            yield f"{path.relative_to(site)} loads {target} from the network"
    done = subprocess.run(["node", "-e", DRAW, str(ROOT / "web/node_modules/katex")], input=json.dumps(formulas), capture_output=True, text=True, check=True)
    yield from done.stdout.splitlines()
    print(f"{len(pages)} pages, {len(formulas)} formulas")


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "the site stands by itself")
    sys.exit(bool(found))
