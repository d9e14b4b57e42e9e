"""kernels, and kernels by text in the commands that take one."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

VERDICTS = ["psd", "strictly_pd", "universal", "characteristic", "bounded", "shift_invariant"]


def test_all(mercer):
    text = mercer("kernels").out
    for word in ("gaussian", "histogram_intersection", "white", "k.normalized()", "k.on(0, 3, 5:9)"):
        assert word in text
    listed = mercer("kernels", "--json").json
    assert len(listed["kernels"]) == 29 and len(listed["operations"]) >= 12
    for kernel in listed["kernels"]:
        assert list(kernel) == ["name", "formula", "parameters", *VERDICTS, "note", "source"]
        assert {kernel[v] for v in VERDICTS} <= {"yes", "no", "unknown"}
        assert all(list(p) == ["name", "default", "range"] for p in kernel["parameters"])


def test_one(mercer):
    text = mercer("kernels", "sigmoid").out
    assert "tanh(scale <x,y> + offset)" in text and "not psd" in text and "universal unknown" in text and "offset = 0" in text
    assert [k["name"] for k in mercer("kernels", "laplacian", "--json").json["kernels"]] == ["laplacian"]


def test_every_listed_kernel_works(mercer, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{i % 5},{i * i % 7}\n" for i in range(12)))
    (tmp_path / "s.txt").write_text("gattaca gat\ncat tac\nacca gag\n")
    (tmp_path / "w.txt").write_text("cat 1 2\ngat 2 1\n")
    (tmp_path / "sets.jsonl").write_text('{"points": [[1, 2], [3, 4]]}\n{"points": [[1, 1]]}\n')
    (tmp_path / "g.txt").write_text("2\n3 0\n0 1 1\n0 2 0 2\n0 1 1\n3 1\n1 2 1 2\n0 2 0 2\n0 2 0 1\n")
    files = dict.fromkeys(["spectrum", "weighted_degree", "mismatch", "gappy", "subsequence", "edit_distance", "bag_of_words", "words", "convolution"],
                          ["s.txt", "--format", "lines"])
    files |= dict.fromkeys(["weisfeiler_lehman", "shortest_path", "random_walk", "graphlet"], ["g.txt", "--format", "graphs"])
    files["bag_of"] = ["sets.jsonl"]
    text = {"words": 'words("w")', "convolution": "convolution(words, spectrum(2))"}
    for kernel in mercer("kernels", "--json").json["kernels"]:
        name = kernel["name"]
        if name == "precomputed":
            continue
        more = ["--table", "w=w.txt"] if name == "words" else []
        made = mercer("gram", *files.get(name, ["x.csv"]), "--kernel", text.get(name, name), *more, "--json").json
        assert made["kernel"].startswith(name) and made["n"] == {"s.txt": 3, "g.txt": 2, "sets.jsonl": 2}.get(files.get(name, [""])[0], 12)


def test_columns_by_name(mercer, table, flowers, tmp_path):
    by_name = mercer("fit", "krr", table, "--kernel", "gaussian(2).on(x2) + linear.on(\"x1\")", "--json").json
    assert by_name["kernel"] == "gaussian(2).on(1) + linear.on(0)"
    assert by_name["train"] == mercer("fit", "krr", table, "--kernel", "gaussian(2).on(1) + linear.on(0)", "--json").json["train"]
    # All categories of a column go by its name, and the model file keeps positions.
    words = ["fit", "krr", flowers, "--drop", "id", "--one-hot", "--kernel", "gaussian(1).on(size)*linear.on(colour)", "--out", "m.mercer"]
    assert mercer(*words, "--json").json["kernel"] == "gaussian(1).on(0)*linear.on(1, 2)"
    assert mercer("predict", "m.mercer", flowers).out.count("\n") == 31
    learned = mercer("learn", table, "--kernel", "gaussian(auto).on(x1) + linear", "--json").json
    assert learned["kernel"].startswith("gaussian(") and learned["kernel"].endswith(").on(0) + linear")
    message = mercer.fails(1, "fit", "krr", table, "--kernel", "gaussian(2).on(weight)")
    assert message == 'the kernel looks at column "weight", which is not among the features; they are x1, x2'
    assert "on(5) asks for column 5, but the samples have 2 columns (0 to 1)" in mercer.fails(1, "gram", "-", "--kernel", "linear.on(5)", stdin="a,b\n1,2\n3,4\n")


def test_errors_point_at_the_character(mercer, table):
    message = mercer.fails(2, "gram", table, "--kernel", "gaussian(2) + 0.5*liner")
    lines = message.splitlines()
    assert "did you mean linear?" in lines[0] and lines[2].index("^") - 2 == "gaussian(2) + 0.5*liner".index("liner")


@pytest.fixture
def gram(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 3))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    np.save(tmp_path / "K.npy", K)
    return K


def test_a_given_matrix_is_checked_and_repaired(mercer, gram, tmp_path):
    good = mercer("gram", "K.npy", "--kernel", "precomputed", "--check", "--json").json
    assert good["kernel"] == "precomputed" and good["check"]["is_gram"]
    scaled = mercer("gram", "K.npy", "--kernel", "precomputed", "--scale", "standard", "--check", "--json").json
    assert scaled["check"] == good["check"] and "without scaling" in " ".join(scaled["notes"])
    bad = gram - 0.5
    np.save(tmp_path / "bad.npy", bad)
    checked = mercer("gram", "bad.npy", "--kernel", "precomputed", "--check", "--repair", "clip", "--out", "psd.npy", "--json").json
    assert not checked["check"]["psd"]
    np.testing.assert_allclose(checked["check"]["smallest_eigenvalue"], np.linalg.eigvalsh(bad)[0], rtol=1e-10)
    assert np.linalg.eigvalsh(np.load(tmp_path / "psd.npy"))[0] > -1e-13
    skew = gram.copy()
    skew[0, 1] += 1
    np.save(tmp_path / "skew.npy", skew)
    assert "not symmetric" in mercer("gram", "skew.npy", "--kernel", "precomputed", "--check").out
    np.save(tmp_path / "wide.npy", gram[:5])
    assert "as many columns as rows" in mercer.fails(1, "gram", "wide.npy", "--kernel", "precomputed")


def test_a_given_matrix_fits_and_predicts(mercer, gram, tmp_path):
    y = np.sin(np.arange(20.0))
    np.savetxt(tmp_path / "t.csv", np.column_stack([gram, y]), delimiter=",", header=",".join([*(f"k{i}" for i in range(20)), "y"]), comments="")
    fitted = mercer("fit", "krr", "t.csv", "--kernel", "precomputed", "--alpha", "0.1", "--out", "m.mercer", "--json").json
    assert fitted["kernel"] == "precomputed" and fitted["summary"]["residual"] < 1e-12
    mercer("predict", "m.mercer", "t.csv", "--out", "p.csv")
    predicted = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(predicted, gram @ np.linalg.solve(gram + 0.1 * np.eye(20), y), rtol=1e-9)
    assert "which a given Gram matrix does not have" in mercer.fails(1, "learn", "t.csv", "--kernel", "precomputed")
