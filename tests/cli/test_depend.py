"""depend: HSIC against plain numpy, categories, baselines against scipy, several variables, pages, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import re

import numpy as np
import pytest
from scipy import stats

KEYS = ["test", "verdict", "rejected", "p_value", "level", "statistic_name", "statistic", "threshold", "method", "description", "exact", "exchange",
        "kernel", "kernels", "n", "m", "seed", "draws", "null", "numbers", "remarks", "x", "y", "z", "correlation", "baselines", "notes", "seconds", "files"]


def write(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(str(cell) for cell in row) + "\n" for row in rows))


def scale_of(kernel):
    return float(re.fullmatch(r"gaussian\((.*)\)", kernel).group(1))


def hsic(K, L):
    n = len(K)
    H = np.eye(n) - 1 / n
    return np.trace(K @ H @ L @ H) / n**2


def gaussian(x, scale):
    x = (x - x.mean()) / x.std()
    return np.exp(-((x[:, None] - x[None]) ** 2) / (2 * scale**2))


@pytest.fixture
def data(tmp_path):
    """`square` is x squared with noise: no correlation sees it; `line` rises with x; `noise` is free; two columns of words."""
    random = np.random.RandomState(11)
    x = random.uniform(-1, 1, 80)
    columns = {"x": x, "square": x**2 + 0.05 * random.randn(80), "line": x + 0.3 * random.randn(80), "noise": random.randn(80)}
    kind = np.where(x > 0.2, "oak", np.where(x < -0.4, "elm", "fir"))
    side = np.where(random.rand(80) < np.where(kind == "oak", 0.9, 0.3), "left", "right")
    names = [*columns, "kind", "side"]
    write(tmp_path / "data.csv", names, zip(*columns.values(), kind, side, strict=True))
    return {**columns, "kind": kind, "side": side}


def test_a_parabola_and_the_statistic(mercer, data):
    result = mercer("depend", "data.csv", "--x", "x", "--y", "square", "--json").json
    assert set(KEYS) == set(result) and result["test"] == "independence"
    K, L = gaussian(data["x"], scale_of(result["kernels"][0])), gaussian(data["square"], scale_of(result["kernels"][1]))
    assert result["statistic"] == pytest.approx(hsic(K, L), rel=1e-10)
    assert result["correlation"] == pytest.approx(hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L)), rel=1e-9)
    assert result["rejected"] and result["p_value"] == pytest.approx(1 / 1001) and (result["n"], result["m"], result["draws"]) == (80, 0, 1000)
    assert result["x"] == {"columns": ["x"], "features": ["x"], "categories": False} and result["z"] is None
    said = mercer("depend", "data.csv", "--x", "x", "--y", "square").out
    assert said.startswith("Columns x and square depend on each other (p = 0.000999 at level 0.05). Pearson, Spearman and Kendall do not see it")
    assert "strength" in said and "beside it" in said


def test_baselines_are_those_of_scipy(mercer, data):
    result = mercer("depend", "data.csv", "--x", "x", "--y", "line", "--json").json
    baselines = {b["name"]: b for b in result["baselines"]}
    for (name, twin) in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        found = next(b for key, b in baselines.items() if name in key.lower())
        expected = twin(data["x"], data["line"])
        assert found["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-5)
        assert found["rejected"]


def test_words(mercer, data):
    result = mercer("depend", "data.csv", "--x", "kind", "--y", "side", "--json").json
    assert result["rejected"] and result["x"]["categories"] and result["y"]["features"] == ["side=left", "side=right"]
    K, L = (data[name][:, None] == data[name][None] for name in ("kind", "side"))
    assert result["statistic"] == pytest.approx(hsic(K.astype(float), L.astype(float)), rel=1e-10)
    assert result["remarks"] == []  # words are told apart by equality, which sees every dependence
    table = np.array([[np.sum((data["kind"] == a) & (data["side"] == b)) for b in ("left", "right")] for a in ("elm", "fir", "oak")])
    assert len(result["baselines"]) == 1
    assert result["baselines"][0]["p_value"] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-6)
    mixed = mercer("depend", "data.csv", "--x", "kind", "--y", "x", "--json").json
    assert mixed["rejected"] and mixed["baselines"] == []
    both = mercer("depend", "data.csv", "--x", "kind,noise", "--y", "x", "--json").json
    assert both["x"]["columns"] == ["kind", "noise"] and len(both["x"]["features"]) == 4


def test_independence_is_no_proof(mercer, data):
    said = mercer("depend", "data.csv", "--x", "x", "--y", "noise").out
    assert said.startswith("No dependence between x and noise was found (p = ") and "no proof of independence" in said


@pytest.mark.parametrize("null", ["permutation", "gamma", "spectral"])
def test_every_null(mercer, data, null):
    result = mercer("depend", "data.csv", "--x", "x", "--y", "square", "--null", null, "--json").json
    assert result["method"] == null and result["rejected"] and result["exact"] == (null == "permutation")


def test_kernels_and_aggregate(mercer, data):
    linear = mercer("depend", "data.csv", "--x", "x", "--y", "line", "--kernel-x", "linear", "--kernel-y", "linear", "--json").json
    x, y = ((v - v.mean()) / v.std() for v in (data["x"], data["line"]))
    assert linear["statistic"] == pytest.approx(np.mean(x * y) ** 2, rel=1e-9)
    assert any("linear" in remark for remark in linear["remarks"])
    result = mercer("depend", "data.csv", "--x", "x", "--y", "square", "--aggregate", "--permutations", "300", "--json").json
    assert result["rejected"] and len(result["kernel_verdicts"]) == 25 and "kernel_y" in result["kernel_verdicts"][0]


def test_given_a_third(mercer, tmp_path):
    random = np.random.RandomState(4)
    z = random.randn(150)
    a, b = z + 0.3 * random.randn(150), z + 0.3 * random.randn(150)
    c = a - z + 0.1 * random.randn(150)
    write(tmp_path / "z.csv", ["a", "b", "c", "z"], zip(a, b, c, z, strict=True))
    assert mercer("depend", "z.csv", "--x", "a", "--y", "b", "--json").json["rejected"]
    given = mercer("depend", "z.csv", "--x", "a", "--y", "b", "--z", "z", "--json").json
    assert not given["rejected"] and given["z"]["columns"] == ["z"] and given["remarks"]
    said = mercer("depend", "z.csv", "--x", "a", "--y", "c", "--z", "z", "--report", "given.html").out
    assert said.startswith("Columns a and c depend on each other given z (p = ") and "Note: " in said
    assert "once z is known" in (tmp_path / "given.html").read_text()


def test_joint(mercer, tmp_path):
    random = np.random.RandomState(8)
    a, b = random.randint(2, size=(2, 120))
    write(tmp_path / "xor.csv", ["a", "b", "c"], zip(a, b, a ^ b, strict=True))  # pairs are independent, the three are not
    assert mercer("depend", "xor.csv", "--joint", "a,b,c", "--json").json["rejected"]
    assert not mercer("depend", "xor.csv", "--x", "a", "--y", "c", "--json").json["rejected"]
    assert mercer("depend", "xor.csv", "--joint", "a,b,c").out.startswith("The columns a, b and c are not independent of each other (p = ")


def test_all_pairs(mercer, data):
    result = mercer("depend", "data.csv", "--all", "--json").json
    found = {(p["x"], p["y"]): p for p in result["pairs"]}
    assert len(found) == 15 and found["x", "square"]["rejected"] and not found["x", "noise"]["rejected"]
    p = np.array([pair["p_value"] for pair in result["pairs"]])
    holm = np.minimum(1, np.maximum.accumulate(np.sort(p) * np.arange(15, 0, -1)))
    np.testing.assert_allclose(sorted(pair["adjusted"] for pair in result["pairs"]), holm, rtol=1e-12)
    said = mercer("depend", "data.csv", "--all", "--drop", "kind,side").out
    assert re.match(r"\d of 6 pairs of columns depend on each other", said)
    verdict = mercer("depend", "data.csv", "--all", "--permutations", "20").out
    assert "Nothing could be found: with 20 permutations" in verdict and "--permutations 300 or more" in verdict
    assert "That is no proof of independence." in verdict
    few = mercer("depend", "data.csv", "--all", "--permutations", "20", "--json").json
    assert "Nothing could be found" in few["verdict"] and few["verdict"].endswith("That is no proof of independence.") and few["rejected"] == 0
    assert any(p["rejected"] for p in mercer("depend", "data.csv", "--all", "--permutations", "300", "--json").json["pairs"])


def test_all_of_many_pairs_takes_enough_permutations(mercer, tmp_path):
    random = np.random.RandomState(5)
    X = random.randn(40, 11)
    X[:, 1] = X[:, 0]
    write(tmp_path / "wide.csv", [f"c{j}" for j in range(11)], X)
    result = mercer("depend", "wide.csv", "--all", "--json").json
    assert len(result["pairs"]) == 55 and result["draws"] == 2199 and result["rejected"] >= 1
    assert {result["pairs"][0]["x"], result["pairs"][0]["y"]} == {"c0", "c1"} and result["pairs"][0]["rejected"]
    assert mercer("depend", "wide.csv", "--all", "--permutations", "1000", "--json").json["rejected"] == 0


def test_all_of_few_rows(mercer, tmp_path):
    write(tmp_path / "short.csv", list("abc"), np.random.RandomState(1).randn(4, 3))
    verdict = mercer("depend", "short.csv", "--all", "--json").json["verdict"]
    assert "with all 23 exchanges of 4 rows" in verdict and "--permutations" not in verdict


def test_groups_and_shifts(mercer, data):
    grouped = mercer("depend", "data.csv", "--x", "x", "--y", "square", "--exchange", "within-groups", "--groups", "side", "--json").json
    assert grouped["exchange"] == "within-groups" and grouped["rejected"]
    assert mercer("depend", "data.csv", "--x", "x", "--y", "square", "--exchange", "shifts", "--permutations", "79", "--json").json["p_value"] < 0.1


def test_report_escapes_names(mercer, tmp_path):
    random = np.random.RandomState(3)
    hostile = "</script><b>"
    x = random.randn(40)
    write(tmp_path / "t.csv", [hostile, "y", "w"], zip(x, x**2, ["<i>" if v > 0 else "b" for v in x], strict=True))
    result = mercer("depend", "t.csv", "--x", hostile, "--y", "y", "--report", "page.html", "--json").json
    assert result["files"] == {"report": "page.html"}
    html = (tmp_path / "page.html").read_text()
    assert html.count("<script") == html.count("</script") and hostile not in re.sub(r"<script.*?</script>", "", html, flags=re.S)
    for words in (["--x", "w", "--y", "y"], ["--joint", f"{hostile},y,w"], ["--x", "y", "--y", hostile, "--aggregate", "--permutations", "100"]):
        mercer("depend", "t.csv", *words, "--report", "page.html")
        html = (tmp_path / "page.html").read_text()
        assert "<i>" not in re.sub(r"<script.*?</script>", "", html, flags=re.S)
        for spec in re.findall(r'<script type="application/json">(.*?)</script>', html, re.S):
            assert json.loads(spec)


@pytest.mark.parametrize("words, status, message", [
    ([], 2, "DATA is required"),
    (["data.csv"], 2, "depend needs columns: --x COLS --y COLS (two variables)"),
    (["data.csv", "--x", "x"], 2, "depend needs --y COLS too"),
    (["data.csv", "--x", "x", "--y", "squar"], 1, 'data.csv: has no column "squar" for --y, did you mean square?'),
    (["data.csv", "--x", "x", "--y", "x"], 2, "column x is in both --x and --y"),
    (["data.csv", "--x", "x", "--y", "line", "--z", "x"], 2, "column x is in both --x and --z"),
    (["none.csv", "--x", "x", "--y", "y"], 1, "none.csv: cannot be read"),
    (["data.csv", "--x", "x", "--y", "line", "--all"], 2, "ask different questions; choose one"),
    (["data.csv", "--joint", "x"], 2, "--joint needs two columns or more"),
    (["data.csv", "--x", "x", "--y", "line", "--level", "2"], 2, "--level: must be between 0 and 1, got 2"),
    (["data.csv", "--x", "x", "--y", "line", "--null", "bound"], 2, "--null: must be permutation|gamma|spectral, got bound"),
    (["data.csv", "--x", "x", "--y", "line", "--aggregate", "--null", "gamma"], 2, "--aggregate has its own null"),
    (["data.csv", "--x", "x", "--y", "line", "--z", "noise", "--null", "permutation"], 2, "--null permutation is not offered with --z"),
    (["data.csv", "--x", "x", "--y", "line", "--method", "kci"], 2, "--method is for --z"),
    (["data.csv", "--x", "x", "--y", "line", "--kernel-z", "linear"], 2, "--kernel-z is for --z"),
    (["data.csv", "--x", "x", "--y", "line", "--exchange", "pairs"], 2, "--exchange: must be free|within-groups"),
    (["data.csv", "--all", "--report", "r.html"], 2, "--all has many"),
    (["data.csv", "--x", "x", "--y", "line", "--repot", "r.html"], 2, "did you mean --report?"),
    (["data.csv", "--x", "x", "--y", "line", "--report", "data.csv"], 2, "is also an input"),
    (["gap.csv", "--x", "a", "--y", "b"], 1, "gap.csv:3"),
    (["short.csv", "--x", "a", "--y", "b"], 1, "short.csv: has 1 row; a test of dependence needs at least 4"),
    (["rows.svm", "--x", "a", "--y", "b"], 1, "rows of a LIBSVM file have no named columns for --x"),
])
def test_says_what_is_wrong(mercer, data, tmp_path, words, status, message):
    write(tmp_path / "gap.csv", ["a", "b"], [[1, 2], [3, ""], [5, 6], [7, 8], [9, 1]])
    write(tmp_path / "short.csv", ["a", "b"], [[1, 2]])
    (tmp_path / "rows.svm").write_text("1 1:2 3:4\n2 1:3\n" * 4)
    assert message in mercer.fails(status, "depend", *words)


def test_constant_column(mercer, tmp_path):
    write(tmp_path / "c.csv", ["a", "b"], [[1, i] for i in range(12)])
    result = mercer.run("depend", "c.csv", "--x", "a", "--y", "b", "--json")
    assert result.status == 1 and result.err.startswith("mercer: ") or not result.json["rejected"]
