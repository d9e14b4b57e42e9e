"""changes and drift: answers against the Python package, files, pages, streams, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import re
import subprocess

import numpy as np
import pytest

import mercer as package


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def series(tmp_path):
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(0, 1, 60), rng.normal(3, 1, 60), rng.normal(3, 4, 80)])
    other = rng.normal(size=200)
    lines = ["day,level,other"] + [f"d{i},{a:.17g},{b:.17g}" for i, (a, b) in enumerate(zip(values, other, strict=True))]
    (tmp_path / "series.csv").write_text("\n".join(lines) + "\n")
    return values


def test_changes_are_those_of_python(mercer, series, tmp_path):
    said = mercer("changes", "series.csv", "--columns", "level", "--time", "day", "--out", "s.csv", "--json").json
    found = package.change_points((series - series.mean()) / series.std())
    assert [c["row"] for c in said["changes"]] == found.positions.tolist() and said["method"] == "slope" and said["n"] == 200
    np.testing.assert_allclose([c["gain"] for c in said["changes"]], found.gains, rtol=1e-9)
    np.testing.assert_allclose(said["costs"], found.costs, rtol=1e-9)
    assert said["changes"][0]["time"] == f"d{found.positions[0]}" and said["columns"] == ["level"] and said["features"] == 1
    first = said["segments"][0]
    assert first["mean"] == [pytest.approx(series[: first["end"]].mean())] and first["deviation"] == [pytest.approx(series[: first["end"]].std(ddof=1))]
    labels = rows_of(tmp_path / "s.csv")
    assert [int(row["segment"]) for row in labels] == found.labels.tolist() and labels[7]["day"] == "d7"
    assert said["test"] is None and said["files"] == {"segments": "s.csv"}


def test_changes_for_people(mercer, series, tmp_path):
    said = mercer("changes", "series.csv", "--columns", "level", "--time", "day", "--permutations", "99", "--report", "r.html").out
    assert re.search(r"2 changes in 200 rows, before rows \d+, \d+ \(from 0\)", said) and "level mean (sd)" in said
    assert "the series changes, most clearly before row" in said and "p = 0.01" in said
    page = (tmp_path / "r.html").read_text()
    assert "<h1>2 changes</h1>" in page and "mercer changes series.csv" in page
    titles = re.findall(r"<figcaption><b>(.*?)</b>", page)
    assert titles == ["level", "Cost by number of segments"]


def test_options_of_changes(mercer, series):
    assert len(mercer("changes", "series.csv", "--drop", "day", "--changes", "4", "--json").json["changes"]) == 4
    assert mercer("changes", "series.csv", "--drop", "day", "--penalty", "1e6", "--json").json["changes"] == []
    assert mercer("changes", "series.csv", "--drop", "day", "--penalty", "auto", "--json").json["method"] == "slope"
    blocks = mercer("changes", "series.csv", "--drop", "day", "--permutations", "19", "--block-length", "5", "--json").json["test"]
    assert "blocks of 5 rows" in blocks["description"] and blocks["p_value"] == 0.05
    one, two = (mercer("changes", "series.csv", "--drop", "day", "--threads", n, "--json").json for n in ("1", "2"))
    assert one["changes"] == two["changes"] and one["costs"] == two["costs"]
    quiet = mercer("changes", "-", stdin="a\n" + "1\n" * 40).out
    assert "\nno changes in 40 rows" in quiet


@pytest.fixture
def streams(tmp_path):
    rng = np.random.default_rng(0)
    reference, stream = rng.normal(size=(150, 2)), rng.normal(size=(120, 2))
    stream[70:] += 2
    for name, rows in (("reference", reference), ("stream", stream)):
        (tmp_path / f"{name}.csv").write_text("a,b\n" + "".join(f"{x:.17g},{y:.17g}\n" for x, y in rows))
    return reference, stream


def test_drift_is_that_of_python(mercer, streams, tmp_path):
    reference, stream = streams
    words = ["--window", "12", "--run-length", "300", "--go-on", "--scale", "none", "--out", "steps.csv", "--json"]
    said = mercer("drift", "reference.csv", "stream.csv", *words).json
    monitor = package.DriftMonitor(reference, window=12, expected_run_length=300, random_state=0)
    seen = monitor.update(stream)
    assert [a["row"] for a in said["alarms"]] == seen.alarms.tolist() and said["drift"] and said["rows"] == 120
    assert said["threshold"] == pytest.approx(monitor.thresholds[-1], rel=1e-12) and said["reference_rows"] == 127
    steps = rows_of(tmp_path / "steps.csv")
    assert steps[0]["statistic"] == "" and len(steps) == 120
    np.testing.assert_allclose([float(s["statistic"]) for s in steps[11:]], seen.statistic[11:], atol=1e-12)


def test_drift_begins_anew_after_an_alarm(mercer, streams):
    alarms = mercer("drift", "reference.csv", "stream.csv", "--window", "12", "--run-length", "5000", "--json").json["alarms"]
    rows = [a["row"] for a in alarms]
    assert 70 <= rows[0] < 85 and all(b - a >= 12 for a, b in zip(rows[:-1], rows[1:], strict=True))
    quiet = mercer("drift", "reference.csv", "reference.csv", "--window", "12", "--run-length", "100000", "--simulations", "200000", "--columns", "b").out
    assert quiet.startswith("no drift in 150 rows; one false alarm in 100000 rows is to be expected")


def test_standard_input_is_watched_as_it_comes(mercer, streams, tmp_path):
    text = (tmp_path / "stream.csv").read_text()
    words = ["drift", "reference.csv", "-", "--window", "12", "--run-length", "5000"]
    assert mercer(*words, stdin=text).out == mercer(*words[:2], "stream.csv", *words[3:]).out
    # An alarm is said while the stream is open.
    with subprocess.Popen([mercer.path, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, text=True) as process:
        for line in text.splitlines(keepends=True)[:101]:
            process.stdin.write(line)
            process.stdin.flush()
        assert process.stdout.readline().startswith("row 7")
        process.stdin.close()
        assert "drift:" in process.stdout.read() and process.wait() == 0
    # Columns in another order, further ones beside them, no end of line at the end.
    turned = "\n".join(",".join(line.split(",")[::-1]) + f",{i if i else 'extra'}" for i, line in enumerate(text.splitlines()))
    assert mercer(*words, stdin=turned).out == mercer(*words, stdin=text).out


def test_drift_page(mercer, streams, tmp_path):
    mercer("drift", "reference.csv", "stream.csv", "--window", "12", "--run-length", "300", "--report", "d.html")
    page = (tmp_path / "d.html").read_text()
    assert "<h1>Drift</h1>" in page and "stream.csv against reference.csv" in page
    specs = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)]
    if specs:
        assert len(specs[0]["layer"]) == 2


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["changes", "none.csv"], 1, "none.csv"),
        (["changes", "series.csv", "--columns", "no"], 1, 'has no column "no" for --columns'),
        (["changes", "series.csv", "--time", "no"], 1, 'has no column "no" for --time'),
        (["changes", "series.csv", "--drop", "day", "--penalty", "-1"], 2, "--penalty: must be auto or a number > 0, got -1"),
        (["changes", "series.csv", "--drop", "day", "--penalty", "1", "--changes", "2"], 2, "give one of them"),
        (["changes", "series.csv", "--drop", "day", "--block-length", "3"], 2, "give --permutations too"),
        (["changes", "series.csv", "--drop", "day", "--changes", "300"], 1, "changes must be from 0 to 99"),
        (["changes", "series.csv", "--drop", "day", "--min-segment", "0"], 2, "--min-segment"),
        (["changes", "series.csv", "--out", "series.csv"], 2, "also an input"),
        (["drift", "reference.csv"], 2, "STREAM is required"),
        (["drift", "-", "-"], 2, "cannot both be standard input"),
        (["drift", "reference.csv", "stream.csv", "--window", "60"], 1, "at least 180 rows, three windows of 60, got 150"),
        (["drift", "reference.csv", "stream.csv", "--window", "1"], 2, "--window"),
        (["drift", "reference.csv", "stream.csv", "--run-length", "1"], 2, "--run-length: must be a number from 2 to 1000000, got 1"),
        (["drift", "reference.csv", "none.csv"], 1, "none.csv"),
        (["drift", "reference.csv", "series.csv", "--window", "12", "--run-length", "50"], 1, "a"),
    ],
)
def test_says_what_is_wrong(mercer, series, streams, words, status, message):
    assert message in mercer.fails(status, *words)


def test_bad_rows_are_named_by_their_line(mercer, streams):
    words = ["drift", "reference.csv", "-", "--window", "5", "--run-length", "50"]
    assert "standard input:4: column 2 (b)" in mercer.fails(1, *words, stdin="a,b\n1,2\n3,4\n5,abc\n")
    assert "fewer than the window of 5" in mercer(*words, stdin="a,b\n1,2\n").out
