"""Pages of the built tool, opened by a real browser that has no network.

The tool is $MERCER_TOOL, else build/release/bin/mercer; the browser $MERCER_CHROMIUM, else /usr/bin/chromium. Pictures are left in
build/browser, for a person to look at.
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import math
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("MERCER_TOOL", ROOT / "build" / "release" / "bin" / "mercer"))
CHROMIUM = os.environ.get("MERCER_CHROMIUM", "/usr/bin/chromium")
PICTURES = ROOT / "build" / "browser"
HOSTILE = "</script><i>x</i>"

# The command of each page. Files named here are made below.
COMMANDS = {
    "learn-classes": ["learn", "builtin:blobs", "--model", "svc"],
    "learn-two-classes": ["learn", "builtin:moons", "--precision", "0.9", "--explain"],
    "learn-numbers": ["learn", "builtin:waves", "--explain"],
    "learn-surface": ["learn", "hills.csv", "--target", "height", "--model", "krr"],
    "learn-hostile": ["learn", "hostile.csv", "--target", HOSTILE, "--explain", "--model", "svc"],
    "compare": ["compare", "before.csv", "after.csv"],
    "depend": ["depend", "hills.csv", "--x", "east", "--y", "height"],
    "embed": ["embed", "kpca", "flowers.csv", "--color", "kind", "--novelty"],
    "cluster": ["cluster", "kmeans", "flowers.csv", "-k", "2-4", "--target", "kind"],
    "changes": ["changes", "series.csv"],
    "drift": ["drift", "before.csv", "after.csv", "--window", "12", "--run-length", "300"],
}
LEARN = [name for name in COMMANDS if name.startswith("learn")]


def wobble(i):
    """A number in [0, 1) that looks random and is not."""
    return math.sin(12.9898 * (i + 1)) * 43758.5453 % 1


def make_tables(folder):
    def write(name, head, rows):
        (folder / name).write_text("\n".join([head, *rows]) + "\n")

    hills = [(4 * wobble(i) - 2, 4 * wobble(i + 500) - 2) for i in range(160)]
    write("hills.csv", "east,north,height", [f"{a:.4f},{b:.4f},{a * a - b + 0.3 * wobble(i + 900):.4f}" for i, (a, b) in enumerate(hills)])
    words = ["<img src=x onerror=alert(1)>", "</script>", "plain & \"\"quoted\"\""]
    write("hostile.csv", f'"a.b[0]","{HOSTILE}","<i>words</i>"',
          [f'{wobble(i) + (i % 2):.3f},"{["yes</script>", "<i>no</i>"][i % 2]}","{words[i % 3]}"' for i in range(90)])
    write("before.csv", "a,b", [f"{wobble(i):.4f},{wobble(i + 300):.4f}" for i in range(80)])
    write("after.csv", "a,b", [f"{wobble(i + 50) + 0.6:.4f},{wobble(i + 700):.4f}" for i in range(80)])
    write("flowers.csv", "size,width,kind", [f"{i % 3 + 0.4 * wobble(i):.4f},{0.5 * (i % 3) + 0.4 * wobble(i + 90):.4f},{'abc'[i % 3]}" for i in range(90)])
    write("series.csv", "level", [f"{2 * (i // 40) + wobble(i):.4f}" for i in range(120)])


def missing():
    if not os.access(CHROMIUM, os.X_OK):
        return f"{CHROMIUM} is not here (the Debian package chromium): pages were not opened in a browser"
    if shutil.which("node") is None or not (ROOT / "web" / "node_modules" / "playwright-core").exists():
        return "node or web/node_modules/playwright-core is not here: pages were not opened in a browser"
    return ""


@pytest.fixture(scope="session")
def seen(tmp_path_factory):
    """What the browser saw of each page, by its name."""
    if missing():
        pytest.skip(missing())
    assert TOOL.exists(), f"{TOOL} is not built: make build"
    folder = tmp_path_factory.mktemp("pages")
    make_tables(folder)
    for name, words in COMMANDS.items():
        done = subprocess.run([TOOL, *words, "--report", f"{name}.html"], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (name, done.stderr)
    PICTURES.mkdir(parents=True, exist_ok=True)
    pages = [str(folder / f"{name}.html") for name in COMMANDS]
    done = subprocess.run(["node", str(pathlib.Path(__file__).with_name("pages.mjs")), CHROMIUM, str(PICTURES), *pages],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {page["name"]: page for page in json.loads(done.stdout)}


@pytest.mark.parametrize("name", COMMANDS)
def test_charts_are_drawn_without_complaint_and_without_a_network(seen, name):
    page = seen[name]
    assert page["errors"] == [] and page["requests"] == [] and page["dialogs"] == 0
    assert page["charts"], "the page has no chart"
    for chart in page["charts"]:
        assert chart["state"] == "drawn" and chart["marks"] > 0, chart["title"]
        assert chart["described"], chart["title"]
        assert "NaN" not in chart["text"] and "undefined" not in chart["text"], chart["title"]
    assert page["elements"]["captions"], "a table has no caption"
    assert not page["elements"]["nan"], "the page says nan or undefined"


@pytest.mark.parametrize("name", COMMANDS)
def test_tooltips_show_on_every_chart(seen, name):
    silent = [chart["title"] for chart in seen[name]["charts"] if not chart["tooltip"]]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_dark_light_paper_and_narrow(seen, name):
    page = seen[name]
    assert page["dark"]["page"] != page["light"]["page"] and page["dark"]["label"] != page["light"]["label"]
    assert page["paper"] == {"page": "rgb(255, 255, 255)", "label": page["light"]["label"]}  # whatever the screen's colours are
    assert page["pdf"] == "%PDF-"
    assert page["wide"] == [] and page["narrow"] == [] and page["paper_too_wide"] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_page_ends_with_its_run(seen, name):
    assert seen[name]["elements"]["sections"][-1] == "The run"


def titles(page):
    return {chart["title"].split(":")[0] for chart in page["charts"]}


def test_a_learned_page_has_all_its_parts(seen):
    sections = ["What was asked", "How good it is", "What it learned", "How it was chosen", "The data", "The run"]
    for name in LEARN:
        assert [s for s in seen[name]["elements"]["sections"] if s in sections] == sections, name
        assert {"Families of candidates"} <= titles(seen[name]), name
    numbers = titles(seen["learn-numbers"])
    assert {"Predicted against true", "Residuals", "Residuals against predictions", "Intervals", "The fitted function"} <= numbers
    assert {"Confusion matrix", "Scores", "ROC curve", "Precision and recall", "Calibration", "Decision surface",
            "Which columns matter"} <= titles(seen["learn-two-classes"])
    assert "The fitted surface" in titles(seen["learn-surface"])


def test_hostile_words_stay_text(seen):
    page = seen["learn-hostile"]
    assert page["elements"]["strange"] == 0
    confusion = next(chart for chart in page["charts"] if chart["title"] == "Confusion matrix")
    assert "<i>no</i>" in confusion["text"] and "yes</script>" in confusion["text"]
