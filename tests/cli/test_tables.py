"""gram, kernels, convert."""
# SPDX-License-Identifier: BSD-3-Clause
import gzip

import numpy as np
import pytest


def test_gram_agrees_with_numpy(mercer, tmp_path):
    X = np.random.default_rng(0).normal(size=(17, 3))
    np.save(tmp_path / "X.npy", X)
    result = mercer("gram", "X.npy", "--kernel", "gaussian(2) + 0.5*linear", "--out", "K.npy")
    K = np.load(tmp_path / "K.npy")
    want = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8) + 0.5 * X @ X.T
    np.testing.assert_allclose(K, want, rtol=1e-12, atol=1e-14)
    assert (K == K.T).all()
    assert "Gram matrix 17 x 17 of gaussian(2) + 0.5*linear" in result.out and "The matrix is K.npy." in result.out
    mercer("gram", "X.npy", "--kernel", "gaussian(2) + 0.5*linear", "--out", "K.csv")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "K.csv", delimiter=","), K)
    shown = mercer("gram", "X.npy", "--kernel", "gaussian(2) + 0.5*linear", "--out", "-")
    np.testing.assert_array_equal(np.array([line.split(",") for line in shown.out.split()], float), K)
    assert "Gram matrix" in shown.err


def test_gram_leaves_the_target_out(mercer, table):
    result = mercer("gram", table, "--json").json
    assert result["features"] == 2 and "left out" in result["notes"][0]
    assert mercer("gram", table, "--json", "--target", "x2").json["features"] == 2
    assert mercer("gram", "-", "--json", stdin="a,b\n1,2\n3,4\n").json["features"] == 2
    assert mercer("gram", "-", "--json", stdin="1 1:2\n2 2:3\n").json["features"] == 2
    assert "  1  " in mercer("gram", table).out  # the diagonal, in the corner that is shown


def test_gram_scales_on_request(mercer, table):
    data = np.loadtxt(table, delimiter=",", skiprows=1)[:, :2]
    Z = (data - data.mean(0)) / data.std(0)
    out = mercer("gram", table, "--kernel", "linear", "--scale", "standard", "--out", "-").out
    np.testing.assert_allclose(np.array([line.split(",") for line in out.split()], float), Z @ Z.T, atol=1e-12)


def test_gram_over_budget(mercer):
    lines = "\n".join(f"{i},{i * i}" for i in range(4000))
    message = mercer.fails(1, "gram", "-", "--memory", "50M", stdin="a,b\n" + lines)
    assert "4000 x 4000" in message


def test_kernels(mercer):
    text = mercer("kernels").out
    for name in ("linear", "polynomial", "gaussian", "laplacian", "constant"):
        assert f"\n  {name} " in text
    assert text.startswith("  kernel ")
    one = mercer("kernels", "gaussian").out
    assert "exp(-|x-y|^2 / (2 length_scale^2))" in one and "universal" in one and "linear" not in one
    listed = mercer("kernels", "--json").json["kernels"]
    assert all(set(k) == {"name", "formula", "parameters", "properties"} for k in listed)
    assert [k["name"] for k in mercer("kernels", "laplacian", "--json").json["kernels"]] == ["laplacian"]


def test_every_listed_kernel_works(mercer):
    for kernel in mercer("kernels", "--json").json["kernels"]:
        assert mercer("gram", "builtin:parabola", "--kernel", kernel["name"], "--json").json["kernel"].startswith(kernel["name"])


def test_convert_there_and_back(mercer, table, tmp_path):
    want = np.loadtxt(table, delimiter=",", skiprows=1)
    mercer("convert", table, "t.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), want)
    assert mercer("convert", table, "t.svm").out == "40 rows, 3 columns, csv -> libsvm: t.svm\n"
    mercer("convert", "t.svm", "back.tsv.gz")
    back = np.loadtxt(gzip.decompress((tmp_path / "back.tsv.gz").read_bytes()).decode().splitlines()[1:], delimiter="\t")
    np.testing.assert_array_equal(back, want)
    report = mercer("convert", table, "u.csv", "--json").json
    assert report == {"rows": 40, "columns": 3, "from": "csv", "to": "csv", "files": {"out": "u.csv"}}
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "u.csv", delimiter=",", skiprows=1), want)


def test_convert_options(mercer):
    text = "a,y,b,label\n1,2,3,4\n5,6,7,8\n"
    assert mercer("convert", "-", "-", "--to", "libsvm", "--target", "b", stdin=text).out == "3 1:1 2:2 3:4\n7 1:5 2:6 3:8\n"
    assert mercer("convert", "-", "-", "--drop", "y,label", stdin=text).out == "a,b\n1,3\n5,7\n"
    assert mercer("convert", "-", "-", "--target", "a", stdin=text).out == "y,b,label,a\n2,3,4,1\n6,7,8,5\n"
    assert mercer("convert", "-", "-", "--to", "tsv", stdin=text).out == text.replace(",", "\t")
    assert 'no column "q"' in mercer.fails(1, "convert", "-", "o.csv", "--drop", "q", stdin=text)


def test_convert_refuses_what_would_be_lost(mercer):
    assert "text" in mercer.fails(1, "convert", "-", "o.npy", stdin="a,b\n1,x\n2,y\n")
    assert "text" in mercer.fails(1, "convert", "-", "o.svm", stdin="a,b\n1,x\n2,y\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1,2\n3\n", ":3"), ('a,b\n"1,2\n', ":2:1: the quote that opens here is never closed"), ("", "is empty")],
)
def test_bad_tables_name_their_place(mercer, text, message):
    assert message in mercer.fails(1, "convert", "-", "o.csv", stdin=text)


def test_bad_libsvm_names_its_place(mercer):
    assert "standard input:2:" in mercer.fails(1, "convert", "-", "o.csv", "--format", "libsvm", stdin="1 1:2\n2 2:x\n")


def test_builtin_sets_follow_the_seed(mercer):
    one = mercer("convert", "builtin:waves", "-", "--seed", "1").out
    assert one == mercer("convert", "builtin:waves", "-", "--seed", "1").out
    assert one != mercer("convert", "builtin:waves", "-", "--seed", "2").out
    assert one.splitlines()[0] == "x,y" and len(one.splitlines()) == 401
