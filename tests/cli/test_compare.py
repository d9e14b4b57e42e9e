"""compare: statistics against plain numpy, columns by name, every null, files and pages, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import re

import numpy as np
import pytest

KEYS = ["test", "verdict", "rejected", "p_value", "level", "statistic_name", "statistic", "threshold", "method", "description", "exact", "exchange",
        "kernel", "kernels", "n", "m", "seed", "draws", "null", "numbers", "remarks", "samples", "features", "columns", "pairs", "level_check", "power",
        "detectable_shift", "notes", "seconds", "files"]


def write(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(str(cell) for cell in row) + "\n" for row in rows))


def gaussian(X, Y, scale):
    return np.exp(-((X[:, None, :] - Y[None, :, :]) ** 2).sum(2) / (2 * scale**2))


def mmd_u(X, Y, scale):
    n, m = len(X), len(Y)
    xx, yy, xy = gaussian(X, X, scale), gaussian(Y, Y, scale), gaussian(X, Y, scale)
    return (xx.sum() - n) / (n * (n - 1)) + (yy.sum() - m) / (m * (m - 1)) - 2 * xy.mean()


def scale_of(kernel):
    return float(re.fullmatch(r"gaussian\((.*)\)", kernel).group(1))


@pytest.fixture
def samples(tmp_path):
    """Two samples of three columns; `age` moves by two deviations, the columns of the second file stand in another order."""
    random = np.random.RandomState(7)
    A = random.randn(40, 3) * [10, 1, 5] + [50, 0, 3]
    B = random.randn(30, 3) * [10, 1, 5] + [70, 0, 3]
    write(tmp_path / "a.csv", ["age", "dose", "weight"], A)
    write(tmp_path / "b.csv", ["weight", "age", "dose"], B[:, [2, 0, 1]])
    return A, B


def scaled(A, B):
    pooled = np.vstack([A, B])
    return (A - pooled.mean(0)) / pooled.std(0), (B - pooled.mean(0)) / pooled.std(0)


def test_columns_by_name_and_the_statistic(mercer, samples):
    result = mercer("compare", "a.csv", "b.csv", "--json").json
    assert list(result)[:5] == KEYS[:5] and set(KEYS) == set(result)
    X, Y = scaled(*samples)
    assert result["statistic"] == pytest.approx(mmd_u(X, Y, scale_of(result["kernel"])), rel=1e-10)
    distances = np.sqrt(((np.vstack([X, Y])[:, None] - np.vstack([X, Y])[None]) ** 2).sum(2))[np.triu_indices(70, 1)]
    assert scale_of(result["kernel"]) == pytest.approx(np.median(distances), rel=0.02)
    assert result["rejected"] and result["p_value"] == pytest.approx(1 / 1001) and result["level"] == 0.05
    assert (result["n"], result["m"], result["method"], result["statistic_name"], result["exact"]) == (40, 30, "permutation", "mmd-u", True)
    assert result["statistic"] > result["threshold"] > result["null"]["quantiles"]["0.5"]
    assert [s["name"] for s in result["samples"]] == ["a.csv", "b.csv"] and result["features"] == ["age", "dose", "weight"]
    assert max(result["columns"], key=lambda c: c["share"])["column"] == "age"
    assert sum(c["share"] for c in result["columns"]) == pytest.approx(1)
    assert "null_sample" not in result
    again = mercer("compare", "a.csv", "b.csv", "--json", "--json-null", "--threads", "1").json
    assert again["p_value"] == result["p_value"] and len(again["null_sample"]) == again["null"]["size"] == again["draws"] == 1000
    p = (1 + np.sum(np.array(again["null_sample"]) >= again["statistic"] - 1e-9)) / 1001
    assert again["p_value"] == pytest.approx(p)


def test_verdicts_people_read(mercer, samples, tmp_path):
    said = mercer("compare", "a.csv", "b.csv").out
    assert said.startswith("The samples differ (p = 0.000999 at level 0.05). Most of the difference is in column age (")
    assert "mmd-u" in said and "gaussian(" in said and "40 and 30" in said and "mmd-u alone" in said
    A, _ = samples
    write(tmp_path / "c.csv", ["age", "dose", "weight"], A[:20])
    write(tmp_path / "d.csv", ["age", "dose", "weight"], A[20:])
    said = mercer("compare", "c.csv", "d.csv").out
    assert said.startswith("No difference was found (p = ") and "That is no proof of equality" in said
    shift = re.search(r"a shift of every column by about ([\d.]+) standard deviations 8 times in 10", said)
    assert shift and 0.2 < float(shift.group(1)) < 1.5
    assert mercer("compare", "c.csv", "d.csv", "--json").json["columns"] is None
    with_table = mercer("compare", "c.csv", "d.csv", "--columns-table").out
    assert "mmd-u alone" in with_table


@pytest.mark.parametrize("words, name, method", [
    (["--null", "binned"], "mmd-u", "binned"),
    (["--null", "gamma"], "mmd-b", "gamma"),
    (["--null", "pearson"], "mmd-u", "pearson"),
    (["--null", "spectral"], "mmd-u", "spectral"),
    (["--null", "bound"], "mmd-b", "bound"),
    (["--statistic", "mmd-b"], "mmd-b", "permutation"),
    (["--statistic", "mmd-linear"], "mmd-linear", "normal"),
    (["--statistic", "mmd-block", "--block-size", "5"], "mmd-block", "normal"),
])
def test_every_null(mercer, samples, words, name, method):
    result = mercer("compare", "a.csv", "b.csv", "--json", *words).json
    assert (result["statistic_name"], result["method"]) == (name, method)
    assert 0 < result["p_value"] <= 1
    if method in ("gamma", "pearson", "spectral", "binned") or name == "mmd-b" and method == "permutation":
        assert result["rejected"]


def test_equal_sizes_and_pairs(mercer, samples, tmp_path):
    A, B = samples
    write(tmp_path / "p.csv", ["age", "dose", "weight"], A[:30])
    for words in (["--null", "wild"], ["--statistic", "mmd-h"], ["--exchange", "pairs"], ["--exchange", "blocks", "--block-length", "3"]):
        assert mercer("compare", "p.csv", "b.csv", "--json", *words).json["rejected"], words


def test_many_kernels(mercer, samples):
    for word in ("--aggregate", "--fuse"):
        result = mercer("compare", "a.csv", "b.csv", word, "--permutations", "500", "--json").json
        assert result["rejected"] and len(result["kernel_verdicts"]) == len(result["kernels"]) > 5
        assert any(k["rejected"] for k in result["kernel_verdicts"])
    said = mercer("compare", "a.csv", "b.csv", "--aggregate", "--permutations", "500").out
    assert "kernels see" in said and "p alone" in said


def test_by_a_column(mercer, samples, tmp_path):
    A, B = samples
    rows = [[*row, "old"] for row in A] + [[*row, "new"] for row in B]
    write(tmp_path / "both.csv", ["age", "dose", "weight", "arm"], rows)
    split = mercer("compare", "both.csv", "--by", "arm", "--json").json
    assert [s["name"] for s in split["samples"]] == ["arm = new", "arm = old"] and [s["n"] for s in split["samples"]] == [30, 40]
    files = mercer("compare", "b.csv", "a.csv", "--json").json
    assert split["statistic"] == pytest.approx(files["statistic"], rel=1e-9)


def test_several_samples(mercer, samples, tmp_path):
    A, _ = samples
    write(tmp_path / "c.csv", ["age", "dose", "weight"], A + 0.1)
    result = mercer("compare", "a.csv", "b.csv", "c.csv", "--json").json
    assert result["rejected"] and [(p["a"], p["b"], p["rejected"]) for p in result["pairs"]] == [
        ("a.csv", "b.csv", True), ("a.csv", "c.csv", False), ("b.csv", "c.csv", True)]
    said = mercer("compare", "a.csv", "b.csv", "c.csv").out
    assert said.startswith("The 3 samples differ (p = ") and "Different are a.csv from b.csv and b.csv from c.csv." in said
    assert "not for 3" in mercer.fails(2, "compare", "a.csv", "b.csv", "c.csv", "--aggregate")


def test_to_normal(mercer, tmp_path):
    random = np.random.RandomState(1)
    write(tmp_path / "normal.csv", ["u", "v"], random.randn(80, 2) @ [[2, 1], [0, 1]])
    write(tmp_path / "skew.csv", ["u", "v"], random.exponential(size=(80, 2)))
    assert not mercer("compare", "normal.csv", "--to", "normal", "--json").json["rejected"]
    result = mercer("compare", "skew.csv", "--to", "normal", "--json", "--report", "fit.html").json
    assert result["rejected"] and result["test"] == "goodness of fit" or "normal" in result["test"]
    assert mercer("compare", "skew.csv", "--to", "normal").out.startswith("The rows are not normally distributed (p = ")
    write(tmp_path / "words.csv", ["u", "w"], [[i, "ab"[i % 2]] for i in range(20)])
    assert "--drop w" in mercer.fails(1, "compare", "words.csv", "--to", "normal")


def test_words_are_categories(mercer, tmp_path):
    random = np.random.RandomState(2)
    write(tmp_path / "a.csv", ["colour", "id"], [["red" if random.rand() < 0.8 else "blue", f"a{i}"] for i in range(60)])
    write(tmp_path / "b.csv", ["colour", "id"], [["red" if random.rand() < 0.2 else "green", f"b{i}"] for i in range(60)])
    result = mercer("compare", "a.csv", "b.csv", "--json").json
    assert result["rejected"] and result["features"] == ["colour=blue", "colour=green", "colour=red"]
    assert any("id" in note and "left out" in note for note in result["notes"])
    write(tmp_path / "c.csv", ["colour", "id"], [[1, f"c{i}"] for i in range(9)])
    assert 'holds "red", but c.csv has numbers' in mercer.fails(1, "compare", "a.csv", "c.csv")


def test_sparse_files(mercer, tmp_path):
    random = np.random.RandomState(5)
    for name, shift in (("a.svm", 0), ("b.svm", 2)):
        (tmp_path / name).write_text("".join(f"1 1:{random.rand() + shift:.6f} 3:{random.rand():.6f}\n" for _ in range(25)))
    assert mercer("compare", "a.svm", "b.svm", "--json").json["rejected"]
    assert "some of the files are LIBSVM" in mercer.fails(1, "compare", "a.svm", "builtin:moons")


def test_groups(mercer, samples, tmp_path):
    A, B = samples
    random = np.random.RandomState(0)
    for name, rows in (("ga.csv", A), ("gb.csv", B)):
        write(tmp_path / name, ["age", "dose", "weight", "site"], [[*row, f"s{random.randint(3)}"] for row in rows])
    result = mercer("compare", "ga.csv", "gb.csv", "--exchange", "within-groups", "--groups", "site", "--json").json
    assert result["exchange"] == "within-groups" and result["features"] == ["age", "dose", "weight"] and result["rejected"]


def test_witness_file(mercer, samples, tmp_path):
    A, B = samples
    result = mercer("compare", "a.csv", "b.csv", "--witness", "w.csv", "--json").json
    assert result["files"] == {"witness": "w.csv"}
    with open(tmp_path / "w.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["sample"] for row in rows] == ["a.csv"] * 40 + ["b.csv"] * 30 and rows[40]["row"] == "1"
    assert float(rows[3]["age"]) == pytest.approx(A[3, 0])
    X, Y = scaled(A, B)
    scale = scale_of(result["kernel"])
    Z = np.vstack([X, Y])
    expected = gaussian(Z, X, scale).mean(1) - gaussian(Z, Y, scale).mean(1)
    np.testing.assert_allclose([float(row["witness"]) for row in rows], expected, atol=1e-9)


def test_witness_rows_are_those_of_the_file(mercer, tmp_path):
    random = np.random.RandomState(2)
    arm = ["c" if i % 3 == 0 else "a" for i in range(60)]
    x = random.randn(60) + [2 * (a == "c") for a in arm]
    write(tmp_path / "trial.csv", ["arm", "x"], zip(arm, x))
    said = mercer("compare", "trial.csv", "--by", "arm", "--witness", "w.csv", "--report", "r.html").out
    assert "arm = a (40 rows) against arm = c (20 rows); witness > 0 where the first is denser" in said
    with open(tmp_path / "w.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == [i + 1 for i in range(60) if arm[i] == "a"] + [i + 1 for i in range(60) if arm[i] == "c"]
    for row in rows:
        assert row["sample"] == "arm = " + arm[int(row["row"]) - 1] and float(row["x"]) == pytest.approx(x[int(row["row"]) - 1])
    telling = re.findall(r'<th scope="row">arm = (.)</th><td class="number">(\d+)</td><td', (tmp_path / "r.html").read_text())
    assert len(telling) >= 10 and all(arm[int(row) - 1] == name for name, row in telling[-10:])


def test_the_verdict_names_only_columns_that_differ(mercer, tmp_path):
    random = np.random.RandomState(4)
    for seed in range(4):
        A, B = random.randn(40, 4), random.randn(40, 4)
        B[:, 0] += 1.2
        B[:, 1] += 0.4
        write(tmp_path / "u.csv", list("uvwx"), A)
        write(tmp_path / "v.csv", list("uvwx"), B)
        result = mercer("compare", "u.csv", "v.csv", "--json").json
        named = set(re.findall(r"(\w) \(\d+ %\)", result["verdict"]))
        assert named and named <= {c["column"] for c in result["columns"] if c["adjusted"] <= 0.05}
    x = random.randn(200)
    write(tmp_path / "u.csv", list("uv"), np.c_[x, x])
    write(tmp_path / "v.csv", list("uv"), np.c_[x, -x])
    said = mercer("compare", "u.csv", "v.csv").out
    assert "No single column shows it alone." in said and "Most of" not in said and "by gaussian(auto) of that column" in said


def test_advice_that_can_be_followed(mercer, tmp_path):
    random = np.random.RandomState(9)
    for name in ("p.csv", "q.csv"):
        write(tmp_path / name, ["x", "y"], random.randn(30, 2))
    for words in (["--aggregate"], ["--fuse"], ["--power", "--scale", "none"]):
        said = mercer("compare", "p.csv", "q.csv", "--permutations", "300", *words).out
        assert "That is no proof of equality" in said and "--power says" not in said
    assert "--power says" in mercer("compare", "p.csv", "q.csv", "--scale", "none").out


def test_level_check_and_power(mercer, samples):
    result = mercer("compare", "a.csv", "b.csv", "--level-check", "--repetitions", "40", "--power", "--permutations", "100", "--json").json
    level = result["level_check"]
    assert level["repetitions"] == 40 and level["low"] <= level["rate"] <= level["high"] and level["rate"] <= 0.3
    assert 0 <= result["power"]["power"] <= 1 and result["power"]["wanted"] == 0.8 and result["detectable_shift"] > 0
    said = mercer("compare", "a.csv", "b.csv", "--level-check", "--repetitions", "20", "--permutations", "100").out
    assert "of 20 splits" in said and "the real level is between" in said and "cannot see dependence between them" in said


def test_remarks_are_said(mercer, samples):
    assert "Note: The kernel linear" in mercer("compare", "a.csv", "b.csv", "--kernel", "linear").out
    few = mercer("compare", "a.csv", "b.csv", "--permutations", "10", "--json").json
    assert not few["rejected"] and any("10" in remark for remark in few["remarks"])


def specs_of(html):
    return [json.loads(spec) for spec in re.findall(r'<script type="application/json">(.*?)</script>', html, re.S)]


def test_report_escapes_names(mercer, tmp_path):
    random = np.random.RandomState(3)
    hostile = "</script><b>"
    for name, shift in (("a.csv", 0), ("b.csv", 1)):
        write(tmp_path / name, [hostile, "plain"], random.randn(25, 2) + [shift, 0])
    result = mercer("compare", "a.csv", "b.csv", "--report", "page.html", "--json").json
    assert result["files"] == {"report": "page.html"}
    html = (tmp_path / "page.html").read_text()
    assert html.count("<script") == html.count("</script") and "<b>" not in html.split("<figcaption>")[0]
    assert hostile not in re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert "&lt;/script&gt;&lt;b&gt;" in html and "mercer compare a.csv b.csv --report page.html --json" in html
    specs = specs_of(html)
    if not specs:
        return  # built without the chart libraries
    assert any(hostile in json.dumps(spec) for spec in specs) and len(specs) >= 3  # the null, the witness over two columns, the columns
    said = mercer("compare", "a.csv", "b.csv", "--report", "page.html").out
    assert "The report is page.html." in said


def test_equal_files_and_standard_input(mercer, samples, tmp_path):
    result = mercer("compare", "a.csv", "a.csv", "--json").json
    assert not result["rejected"] and result["p_value"] > 0.9 and any("same file" in note for note in result["notes"])
    piped = mercer("compare", "a.csv", "-", "--json", stdin=(tmp_path / "b.csv").read_text()).json
    assert piped["rejected"] and piped["samples"][1]["name"] == "standard input"
    assert mercer("compare", "builtin:moons", "builtin:circles", "--json").json["rejected"]


def test_constant_columns(mercer, tmp_path):
    write(tmp_path / "a.csv", ["u", "v"], [[1, i % 5] for i in range(20)])
    write(tmp_path / "b.csv", ["u", "v"], [[1, i % 5 + 5] for i in range(20)])
    assert mercer("compare", "a.csv", "b.csv", "--json").json["rejected"]
    write(tmp_path / "c.csv", ["u"], [[1]] * 9)
    result = mercer.run("compare", "c.csv", "c.csv", "--json")
    assert result.status == 1 or not result.json["rejected"]


@pytest.mark.parametrize("words, status, message", [
    ([], 2, "DATA is required"),
    (["a.csv"], 2, "compare needs two samples: give two files, or one file with --by COL"),
    (["a.csv", "none.csv"], 1, "none.csv: cannot be read"),
    (["a.csv", "b.csv", "--by", "age"], 2, "--by splits one file, got 2 files"),
    (["a.csv", "b.csv", "--to", "normal"], 2, "--to compares one sample with a law"),
    (["a.csv", "--to", "uniform"], 2, "--to: must be normal, got uniform"),
    (["a.csv", "--by", "colour"], 1, 'a.csv: has no column "colour" for --by; it has age, dose and weight'),
    (["a.csv", "--by", "1"], 1, 'a.csv: has no column "1" for --by; it has age, dose and weight'),
    (["a.csv", "b.csv", "--repetitions", "50"], 2, "--repetitions needs --level-check"),
    (["a.csv", "b.csv", "--witness", "x.xlsx"], 2, "--witness x.xlsx: must end in .csv, .tsv or .npy"),
    (["a.csv", "--by", "age"], 1, "column age of --by has 40 values; wanted 2 to"),
    (["a.csv", "other.csv"], 1, "other.csv: lacks the columns age, weight that a.csv has; --columns dose compares what both have"),
    (["a.csv", "more.csv"], 1, "a.csv: lacks the column height that more.csv has"),
    (["a.csv", "one.csv"], 1, "one.csv: has 1 row; a test needs at least 2 of each sample"),
    (["a.csv", "gap.csv"], 1, "gap.csv:3: column dose has no value; fill it with --impute mean or median"),
    (["a.csv", "words.csv"], 1, 'words.csv:3: column dose holds "much", but a.csv has numbers there'),
    (["-", "-"], 2, "standard input (-) can be read only once"),
    (["a.csv", "b.csv", "--level", "2"], 2, "--level: must be between 0 and 1, got 2"),
    (["a.csv", "b.csv", "--level", "0"], 2, "--level: must be between 0 and 1, got 0"),
    (["a.csv", "b.csv", "--permutations", "0"], 2, "--permutations: must be a whole number from 1"),
    (["a.csv", "b.csv", "--statistc", "mmd-u"], 2, "has no option --statistc, did you mean --statistic?"),
    (["a.csv", "b.csv", "--statistic", "mmd"], 2, "--statistic: must be mmd-u|mmd-b|mmd-h|mmd-linear|mmd-block, got mmd"),
    (["a.csv", "b.csv", "--statistic", "mmd-u", "--null", "gamma"], 1, "mmd-b"),
    (["a.csv", "b.csv", "--aggregate", "--null", "gamma"], 2, "--aggregate has its own statistic and null; leave out --null"),
    (["a.csv", "b.csv", "--aggregate", "--fuse"], 2, "choose one"),
    (["a.csv", "b.csv", "--exchange", "within-groups"], 2, "--exchange within-groups needs --groups COL"),
    (["a.csv", "b.csv", "--groups", "age"], 2, "--groups needs --exchange within-groups"),
    (["a.csv", "b.csv", "--block-length", "3"], 2, "--block-length needs --exchange blocks"),
    (["a.csv", "b.csv", "--exchange", "pairs"], 1, "pairs"),
    (["a.csv", "b.csv", "--kernel", "gausian(1)"], 2, "--kernel: "),
    (["a.csv", "b.csv", "--kernel", "precomputed"], 2, "a given Gram matrix comes as a file: --gram K.npy"),
    (["a.csv", "b.csv", "--kernel", "gaussian(1).on(height)"], 1, "height"),
    (["a.csv", "b.csv", "--columns", "height"], 1, 'a.csv: has no column "height" for --columns'),
    (["a.csv", "b.csv", "--report", "a.csv"], 2, "--report a.csv is also an input"),
    (["a.csv", "b.csv", "--report", "no/page.html"], 1, "the folder no does not exist"),
    (["a.csv", "b.csv", "--report", "x.html", "--witness", "x.html"], 2, "name the same file"),
    (["a.csv", "b.csv", "--json-null"], 2, "--json-null needs --json"),
    (["a.csv", "b.csv", "--memory", "1K"], 1, "memory"),
])
def test_says_what_is_wrong(mercer, samples, tmp_path, words, status, message):
    write(tmp_path / "other.csv", ["dose"], [[i] for i in range(9)])
    write(tmp_path / "more.csv", ["age", "dose", "weight", "height"], [[i, i, i, i] for i in range(9)])
    write(tmp_path / "one.csv", ["age", "dose", "weight"], [[1, 2, 3]])
    write(tmp_path / "gap.csv", ["age", "dose", "weight"], [[1, 2, 3], [4, "", 6], [7, 8, 9]])
    write(tmp_path / "words.csv", ["age", "dose", "weight"], [[1, 2, 3], [4, "much", 6], [7, 8, 9]])
    assert message in mercer.fails(status, "compare", *words)


def test_gaps_are_filled_and_columns_chosen(mercer, samples, tmp_path):
    write(tmp_path / "gap.csv", ["age", "dose", "weight"], [[1, 2, 3], [4, "", 6], [7, 8, 9]] * 5)
    assert mercer("compare", "a.csv", "gap.csv", "--impute", "mean", "--json").json["m"] == 15
    chosen = mercer("compare", "a.csv", "gap.csv", "--columns", "age,weight", "--json").json
    assert chosen["features"] == ["age", "weight"]
    assert mercer("compare", "a.csv", "gap.csv", "--drop", "dose", "--json").json["statistic"] == chosen["statistic"]
