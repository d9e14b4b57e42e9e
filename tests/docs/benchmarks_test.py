"""docs/benchmarks.md and the table of README.md say what bench/results.json holds: a page written by hand, or left behind by a newer run, is a failure."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import json
import re

import pytest
from blocks import ROOT

spec = importlib.util.spec_from_file_location("bench_run", ROOT / "bench" / "run.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)

KEPT = json.loads(bench.RESULTS.read_text())
REMEDY = "write it again: make bench NAME=--page"


def test_the_page_is_that_of_the_results():
    assert (ROOT / "docs" / "benchmarks.md").read_text() == bench.page_of(KEPT), REMEDY


def test_the_table_of_the_readme_is_that_of_the_results():
    readme = (ROOT / "README.md").read_text()
    assert readme == bench.readme_of(KEPT, readme), REMEDY


def test_figures_of_the_readme_one_by_one():
    """By a second way, from the text back to the numbers."""
    table = (ROOT / "README.md").read_text().partition(bench.TABLE_BEGINS)[2].partition(bench.TABLE_ENDS)[0]
    rows = re.findall(r"^\| (.+) \| (.+) \| ([\d.]+) s \| ([\d.]+) s \| ([\d.]+) \|$", table, re.MULTILINE)
    assert len(rows) == len(bench.IN_README)
    for (work, peer, theirs, ours, ratio), name in zip(rows, bench.IN_README, strict=True):
        kept = KEPT["rows"][name][0]
        assert (work, peer) == (kept["work"], kept["peer"])
        assert [float(theirs), float(ours), float(ratio)] == pytest.approx([kept["peer_seconds"], kept["our_seconds"], kept["ratio"]], abs=0.051)
        assert kept["machine"] in table


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 150
    assert (ROOT / "docs" / "assets" / "overview.png").stat().st_size < 150_000


def test_a_changed_figure_is_seen():
    changed = json.loads(json.dumps(KEPT))
    changed["rows"][bench.IN_README[0]][0]["our_seconds"] *= 2
    readme = (ROOT / "README.md").read_text()
    assert bench.page_of(changed) != bench.page_of(KEPT)
    assert bench.readme_of(changed, readme) != readme
