"""cluster: labels against scikit-learn, the choice of k, files, models on new rows, the page, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import re

import numpy as np
import pytest
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.preprocessing import StandardScaler

SHARED = ["method", "n", "features", "k", "sizes", "inertia", "silhouette", "silhouette_rows", "target", "adjusted_rand_index", "choice", "kernel", "solver",
          "converged", "wanted", "sentence", "notes", "seconds", "files"]


def column(path, name, kind=float):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return np.array([kind(row[rows[0].index(name)]) for row in rows[1:]])


@pytest.fixture
def blobs(tmp_path):
    """Four groups far from each other, their names beside."""
    random = np.random.RandomState(3)
    centres = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    y = np.arange(80) % 4
    X = centres[y] + random.randn(80, 2)
    lines = ["u,v,kind"] + [f"{a:.17g},{b:.17g},k{k}" for (a, b), k in zip(X, y, strict=True)]
    (tmp_path / "blobs.csv").write_text("\n".join(lines) + "\n")
    return X, y


def test_linear_kernel_is_plain_k_means(mercer, blobs, tmp_path):
    X, y = blobs
    result = mercer("cluster", "kmeans", "blobs.csv", "-k", "4", "--target", "kind", "--kernel", "linear", "--out", "labels.csv", "--json").json
    assert set(SHARED) <= set(result) and (result["method"], result["k"], result["n"], result["features"]) == ("kmeans", 4, 80, 2)
    scaled = StandardScaler().fit_transform(X)
    twin = KMeans(4, n_init=10, random_state=0).fit(scaled)
    assert result["inertia"] == pytest.approx(twin.inertia_, rel=1e-9)
    labels = column(tmp_path / "labels.csv", "cluster", int)
    assert adjusted_rand_score(labels, twin.labels_) == 1 and result["adjusted_rand_index"] == pytest.approx(adjusted_rand_score(y, labels))
    assert result["silhouette"] == pytest.approx(silhouette_score(scaled, labels), rel=1e-9)
    assert column(tmp_path / "labels.csv", "silhouette").mean() == pytest.approx(result["silhouette"])
    assert sorted(result["sizes"]) == [20, 20, 20, 20] and result["sizes"] == np.bincount(labels).tolist()
    assert set(column(tmp_path / "labels.csv", "kind", str)) == {"k0", "k1", "k2", "k3"}
    assert result["choice"] is None and result["files"] == {"labels": "labels.csv"} and "labels" not in result


def test_k_is_chosen(mercer, blobs, tmp_path):
    result = mercer("cluster", "kmeans", "blobs.csv", "-k", "auto", "--target", "kind", "--json").json
    assert result["k"] == 4 and result["adjusted_rand_index"] == 1
    choice = result["choice"]
    assert choice["criterion"] == "silhouette" and [c["k"] for c in choice["candidates"]] == list(range(1, 11))
    assert choice["candidates"][0]["silhouette"] is None and all(c["gap"] is not None and c["gap_error"] >= 0 for c in choice["candidates"])
    best = max(choice["candidates"][1:], key=lambda c: c["silhouette"])
    assert best["k"] == 4 and best["silhouette"] == pytest.approx(result["silhouette"])
    inertia = [c["inertia"] for c in choice["candidates"]]
    assert inertia[3] == pytest.approx(result["inertia"]) and inertia == sorted(inertia, reverse=True)
    assert len(result["labels"]) == 80
    assert mercer("cluster", "kmeans", "blobs.csv", "-k", "1-6", "--criterion", "gap", "--drop", "kind", "--json").json["k"] == 4
    said = mercer("cluster", "kmeans", "blobs.csv", "-k", "2-5", "--references", "0", "--drop", "kind").out
    assert re.search(r"k +inertia +silhouette\n", said) and "\n  4 * " in said and "gap" not in said.split("\n")[0]


def test_spectral_finds_moons_as_scikit_learn_does(mercer, tmp_path):
    X, y = make_moons(200, noise=0.05, random_state=0)
    lines = ["u,v,class"] + [f"{a:.17g},{b:.17g},{c}" for (a, b), c in zip(X, y, strict=True)]
    (tmp_path / "moons.csv").write_text("\n".join(lines) + "\n")
    result = mercer("cluster", "spectral", "moons.csv", "-k", "2", "--out", "labels.csv", "--json").json
    assert set(SHARED) <= set(result)
    labels = column(tmp_path / "labels.csv", "cluster", int)
    np.testing.assert_array_equal(column(tmp_path / "labels.csv", "class", int), y)
    assert result["adjusted_rand_index"] == pytest.approx(adjusted_rand_score(y, labels)) and result["adjusted_rand_index"] > 0.97
    assert result["neighbors"] == 10 and result["kernel"] is None and result["connected_components"] >= 1
    assert result["eigenvalues"] == sorted(result["eigenvalues"]) and abs(result["eigenvalues"][0]) < 1e-7


def test_spectral_on_noisy_moons_and_its_options(mercer, tmp_path):
    # The built-in moons touch: no clustering of neighbours tells them apart, and scikit-learn's answer is the one to compare with.
    mercer("convert", "builtin:moons", "moons.csv")
    result = mercer("cluster", "spectral", "moons.csv", "-k", "2", "--out", "labels.csv", "--json").json
    X = np.column_stack([column(tmp_path / "moons.csv", name) for name in ("x1", "x2")])
    twin = SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(StandardScaler().fit_transform(X))
    labels = column(tmp_path / "labels.csv", "cluster", int)
    assert adjusted_rand_score(labels, twin.labels_) > 0.97
    assert result["adjusted_rand_index"] == pytest.approx(adjusted_rand_score(column(tmp_path / "moons.csv", "class"), labels))
    by_kernel = mercer("cluster", "spectral", "builtin:blobs", "-k", "3", "--kernel", "gaussian(0.5)", "--json").json
    assert by_kernel["kernel"] == "gaussian(0.5)" and by_kernel["neighbors"] is None and by_kernel["adjusted_rand_index"] == 1
    assert mercer("cluster", "spectral", "builtin:blobs", "-k", "3", "--assign", "qr", "--json").json["k"] == 3


def test_spectral_chooses_by_the_eigengap(mercer, blobs):
    result = mercer("cluster", "spectral", "blobs.csv", "-k", "auto", "--target", "kind", "--json").json
    assert result["k"] == 4 and result["choice"]["criterion"] == "eigengap" and result["adjusted_rand_index"] == 1
    candidates = result["choice"]["candidates"]
    values = result["eigenvalues"]
    for c in candidates[:9]:
        assert c["eigengap"] == pytest.approx(values[c["k"]] - values[c["k"] - 1], abs=1e-9)
    assert max(candidates[1:], key=lambda c: c["silhouette"] or -1)["k"] == 4
    said = mercer("cluster", "spectral", "blobs.csv", "-k", "2-6", "--criterion", "silhouette", "--target", "kind").out
    assert "4 clusters by the largest silhouette" in said and "adjusted Rand index 1.0000" in said


def test_model_labels_new_rows(mercer, blobs, tmp_path):
    X, _ = blobs
    mercer("cluster", "kmeans", "blobs.csv", "-k", "4", "--drop", "kind", "--out", "labels.csv", "--model", "m.mercer")
    lines = ["v,u"] + [f"{b:.17g},{a:.17g}" for a, b in X[:10]]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    said = mercer("cluster", "apply", "m.mercer", "new.csv", "--out", "new_labels.csv").out
    assert said == "10 labels in new_labels.csv\n"
    np.testing.assert_array_equal(column(tmp_path / "new_labels.csv", "cluster", int), column(tmp_path / "labels.csv", "cluster", int)[:10])
    result = mercer("cluster", "apply", "m.mercer", "new.csv", "--json").json
    assert result["k"] == 4 and sum(result["sizes"]) == len(result["labels"]) == 10
    assert mercer("cluster", "apply", "m.mercer", "new.csv").out.startswith("cluster\n")
    mercer("cluster", "kmeans", "blobs.csv", "-k", "4", "--drop", "kind", "--out", "labels.npy")
    assert np.load(tmp_path / "labels.npy").shape[0] == 80


def test_page(mercer, blobs, tmp_path):
    mercer("cluster", "kmeans", "blobs.csv", "-k", "2-5", "--target", "kind", "--report", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>4 clusters</h1>" in page and "Adjusted Rand index against kind: 1.000" in page and "mercer cluster kmeans blobs.csv" in page
    titles = re.findall(r"<figcaption><b>(.*?)</b>", page)
    assert titles == ["Rows by cluster", "Rows by kind", "Cluster sizes", "Silhouettes", "Silhouette by number of clusters", "Gap statistic by number of clusters"]
    specs = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)]
    if specs:
        assert specs[0]["encoding"]["x"]["title"] == "u" and len(specs[0]["data"]["values"]) == 80
    mercer("cluster", "spectral", "blobs.csv", "-k", "auto", "--target", "kind", "--report", "s.html")
    titles = re.findall(r"<figcaption><b>(.*?)</b>", (tmp_path / "s.html").read_text())
    assert titles[-3:] == ["Silhouette by number of clusters", "Eigengap by number of clusters", "Eigenvalues of the graph"]


def test_answers_do_not_depend_on_threads(mercer, blobs):
    for words in (["kmeans", "blobs.csv", "-k", "3"], ["spectral", "blobs.csv", "-k", "3"]):
        one, two = (mercer("cluster", *words, "--drop", "kind", "--threads", n, "--json").json for n in ("1", "2"))
        assert one["labels"] == two["labels"]


def test_few_rows(mercer):
    rows = "a\n" + "".join(f"{v}\n" for v in (1, 1.1, 5, 5.1))
    result = mercer("cluster", "kmeans", "-", "-k", "auto", "--json", stdin=rows).json
    assert result["k"] == 2 and [c["k"] for c in result["choice"]["candidates"]] == [1, 2, 3]
    assert mercer("cluster", "kmeans", "-", "-k", "1", "--json", stdin=rows).json["silhouette"] is None
    assert mercer("cluster", "kmeans", "-", "-k", "4", "--json", stdin=rows).json["sizes"] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["kmeans", "blobs.csv", "-k", "81", "--drop", "kind"], 1, "-k must be at most 80, the number of rows, got 81"),
        (["spectral", "blobs.csv", "-k", "81", "--drop", "kind"], 1, "-k must be at most 80, the number of rows, got 81"),
        (["kmeans", "blobs.csv", "-k", "0"], 2, "-k: must be a whole number >= 1, a range like 2-10, or auto, got 0"),
        (["kmeans", "blobs.csv", "-k", "-3"], 2, "got -3"),
        (["kmeans", "blobs.csv", "-k", "5-2"], 2, "from the smaller to the larger, got 5-2"),
        (["kmeans", "blobs.csv", "-k", "few"], 2, "got few"),
        (["kmeans", "blobs.csv"], 2, "--clusters is required"),
        (["kmeans", "blobs.csv", "-k", "2"], 1, "kind"),
        (["kmeans", "none.csv", "-k", "2"], 1, "none.csv"),
        (["kmeans", "blobs.csv", "-k", "2", "--target", "no"], 1, 'has no column "no" for --target'),
        (["kmeans", "blobs.csv", "-k", "2-4", "--criterion", "gap", "--references", "0"], 2, "--criterion gap needs reference sets"),
        (["spectral", "blobs.csv", "-k", "2", "--drop", "kind", "--neighbors", "81"], 1, "--neighbors must be at most 80, the number of rows, got 81"),
        (["spectral", "blobs.csv", "-k", "2", "--neighbors", "5", "--kernel", "linear"], 2, "--kernel"),
        (["spectral", "blobs.csv", "-k", "2", "--model", "m.mercer"], 2, "mercer cluster spectral has no option --model"),
        (["kmeans", "blobs.csv", "-k", "2", "--out", "a.csv", "--report", "a.csv"], 2, "--out and --report name the same file; give each its own"),
        (["kmeans", "blobs.csv", "-k", "2", "--out", "-", "--json"], 2, "both want standard output"),
        (["apply", "none.mercer", "blobs.csv"], 1, "none.mercer: cannot be read"),
        ([], 2, "mercer cluster needs a method: kmeans, spectral, apply"),
        (["kmean", "blobs.csv"], 2, 'there is no method "kmean", did you mean kmeans?'),
    ],
)
def test_says_what_is_wrong(mercer, blobs, words, status, message):
    assert message in mercer.fails(status, "cluster", *words)


def test_bad_tables(mercer, tmp_path):
    assert "needs at least 2" in mercer.fails(1, "cluster", "kmeans", "-", "-k", "1", stdin="a\n1\n")
    assert ":3:" in mercer.fails(1, "cluster", "spectral", "-", "-k", "2", stdin="a,b\n1,2\n3,\n4,5\n")
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i * i}\n" for i in range(9)))
    mercer("fit", "krr", "t.csv", "--out", "m.mercer")
    assert "is a krr model" in mercer.fails(2, "cluster", "apply", "m.mercer", "t.csv")
