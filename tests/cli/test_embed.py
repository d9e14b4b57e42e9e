"""embed: components against numpy and scikit-learn, files, model files on new rows, the page, and what is wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import re

import numpy as np
import pytest
from sklearn.decomposition import PCA, KernelPCA
from sklearn.preprocessing import StandardScaler

SHARED = ["method", "n", "features", "components", "kernel", "solver", "explained_variance", "explained_variance_ratio", "explained", "target", "color",
          "sentence", "notes", "seconds", "files"]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def numbers(path, names):
    header, rows = read(path)
    return np.array([[float(row[header.index(name)]) for name in names] for row in rows])


def same_up_to_sign(A, B, tolerance):
    signs = np.sign((A * B).sum(axis=0))
    np.testing.assert_allclose(A * signs, B, atol=tolerance)


@pytest.fixture
def data(tmp_path):
    """Four columns that hang together, a class and a price."""
    random = np.random.RandomState(1)
    latent = random.randn(60, 2)
    X = np.column_stack([latent[:, 0], latent[:, 0] + 0.3 * random.randn(60), 5 * latent[:, 1], random.randn(60)])
    lines = ["a,b,c,d,kind,price"]
    lines += [",".join(f"{v:.17g}" for v in row) + f",{'oak' if row[0] > 0 else 'elm'},{row[1] * 2:.6g}" for row in X]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    return X


def test_pca_against_scikit_learn(mercer, data, tmp_path):
    result = mercer("embed", "pca", "data.csv", "--target", "kind", "--drop", "price", "--out", "Z.csv", "--json").json
    assert set(SHARED) <= set(result)
    assert (result["method"], result["n"], result["features"], result["components"]) == ("pca", 60, 4, 2)
    assert result["kernel"] is None and result["target"] == result["color"] == "kind" and result["files"] == {"embedding": "Z.csv"}
    assert result["notes"][0] == "Column kind is no feature: it is the target."
    twin = PCA(2).fit(StandardScaler().fit_transform(data))
    np.testing.assert_allclose(result["explained_variance_ratio"], twin.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(result["explained_variance"], twin.explained_variance_, rtol=1e-10)
    assert result["explained"] == pytest.approx(twin.explained_variance_ratio_.sum())
    header, rows = read(tmp_path / "Z.csv")
    assert header == ["PC1", "PC2", "kind"] and {row[2] for row in rows} == {"oak", "elm"}
    same_up_to_sign(numbers(tmp_path / "Z.csv", ["PC1", "PC2"]), twin.transform(StandardScaler().fit_transform(data)), 1e-9)


def test_kpca_against_scikit_learn(mercer, data, tmp_path):
    words = ["embed", "kpca", "data.csv", "--target", "kind", "--drop", "price", "--scale", "none", "--kernel", "gaussian(2)", "--components", "3"]
    result = mercer(*words, "--out", "Z.csv", "--novelty", "--json").json
    assert (result["method"], result["kernel"], result["components"]) == ("kpca", "gaussian(2)", 3)
    assert result["solver"] in ("dense", "krylov") and result["status"] == "converged" and result["landmarks"] is None
    twin = KernelPCA(kernel="rbf", gamma=1 / 8).fit(data)
    want = twin.eigenvalues_ / twin.eigenvalues_.sum()
    np.testing.assert_allclose(result["explained_variance_ratio"], want[:3], rtol=1e-8)
    got = numbers(tmp_path / "Z.csv", ["PC1", "PC2", "PC3"])
    scores = twin.transform(data)
    same_up_to_sign(got, scores[:, :3], 1e-7)
    # What three components leave of the squared distance to the mean is what the others have.
    np.testing.assert_allclose(numbers(tmp_path / "Z.csv", ["novelty"])[:, 0], (scores[:, 3:] ** 2).sum(axis=1), atol=1e-7)


def test_whitened_components_have_unit_variance(mercer, data, tmp_path):
    for method in ("pca", "kpca"):
        mercer("embed", method, "data.csv", "--target", "kind", "--drop", "price", "--whiten", "--out", "Z.csv")
        np.testing.assert_allclose(np.cov(numbers(tmp_path / "Z.csv", ["PC1", "PC2"]).T), np.eye(2), atol=1e-8)


def test_all_features_of_maps_give_the_kernel(mercer, data, tmp_path):
    shared = ["data.csv", "--target", "kind", "--drop", "price", "--scale", "none", "--kernel", "gaussian(3)", "--out", "Z.npy", "--json"]
    K = np.exp(-((data[:, None] - data[None]) ** 2).sum(axis=2) / 18)
    result = mercer("embed", "nystrom", *shared, "--components", "all").json
    Z = np.load(tmp_path / "Z.npy")
    assert result["components"] == 60 and Z.shape == (60, 60) and result["trace_error"] == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6)
    mercer("embed", "ekm", *shared, "--components", "all", "--whiten")
    Z = np.load(tmp_path / "Z.npy")
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6)
    mercer("embed", "ekm", *shared, "--components", "all")
    Z = np.load(tmp_path / "Z.npy")
    np.testing.assert_allclose(np.sort(np.linalg.svd(Z)[1]), np.sort(np.linalg.svd(K)[1]), atol=1e-10)  # K, its columns in some order
    result = mercer("embed", "rff", *shared, "--components", "4000").json
    Z = np.load(tmp_path / "Z.npy")
    assert np.abs(Z @ Z.T - K).max() < 0.15 and result["kernel_error"] == pytest.approx(np.sqrt(4 * np.log(2 / 0.05) / 4000))


def test_default_is_two_columns_for_every_method(mercer, data, tmp_path):
    for method in ("pca", "kpca", "nystrom", "rff", "ekm"):
        said = mercer("embed", method, "data.csv", "--target", "kind", "--drop", "price", "--out", "Z.csv").out
        header, rows = read(tmp_path / "Z.csv")
        names = ["PC1", "PC2"] if method in ("pca", "kpca") else ["Z1", "Z2"]
        assert header == [*names, "kind"] and len(rows) == 60 and "The components are Z.csv." in said
    assert mercer("embed", "rff", "data.csv", "--target", "kind", "--drop", "price", "--components", "3", "--json").json["form"] == "cos"


@pytest.mark.parametrize("method", ["pca", "kpca", "nystrom", "rff", "ekm"])
def test_model_maps_new_rows_as_the_old(mercer, data, tmp_path, method):
    mercer("embed", method, "data.csv", "--target", "kind", "--drop", "price", "--out", "Z.csv", "--model", "m.mercer")
    header, rows = read(tmp_path / "data.csv")
    order = [3, 1, 5, 0, 2, 4]  # columns in another order, and only some rows
    (tmp_path / "new.csv").write_text("\n".join(",".join(row[j] for j in order) for row in [header, *rows[7:20]]) + "\n")
    result = mercer("embed", "apply", "m.mercer", "new.csv", "--color", "kind", "--out", "new_Z.csv", "--json").json
    assert (result["method"], result["n"], result["components"], result["model"]) == (method, 13, 2, "m.mercer")
    names = read(tmp_path / "Z.csv")[0][:2]
    np.testing.assert_allclose(numbers(tmp_path / "new_Z.csv", names), numbers(tmp_path / "Z.csv", names)[7:20], atol=1e-9)
    assert read(tmp_path / "new_Z.csv")[0] == [*names, "kind"]
    assert mercer("info", "m.mercer", "--json").json["kind"]


def test_denoising_projects(mercer, tmp_path):
    t = np.linspace(0, 1, 50)
    lines = ["u,v,w"] + [f"{a:.17g},{2 * a + 1:.17g},{-a:.17g}" for a in t]
    (tmp_path / "line.csv").write_text("\n".join(lines) + "\n")
    said = mercer("embed", "pca", "line.csv", "--components", "1", "--denoise", "clean.csv", "--model", "m.mercer").out
    assert "The denoised rows are clean.csv." in said
    np.testing.assert_allclose(numbers(tmp_path / "clean.csv", ["u", "v", "w"]), np.column_stack([t, 2 * t + 1, -t]), atol=1e-12)
    circle = np.random.RandomState(0).rand(150) * 2 * np.pi
    lines = ["u,v"] + [f"{np.cos(a):.17g},{np.sin(a):.17g}" for a in circle]
    (tmp_path / "circle.csv").write_text("\n".join(lines) + "\n")
    lines = ["u,v"] + [f"{1.25 * np.cos(a):.17g},{1.25 * np.sin(a):.17g}" for a in circle[:20]]
    (tmp_path / "noisy.csv").write_text("\n".join(lines) + "\n")
    mercer("embed", "kpca", "circle.csv", "--components", "4", "--kernel", "gaussian(1)", "--scale", "none", "--model", "k.mercer")
    result = mercer("embed", "apply", "k.mercer", "noisy.csv", "--denoise", "back.csv", "--novelty", "--json").json
    radius = np.linalg.norm(numbers(tmp_path / "back.csv", ["u", "v"]), axis=1)
    assert np.abs(radius - 1).mean() < 0.1 and result["files"] == {"denoised": "back.csv"} and "pre-images" in result["denoise"]
    assert min(result["embedding"]["novelty"]) >= 0


def test_page_and_images(mercer, tmp_path):
    random = np.random.RandomState(0)
    lines = [",".join(f"p{j}" for j in range(9)) + ",digit"]
    lines += [",".join(f"{v:.4f}" for v in random.rand(9)) + f",{i % 3}" for i in range(30)]
    (tmp_path / "pixels.csv").write_text("\n".join(lines) + "\n")
    mercer("embed", "kpca", "pixels.csv", "--color", "digit", "--images", "auto", "--novelty", "--report", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.count("data:image/png;base64,") == 2 and "mercer embed kpca pixels.csv --color digit" in page and "The most unusual rows" in page
    specs = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)]
    if specs:
        points = specs[0]["data"]["values"]
        assert len(points) == 30 and points[4]["i"] == 5 and points[4]["w"] == "1"
        assert specs[1]["data"]["values"][1]["j"] == 2
    assert "3x4 have 12 pixels" in mercer.fails(1, "embed", "kpca", "pixels.csv", "--color", "digit", "--images", "3x4", "--report", "s.html")


def test_hostile_names(mercer, tmp_path):
    (tmp_path / "odd.csv").write_text('"</script><b>",x,"PC1"\n' + "".join(f"{i % 5},{i * i % 7},w{i % 2}\n" for i in range(20)))
    mercer("embed", "pca", "odd.csv", "--color", "PC1", "--out", "Z.csv", "--report", "r.html", "--components", "1")
    assert read(tmp_path / "Z.csv")[0] == ["PC1", "PC1_"]
    mercer("embed", "pca", "odd.csv", "--drop", "PC1", "--color", "</script><b>", "--report", "r.html", "--components", "1")
    page = (tmp_path / "r.html").read_text()
    assert "<b>x" not in page and "</script><b>" not in page
    assert page.count("<script") == page.count("</script")


def test_builtin_standard_streams_and_text(mercer, tmp_path):
    said = mercer("embed", "kpca", "builtin:circles")
    assert "Column class is no feature, by its name; --target names another." in said.out
    assert re.search(r"kernel PCA of \d+ rows, gaussian\([\d.]+\): 2 components have [\d.]+ % of the variance, by the \w+ solver", said.out)
    assert "The first rows; --out Z.csv writes all:" in said.out
    piped = mercer("embed", "pca", "-", "--out", "-", stdin="a,b\n1,2\n2,5\n3,5\n")
    assert piped.out.startswith("PC1,PC2\n") and "PCA of 3 rows and 2 columns" in piped.err
    shown = mercer("embed", "pca", "-", "--json", stdin="a,b\n1,2\n2,5\n3,5\n").json
    assert len(shown["embedding"]["PC1"]) == 3 and shown["files"] == {}


def test_libsvm_and_threads(mercer, tmp_path):
    mercer("convert", "builtin:blobs", "rows.svm")
    one = mercer("embed", "kpca", "rows.svm", "--json", "--threads", "1").json
    two = mercer("embed", "kpca", "rows.svm", "--json", "--threads", "2").json
    assert one["target"] == "label" and len(one["embedding"]["label"]) == one["n"]
    np.testing.assert_allclose(one["embedding"]["PC1"], two["embedding"]["PC1"], atol=1e-10)


@pytest.mark.parametrize("solver", ["svd", "covariance", "gram", "krylov"])
def test_routes_of_pca_agree(mercer, data, solver):
    words = ["embed", "pca", "data.csv", "--target", "kind", "--drop", "price", "--json"]
    result = mercer(*words, "--solver", solver).json
    assert result["solver"] == solver
    np.testing.assert_allclose(result["explained_variance"], mercer(*words).json["explained_variance"], rtol=1e-8)


def test_low_rank_and_variance(mercer, data):
    words = ["data.csv", "--target", "kind", "--drop", "price", "--json"]
    low = mercer("embed", "kpca", *words, "--solver", "low-rank", "--rank", "40").json
    assert low["solver"] == "low rank" and low["landmarks"] == 40 and 0 <= low["trace_error"] < 0.2
    full = mercer("embed", "kpca", *words).json
    assert low["explained"] <= full["explained"] + 1e-9
    enough = mercer("embed", "pca", *words, "--variance", "0.9").json
    assert enough["explained"] > 0.9 and sum(enough["explained_variance_ratio"][:-1]) <= 0.9


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["pca", "data.csv", "--drop", "kind", "--components", "9"], 1, "--components must be at most 5, the number of rows or columns, got 9"),
        (["kpca", "data.csv", "--drop", "kind", "--components", "61"], 1, "--components must be at most 60, the number of rows, got 61"),
        (["pca", "data.csv", "--components", "0"], 2, "--components: must be a whole number from 1 to 1000000, or all, got 0"),
        (["pca", "data.csv", "--components", "1.5"], 2, "got 1.5"),
        (["pca", "data.csv"], 1, "kind"),
        (["pca", "data.csv", "--target", "nothing"], 1, 'has no column "nothing" for --target'),
        (["kpca", "data.csv", "--color", "nothing"], 1, 'has no column "nothing" for --color'),
        (["pca", "none.csv"], 1, "none.csv"),
        (["pca", "data.csv", "--kernel", "linear"], 2, "mercer embed pca has no option --kernel"),
        (["kpca", "data.csv", "--kernel", "gausian"], 2, "gaussian"),
        (["kpca", "data.csv", "--solver", "fast"], 2, "--solver: must be auto|dense|krylov|low-rank, got fast"),
        (["pca", "data.csv", "--variance", "0.9", "--components", "2"], 2, "--variance"),
        (["rff", "data.csv", "--drop", "kind", "--components", "3", "--form", "sincos"], 2, "must be even"),
        (["rff", "data.csv", "--drop", "kind", "--components", "all"], 2, "--components all"),
        (["rff", "data.csv", "--drop", "kind", "--kernel", "linear"], 1, "use gaussian, laplacian, matern"),
        (["nystrom", "data.csv", "--novelty"], 2, "mercer embed nystrom has no option --novelty"),
        (["pca", "data.csv", "--images", "auto"], 2, "give --report FILE too"),
        (["pca", "data.csv", "--drop", "kind", "--images", "big", "--report", "r.html"], 2, "HEIGHTxWIDTH"),
        (["pca", "data.csv", "--drop", "kind", "--images", "auto", "--report", "r.html"], 1, "5 columns are not the pixels of a square image"),
        (["pca", "data.csv", "--out", "a.csv", "--model", "a.csv"], 2, "--out and --model name the same file; give each its own"),
        (["pca", "data.csv", "--out", "-", "--json"], 2, "both want standard output"),
        (["pca", "data.csv", "--model", "-"], 2, "--model must name a file"),
        (["pca", "data.csv", "--out", "data.csv"], 2, "is also an input"),
        (["apply", "none.mercer", "data.csv"], 1, "none.mercer: cannot be read"),
        (["apply", "data.csv", "data.csv"], 1, "is not a model file"),
        ([], 2, "mercer embed needs a method: pca, kpca, nystrom, rff, ekm, apply"),
        (["pka", "data.csv"], 2, 'there is no method "pka", did you mean pca?'),
    ],
)
def test_says_what_is_wrong(mercer, data, words, status, message):
    assert message in mercer.fails(status, "embed", *words)


def test_bad_tables(mercer, tmp_path):
    assert "has 1 row; how rows lie to each other needs at least 2" in mercer.fails(1, "embed", "pca", "-", stdin="a,b\n1,2\n")
    message = mercer.fails(1, "embed", "kpca", "-", stdin="a,b\n1,2\n3,\n4,5\n")
    assert ":3:" in message and "b" in message
    assert mercer("embed", "kpca", "-", "--impute", "mean", "--json", stdin="a,b\n1,2\n3,\n4,5\n").json["n"] == 3
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i * i}\n" for i in range(9)))
    mercer("fit", "krr", "t.csv", "--out", "m.mercer")
    assert "is a krr model, no map" in mercer.fails(2, "embed", "apply", "m.mercer", "t.csv")
    (tmp_path / "u.csv").write_text("b\n1\n2\n")
    mercer("embed", "pca", "t.csv", "--components", "1", "--model", "p.mercer")
    assert "a" in mercer.fails(1, "embed", "apply", "p.mercer", "u.csv")
    mercer("embed", "rff", "t.csv", "--model", "f.mercer")
    assert "--novelty is for PCA and kernel PCA" in mercer.fails(2, "embed", "apply", "f.mercer", "t.csv", "--novelty")
    assert "--denoise is for PCA and kernel PCA" in mercer.fails(2, "embed", "apply", "f.mercer", "t.csv", "--denoise", "d.csv")
