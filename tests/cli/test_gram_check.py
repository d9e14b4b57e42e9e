"""gram --check and --repair: verdicts and every value as JSON, against numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

KEYS = [
    "is_gram", "symmetric", "asymmetry", "asymmetry_at", "psd", "smallest_eigenvalue", "largest_eigenvalue", "tolerance", "violation",
    "violating", "smallest_diagonal", "negative_diagonal", "vanishing_diagonal", "cauchy_schwarz", "strictly_positive", "nonsingular",
    "rank", "condition", "duplicates", "alpha", "effective_dimension", "alignment", "centred_alignment", "claims_psd", "verdict",
]


@pytest.fixture
def points(tmp_path):
    X = np.random.default_rng(1).normal(size=(20, 2))
    np.save(tmp_path / "X.npy", X)
    return X


def test_check_says_it_in_words(mercer, points):
    good = mercer("gram", "X.npy", "--check").out
    assert "\na Gram matrix: symmetric and positive semi-definite" in good
    assert " is positive semi-definite for every sample, and the data agree\n" in good and "  eigenvalues from " in good
    bad = mercer("gram", "X.npy", "--kernel", "polynomial(2, 1, -1)", "--check").out
    assert "\nnot a Gram matrix: v'Kv = -" in bad and "and on these samples it is not" in bad


def test_check_as_json(mercer, points):
    bad = mercer("gram", "X.npy", "--kernel", "polynomial(2, 1, -1)", "--check", "--json").json
    assert list(bad) == ["n", "features", "kernel", "check", "notes", "seconds", "files"]
    check = bad["check"]
    assert list(check) == KEYS
    K = (points @ points.T - 1) ** 2
    values = np.linalg.eigvalsh(K)
    assert check["psd"] is False and check["is_gram"] is False and check["claims_psd"] is False
    np.testing.assert_allclose([check["smallest_eigenvalue"], check["largest_eigenvalue"]], values[[0, -1]], rtol=1e-10)
    v = np.array(check["violating"])
    np.testing.assert_allclose([v @ v, v @ K @ v], [1, check["violation"]], rtol=1e-10)
    worst = check["cauchy_schwarz"]
    assert worst["entry"] ** 2 > worst["row_diagonal"] * worst["col_diagonal"]
    np.testing.assert_allclose(worst["entry"], K[worst["row"], worst["col"]], rtol=1e-12)
    assert check["verdict"].startswith("not a Gram matrix")
    good = mercer("gram", "X.npy", "--kernel", "linear", "--check", "--json").json["check"]
    assert good["psd"] is True and good["rank"] == 2 and good["condition"] is None and good["violating"] is None


def test_effective_dimension(mercer, points):
    check = mercer("gram", "X.npy", "--kernel", "gaussian(1)", "--check", "--alpha", "0.5", "--json").json["check"]
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 2)
    assert check["alpha"] == 0.5
    np.testing.assert_allclose(check["effective_dimension"], np.trace(np.linalg.solve(K + 0.5 * np.eye(20), K)), rtol=1e-12)
    assert "--alpha is for --check" in mercer.fails(2, "gram", "X.npy", "--alpha", "0.5")
    assert "must be a number > 0, got 0" in mercer.fails(2, "gram", "X.npy", "--check", "--alpha", "0")


def test_duplicates_are_named(mercer):
    out = mercer("gram", "-", "--kernel", "gaussian(1)", "--check", stdin="a,b\n1,2\n3,4\n1,2\n")
    assert "numerical rank 2 of 3, because of duplicates: row 2 equals row 0" in out.out


def test_alignment_with_the_target(mercer, table):
    data = np.loadtxt(table, delimiter=",", skiprows=1)
    X, y = data[:, :2], data[:, 2]
    K = X @ X.T
    want = y @ K @ y / (np.linalg.norm(K) * y @ y)
    for words in ([], ["--target", "y"], ["--target", "#3"]):
        check = mercer("gram", table, "--kernel", "linear", "--check", "--json", *words).json["check"]
        np.testing.assert_allclose(check["alignment"], want, rtol=1e-11)
    assert "target alignment" in mercer("gram", table, "--check").out
    libsvm = mercer("gram", "-", "--kernel", "linear", "--check", "--json", stdin="1 1:2\n-1 2:3\n").json["check"]
    np.testing.assert_allclose(libsvm["alignment"], 13 / (2 * np.hypot(4, 9)), rtol=1e-14)


def test_a_target_of_words_has_no_alignment(mercer, flowers):
    result = mercer("gram", flowers, "--target", "kind", "--one-hot", "--check", "--json").json
    assert result["check"]["alignment"] is None
    assert "Column kind is not numeric: no target alignment." in result["notes"]


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_repair(mercer, points, tmp_path, method):
    words = ["gram", "X.npy", "--kernel", "polynomial(2, 1, -1)", "--repair", method, "--out", "K.npy"]
    result = mercer(*words, "--json").json
    repair = result["repair"]
    assert list(repair) == ["method", "changed", "frobenius_distance", "spectral_distance", "shift", "sentence"]
    K = (points @ points.T - 1) ** 2
    repaired = np.load(tmp_path / "K.npy")
    assert (repaired == repaired.T).all() and np.linalg.eigvalsh(repaired)[0] > -1e-13 * np.linalg.norm(K)
    np.testing.assert_allclose(repair["frobenius_distance"], np.linalg.norm(repaired - K), rtol=1e-10)
    if method == "clip":
        values = np.linalg.eigvalsh(K)
        np.testing.assert_allclose(repair["frobenius_distance"], np.linalg.norm(values[values < 0]), rtol=1e-10)
    shown = mercer(*words, "--check").out
    assert "not a Gram matrix" in shown and "repaired: " in shown and "moved by " in shown


def test_repair_takes_three_words(mercer, points):
    assert "--repair" in mercer.fails(2, "gram", "X.npy", "--repair", "cut")


def test_over_budget_before_the_work(mercer):
    lines = "\n".join(f"{i},{i * i}" for i in range(1000))
    message = mercer.fails(1, "gram", "-", "--check", "--memory", "20M", stdin="a,b\n" + lines)  # K fits, its spectrum does not
    assert "1000 x 1000 Gram matrix in float64 with its spectrum needs 32 MB" in message
