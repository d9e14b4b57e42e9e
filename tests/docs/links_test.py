"""Links between the pages resolve, headings included, without building the site; pictures and scripts stay inside the tree."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import pytest
from blocks import FENCE, PAGES, ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page) -> str:
    return re.sub(r"`[^`\n]*`", lambda m: "x" * len(m[0]), FENCE.sub("", page.read_text()))


def anchors(page) -> set[str]:
    """As Python-Markdown and GitHub make them for headings of plain words."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
        found.add(re.sub(r"[\s-]+", "-", words))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{page.name}: {target} leads nowhere"
        # The site holds docs/ alone: a page may not link out of it. README.md is read in the tree.
        assert page.parent == ROOT or other.is_relative_to(ROOT / "docs"), f"{page.name}: {target} is outside of docs/"
        assert not anchor or anchor in anchors(other), f"{page.name}: {target} has no such heading"


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = set(re.findall(r"[\w-]+\.md", navigation))
    assert listed == {page.name for page in PAGES if page.parent != ROOT}
