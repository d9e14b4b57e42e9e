"""Strings, sets, words, graphs and records on the command line: every command takes their kernels, and says what it chose."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
from collections import Counter

import numpy as np
import pytest

LETTERS = "ACGT"


def spectrum(a, b, k):
    """Common substrings of k letters, counted one by one, and normalised."""
    count = lambda s: Counter(s[i:i + k] for i in range(len(s) - k + 1))
    dot = lambda x, y: sum(x[key] * y[key] for key in x)
    x, y = count(a), count(b)
    return dot(x, y) / np.sqrt(dot(x, x) * dot(y, y))


def spectrum_gram(A, B, k):
    return np.array([[spectrum(a, b, k) for b in B] for a in A])


def sequences(seed, n, planted):
    """Random letters; of the second half some get the motif TATAAT."""
    random = np.random.default_rng(seed)
    out = []
    for i in range(n):
        letters = random.choice(list(LETTERS), 30)
        if planted and i >= n // 2:
            at = random.integers(0, 24)
            letters[at:at + 6] = list("TATAAT")
        out.append("".join(letters))
    return out


def column(path, name):
    with open(path, newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


@pytest.fixture
def genes(tmp_path):
    strings = sequences(1, 40, True)
    kinds = ["plain"] * 20 + ["motif"] * 20
    (tmp_path / "genes.tsv").write_text("seq\tkind\n" + "".join(f"{s}\t{k}\n" for s, k in zip(strings, kinds)))
    return strings, kinds


@pytest.fixture
def records(tmp_path):
    """A text column beside two numbers; the target needs both."""
    strings = sequences(2, 60, True)
    random = np.random.default_rng(5)
    age, dose = random.normal(50, 10, 60), random.uniform(0, 1, 60)
    y = np.array([3.0 * ("TATAAT" in s) for s in strings]) + (age - 50) / 10
    lines = ["id,seq,age,dose,y"] + [f"r{i},{strings[i]},{float(age[i])!r},{float(dose[i])!r},{float(y[i])!r}" for i in range(60)]
    (tmp_path / "records.csv").write_text("\n".join(lines) + "\n")
    return strings, np.column_stack([age, dose]), y


def ring(n):
    return [(i, (i + 1) % n) for i in range(n)]


def star(n):
    return [(0, i) for i in range(1, n)]


def write_graphs(path, graphs):
    """The block format: the number of graphs, then `n label` and for each node `tag m neighbours`."""
    lines = [str(len(graphs))]
    for n, edges, label in graphs:
        lines.append(f"{n} {label}")
        near = [[] for _ in range(n)]
        for a, b in edges:
            near[a].append(b)
            near[b].append(a)
        lines += [" ".join(map(str, [0, len(x), *x])) for x in near]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def graphs(tmp_path):
    made = [(n, ring(n), 0) for n in range(5, 15)] + [(n, star(n), 1) for n in range(5, 15)]
    write_graphs(tmp_path / "shapes.txt", made)
    return made


def test_gram_of_strings_is_the_count(mercer, genes, tmp_path):
    mercer("gram", "genes.tsv", "--target", "kind", "--kernel", "spectrum(3)", "--out", "K.npy")
    np.testing.assert_allclose(np.load(tmp_path / "K.npy"), spectrum_gram(genes[0], genes[0], 3), rtol=1e-12, atol=1e-14)
    assert "a Gram matrix" in mercer("gram", "genes.tsv", "--target", "kind", "--kernel", "spectrum(3)", "--check").out
    assert "kernel ridge" in mercer("fit", "krr", "genes.tsv", "--kernel", 'spectrum(3).on("seq")', "--target", "kind").out
    assert "kernel ridge" in mercer("fit", "krr", "genes.tsv", "--kernel", "spectrum(3).on(0)", "--target", "kind").out


def test_kernel_ridge_on_strings_is_the_closed_form(mercer, genes, tmp_path):
    strings, kinds = genes
    mercer("fit", "krr", "genes.tsv", "--target", "kind", "--kernel", "spectrum(4)", "--alpha", "0.5", "--out", "m.mercer")
    new = sequences(9, 12, True)
    (tmp_path / "new.tsv").write_text("seq\n" + "\n".join(new) + "\n")
    mercer("predict", "m.mercer", "new.tsv", "--header", "--scores", "--out", "p.csv")
    y = np.where(np.array(kinds) == "plain", 1.0, -1.0)  # plain is the second class
    wanted = spectrum_gram(new, strings, 4) @ np.linalg.solve(spectrum_gram(strings, strings, 4) + 0.5 * np.eye(40), y)
    np.testing.assert_allclose(np.array(column(tmp_path / "p.csv", "score_plain"), float), wanted, rtol=1e-9, atol=1e-12)
    assert '--header takes that line for names' in mercer.fails(1, "predict", "m.mercer", "new.tsv")
    info = mercer("info", "m.mercer").out
    assert "40 strings" in info and "spectrum(4)" in info and "seq" in info
    assert mercer("score", "m.mercer", "genes.tsv", "--json").json["accuracy"] > 0.9


@pytest.mark.parametrize("model", ["svc", "nu-svc", "logistic", "mean", "sgd-svm", "falkon", "krr"])
def test_every_classifier_takes_strings(mercer, genes, tmp_path, model):
    options = {"nu-svc": ["--nu", "0.3"], "sgd-svm": ["--iterations", "2000"], "falkon": ["--landmarks", "20"]}.get(model, [])
    mercer("fit", model, "genes.tsv", "--target", "kind", "--kernel", "mismatch(4, 1)", *options, "--out", "m.mercer")
    (tmp_path / "new.tsv").write_text("seq\n" + "\n".join(sequences(9, 12, True)) + "\n")
    assert set(mercer("predict", "m.mercer", "new.tsv", "--header", "--json").json["predictions"]["prediction"]) <= {"plain", "motif"}
    assert mercer("score", "m.mercer", "genes.tsv", "--json").json["n"] == 40


def test_regressions_and_one_class_take_strings(mercer, records):
    kernel = ["--kernel", 'spectrum(3).on("seq")', "--drop", "age,dose"]
    for model, options in (("gp", []), ("svr", ["--C", "10"]), ("representer", ["--loss", "huber"])):
        out = mercer("fit", model, "records.csv", *kernel, *options, "--json", "--out", f"{model}.mercer").json
        assert out["features"] == 1 and out["n"] == 60
        assert len(mercer("predict", f"{model}.mercer", "records.csv", "--json").json["predictions"]["prediction"]) == 60
    out = mercer("fit", "one-class", "records.csv", *kernel, "--target", "y", "--nu", "0.2", "--json").json
    assert 0.7 <= out["train"]["inside"] <= 0.9
    path = mercer("fit", "krr", "records.csv", "--drop", "id,age,dose", "--kernels", "spectrum(2); spectrum(4)", "--json").json
    assert {p["kernel"] for p in path["path"]} == {"spectrum(2)", "spectrum(4)"}


def test_a_kernel_of_records(mercer, records, tmp_path):
    strings, numbers, y = records
    kernel = 'spectrum(4).on("seq") * gaussian(2).on("age", "dose")'
    out = mercer("fit", "krr", "records.csv", "--kernel", kernel, "--alpha", "0.3", "--out", "m.mercer").out
    assert "identifies rows and was left out" in out
    Z = (numbers - numbers.mean(0)) / numbers.std(0)
    distances = ((Z[:, None] - Z[None]) ** 2).sum(2)
    K = spectrum_gram(strings, strings, 4) * np.exp(-distances / 8)
    fitted = K @ np.linalg.solve(K + 0.3 * np.eye(60), y)
    mercer("predict", "m.mercer", "records.csv", "--out", "p.csv")
    np.testing.assert_allclose(np.array(column(tmp_path / "p.csv", "prediction"), float), fitted, rtol=1e-8, atol=1e-10)
    assert "60 records of strings, 2 numbers" in mercer("info", "m.mercer").out
    auto = mercer("fit", "krr", "records.csv", "--kernel", 'spectrum(4).on("seq") * gaussian(auto).on("age", "dose")', "--json").json
    assert auto["train"]["r2"] > 0.5 and "gaussian(auto)" not in auto["kernel"]


def test_lines_and_fasta_choose_a_kernel(mercer, tmp_path):
    one, two = sequences(1, 40, False), [s[:12] + "TATAAT" + s[18:] for s in sequences(2, 40, False)]
    for name, strings in (("a.fasta", one), ("b.fasta", two)):
        (tmp_path / name).write_text("".join(f">s{i} some words\n{s[:20]}\n{s[20:]}\n" for i, s in enumerate(strings)))
    result = mercer("compare", "a.fasta", "b.fasta", "--kernel", "spectrum(4)", "--json").json
    K = spectrum_gram(one + two, one + two, 4)
    xx, yy, xy = K[:40, :40], K[40:, 40:], K[:40, 40:]
    wanted = (xx.sum() - np.trace(xx)) / 1560 + (yy.sum() - np.trace(yy)) / 1560 - 2 * xy.mean()
    assert result["statistic"] == pytest.approx(wanted, rel=1e-9) and result["rejected"]
    assert result["features"] == ["sequence"] and result["columns"] is None
    out = mercer("compare", "a.fasta", "b.fasta", "--witness", "w.csv", "--report", "r.html").out
    assert "The name and description of the sequences are no features." in out
    assert "The kernel is spectrum(3), for what the columns hold; --kernel says another." in out and "The samples differ" in out
    assert column(tmp_path / "w.csv", "sequence")[0] == one[0]
    (tmp_path / "words.txt").write_text("".join(f"{s}\n" for s in one))
    Z = mercer("embed", "kpca", "words.txt", "--format", "lines", "--components", "2", "--json").json
    assert Z["kernel"] == "spectrum(3)" and len(Z["embedding"]["PC1"]) == 40
    apply = mercer("embed", "kpca", "words.txt", "--format", "lines", "--model", "map.mercer", "--out", "z.csv", "--report", "z.html")
    assert "40 strings" in mercer("info", "map.mercer").out and apply.status == 0
    mercer("embed", "apply", "map.mercer", "words.txt", "--format", "lines", "--out", "again.csv")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "again.csv", delimiter=",", skiprows=1),
                               np.loadtxt(tmp_path / "z.csv", delimiter=",", skiprows=1), rtol=1e-9, atol=1e-12)


def test_texts(mercer, tmp_path):
    cats = ["the cat sat on the mat", "a cat and a dog ran home", "the dog sat near the cat", "my cat likes the mat today"]
    stocks = ["the market fell on bad news", "stocks and bonds rose in trade", "the trade of stocks fell again", "bad news for the bond market"]
    (tmp_path / "texts.txt").write_text("\n".join(cats + stocks) + "\n")
    out = mercer("embed", "kpca", "texts.txt", "--format", "lines").out
    assert "The kernel is bag_of_words, for what the columns hold" in out
    again = mercer("cluster", "kmeans", "texts.txt", "--format", "lines", "--kernel", "bag_of_words", "-k", "2", "--model", "c.mercer", "--json").json
    assert sum(again["sizes"]) == 8
    labels = mercer("cluster", "apply", "c.mercer", "texts.txt", "--format", "lines", "--json").json["labels"]
    assert labels == again["labels"]
    assert "tables of words" in mercer("info", "c.mercer").out  # the weights of the words


def test_a_table_of_words(mercer, tmp_path):
    vectors = {"cat": [1, 0], "dog": [0.9, 0.1], "bond": [0, 1], "stock": [0.1, 0.8]}
    (tmp_path / "glove.txt").write_text("".join(f"{w} {v[0]} {v[1]}\n" for w, v in vectors.items()))
    texts, labels = ["cat dog", "dog dog cat", "bond stock", "stock", "cat", "bond bond"], [0, 0, 1, 1, 0, 1]
    (tmp_path / "t.csv").write_text("text,label\n" + "".join(f"{t},{k}\n" for t, k in zip(texts, labels)))
    kernel = ["--kernel", 'words("glove")', "--table", "glove=glove.txt"]
    mercer("gram", "t.csv", *kernel, "--out", "K.npy")
    means = np.array([np.mean([vectors[w] for w in t.split()], axis=0) for t in texts])
    np.testing.assert_allclose(np.load(tmp_path / "K.npy"), means @ means.T, rtol=1e-12)
    mercer("fit", "svc", "t.csv", *kernel, "--C", "10", "--out", "m.mercer")
    (tmp_path / "glove.txt").unlink()  # the model has its own copy
    assert mercer("score", "m.mercer", "t.csv", "--json").json["accuracy"] == 1
    assert "glove: 4 words of 2 numbers" in mercer("info", "m.mercer").out
    assert "--table NAME=FILE gives one" in mercer.fails(2, "fit", "svc", "t.csv", "--kernel", 'words("glove")')
    assert "must be NAME=FILE" in mercer.fails(2, "fit", "svc", "t.csv", "--table", "glove.txt")
    assert "none.txt" in mercer.fails(1, "fit", "svc", "t.csv", "--table", "glove=none.txt", "--kernel", 'words("glove")')


def test_graphs(mercer, graphs, tmp_path):
    out = mercer("fit", "svc", "shapes.txt", "--format", "graphs", "--out", "m.mercer").out
    assert "The kernel is weisfeiler_lehman(5), for what the columns hold; --kernel says another." in out
    assert mercer("score", "m.mercer", "shapes.txt", "--format", "graphs", "--json").json["accuracy"] == 1
    assert "graphs" in mercer("info", "m.mercer").out
    clusters = mercer("cluster", "kmeans", "shapes.txt", "--format", "graphs", "--kernel", "weisfeiler_lehman(3)", "-k", "2", "--json", "--report",
                      "c.html").json
    assert clusters["adjusted_rand_index"] == 1
    assert mercer("cluster", "spectral", "shapes.txt", "--format", "graphs", "-k", "2", "--json").json["kernel"] == "weisfeiler_lehman(5)"
    chosen = mercer("cluster", "kmeans", "shapes.txt", "--format", "graphs", "-k", "2-5", "--json").json
    assert chosen["choice"]["criterion"] == "silhouette" and all(c["gap"] is None for c in chosen["choice"]["candidates"])
    assert "--criterion gap compares with random rows" in mercer.run("cluster", "kmeans", "shapes.txt", "-k", "2-5", "--format", "graphs", "--criterion", "gap").err
    by = mercer("compare", "shapes.txt", "--format", "graphs", "--by", "label", "--report", "r.html", "--witness", "w.csv", "--json").json
    assert by["rejected"] and by["kernel"] == "weisfeiler_lehman(5)"
    write_graphs(tmp_path / "more.txt", graphs[:10])
    write_graphs(tmp_path / "other.txt", graphs[10:])
    two = mercer("compare", "more.txt", "other.txt", "--format", "graphs", "--json").json
    assert two["statistic"] == pytest.approx(by["statistic"], rel=1e-10)
    depend = mercer("depend", "shapes.txt", "--format", "graphs", "--x", "graph", "--y", "label", "--json").json
    assert depend["rejected"] and depend["kernels"][0] == "weisfeiler_lehman(5)" and depend["baselines"] == []
    assert mercer("depend", "shapes.txt", "--format", "graphs", "--all", "--json").json["rejected"] == 1
    few = mercer("weights", "herd", "shapes.txt", "--format", "graphs", "--kernel", "shortest_path", "-m", "4", "--out", "few.csv", "--json").json
    assert [int(r) for r in column(tmp_path / "few.csv", "row")] == few["rows"]
    nystrom = mercer("embed", "nystrom", "shapes.txt", "--format", "graphs", "--components", "4", "--json").json
    assert nystrom["components"] == 4


def test_sets_of_points_and_of_tokens(mercer, tmp_path):
    random = np.random.default_rng(0)
    rows = []
    for i in range(30):
        spread = 1 + 2 * (i % 2)
        rows.append({"points": (spread * random.normal(size=(15, 2))).round(3).tolist(), "tags": ["a", "b"] if i % 2 else ["c"], "y": i % 2})
    (tmp_path / "bags.jsonl").write_text("".join(json.dumps({k: r[k] for k in ("points", "y")}) + "\n" for r in rows))
    fitted = mercer("fit", "svc", "bags.jsonl", "--json").json
    assert fitted["kernel"].startswith("bag_of(gaussian(") and ", mean).radial(" in fitted["kernel"] and fitted["train"]["accuracy"] > 0.9
    (tmp_path / "tags.jsonl").write_text("".join(json.dumps({k: r[k] for k in ("tags", "y")}) + "\n" for r in rows))
    assert mercer("fit", "krr", "tags.jsonl", "--json").json["train"]["accuracy"] == 1
    (tmp_path / "both.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    out = mercer("fit", "krr", "both.jsonl").out
    assert '.on("points")' in out and 'bag_of_words.on("tags")' in out


def test_learn_on_strings(mercer, genes):
    result = mercer("learn", "genes.tsv", "--target", "kind", "--kernel", "spectrum(4)", "--json", "--out", "m.mercer", "--report", "r.html").json
    assert result["linear"] is None and result["model"] == result["candidates"][0]["model"] and {c["kernel"] for c in result["candidates"]} == {"spectrum(4)"}
    out = mercer("learn", "genes.tsv", "--target", "kind", "--kernel", "bag_of_words").out
    assert "there is no linear model to compare with" in out and "A linear model" not in out


def test_depend_on_strings(mercer, records):
    result = mercer("depend", "records.csv", "--x", "seq", "--y", "y", "--kernel-x", "spectrum(4)", "--json").json
    assert result["kernels"][0] == "spectrum(4)" and result["n"] == 60


def test_weights_of_strings(mercer, tmp_path):
    (tmp_path / "train.txt").write_text("\n".join(sequences(1, 30, False)) + "\n")
    (tmp_path / "target.txt").write_text("\n".join(sequences(4, 20, True)) + "\n")
    shift = mercer("weights", "shift", "train.txt", "target.txt", "--format", "lines", "--kernel", "spectrum(2)", "--out", "w.csv", "--report", "w.html")
    assert "spectrum(2)" in shift.out and len(column(tmp_path / "w.csv", "weight")) == 30
    for method in ("squash", "thin"):
        assert mercer("weights", method, "train.txt", "--format", "lines", "-m", "5", "--json").json["m"] == 5


def test_kernels_are_listed(mercer):
    out = mercer("kernels").out
    for name in ("spectrum", "mismatch", "bag_of", "weisfeiler_lehman", "shortest_path", "words"):
        assert f"\n  {name} " in out
    assert "parameter" in mercer("kernels", "spectrum").out


def test_what_needs_numbers_says_so(mercer, graphs, genes, tmp_path):
    files = ["shapes.txt", "--format", "graphs"]
    for words, who in ((["fit", "ridge"], "ridge regression"), (["fit", "linear-svc"], "a linear support vector machine"),
                       (["fit", "rff"], "regression on random Fourier features"), (["embed", "pca"], "PCA")):
        result = mercer.run(*words, *files)
        assert result.status == 1 and f"mercer: {who} works on columns of numbers, and the rows hold graphs" in result.err
    assert mercer.run("embed", "kpca", *files, "--denoise", "d.csv").status == 1
    assert mercer.run("fit", "krr", *files, "--kernel", "gaussian(1)").status == 1
    assert "spectrum(3) looks at" in mercer.run("fit", "krr", *files, "--kernel", "spectrum(3)").err
    assert "--columns-table compares columns of numbers" in mercer.run("compare", *files, "--by", "label", "--columns-table").err


def test_which_column(mercer, records, tmp_path):
    message = mercer.fails(1, "fit", "krr", "records.csv", "--kernel", "spectrum(3)")
    assert 'the kernel spectrum(3) names no column, and there are id, seq, age, dose; say which it looks at, like spectrum(3).on("seq")' in message
    assert "--drop age,dose,id" in message
    (tmp_path / "numbers.csv").write_text("a,b,y\n1,2,3\n4,5,6\n7,8,10\n")
    assert "the columns hold numbers; --text a keeps one as it is written" in mercer.fails(1, "fit", "krr", "numbers.csv", "--kernel", "spectrum(3)")
    assert "column a holds numbers; --text a" in mercer.fails(1, "fit", "krr", "numbers.csv", "--kernel", 'spectrum(3).on("a")')
    assert "kernel ridge" in mercer("fit", "krr", "numbers.csv", "--text", "a", "--kernel", 'spectrum(1).on("a")').out
    # text in a CSV file is not taken for strings without being asked
    (tmp_path / "plain.csv").write_text("colour,y\nred,1.5\nblue,2.5\nred,1\n")
    assert "is text" in mercer.fails(1, "fit", "krr", "plain.csv")


def test_a_model_of_strings_finds_the_strings_of_other_files(mercer, tmp_path):
    (tmp_path / "genes.csv").write_text("seq,class\nACGTACGT,a\nACGTTCGT,a\nTTGACCAA,b\nTTGACCTA,b\n")
    mercer("fit", "svc", "genes.csv", "--target", "class", "--kernel", "spectrum(3)", "--C", "10", "--out", "genes.mercer")
    (tmp_path / "new.fa").write_text(">one\nACGTACGT\n>two with words\nTTGACC\nAA\n")
    (tmp_path / "new.txt").write_text("ACGTACGT\nTTGACCAA\n")
    for words in (["new.fa"], ["new.txt", "--format", "lines"]):
        assert mercer("predict", "genes.mercer", *words).out == "prediction\na\nb\n"


def test_a_misspelt_column_is_told_among_all(mercer, tmp_path):
    (tmp_path / "genes.csv").write_text("seq,age,class\nACGTACGT,1,a\nACGTTCGT,2,a\nTTGACCAA,3,b\nTTGACCTA,4,b\n")
    message = mercer.fails(1, "gram", "genes.csv", "--target", "class", "--kernel", 'spectrum(4).on("sq")')
    assert message == "genes.csv: the kernel looks at column sq, which is not there, did you mean seq?; the columns are seq, age, class"


def test_strings_that_are_too_short(mercer, tmp_path):
    (tmp_path / "short.csv").write_text("s,class\nab,a\nba,a\nbb,b\naa,b\nabcdef,a\nbcdefa,b\n")
    out = mercer("fit", "svc", "short.csv", "--kernel", "spectrum(5)", "--C", "1").out
    assert "k(x, x) = 0 for 4 of 6 samples: the kernel finds nothing in them" in out
