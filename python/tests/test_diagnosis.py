"""Verdicts on matrices, kernels and functions, against numpy."""
import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial


def test_check_gram(rng):
    X = rng.normal(size=(12, 3))
    good = mercer.check_gram(Gaussian(1)(X))
    assert good and good.psd and good.symmetric and good.is_gram and good.rank == 12 and good.violating is None
    assert good.strictly_positive and good.nonsingular and good.cauchy_schwarz is None and good.duplicates == []
    assert good.condition == pytest.approx(np.linalg.cond(Gaussian(1)(X)), rel=1e-8)
    K = -Linear()(X)
    bad = mercer.check_gram(K)
    assert not bad and not bad.psd
    v = bad.violating
    assert np.linalg.norm(v) == pytest.approx(1) and v @ K @ v == pytest.approx(bad.violation) and bad.violation < 0
    assert bad.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(K)[0])
    assert bad.negative_diagonal == list(range(12))
    assert str(bad).startswith("not a Gram matrix: v'Kv = ")
    skew = mercer.check_gram([[1.0, 0.5], [0.2, 1.0]])
    assert not skew.symmetric and skew.asymmetry == pytest.approx(0.3) and sorted(skew.asymmetry_at) == [0, 1]
    assert mercer.check_gram(sp.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="square"):
        mercer.check_gram(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="NaN in row 0, column 1"):
        mercer.check_gram([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(MemoryError, match="the spectrum of a 100 x 100 matrix"):
        mercer.check_gram(np.eye(100), memory="1KB")


def test_evidence():
    K = np.eye(4)
    K[0, 1] = K[1, 0] = 3.0
    K[3, 3] = 0.0
    K[2, 3] = K[3, 2] = 0.5
    check = mercer.check_gram(K)
    worst = check.cauchy_schwarz
    assert (worst.row, worst.col, worst.entry, worst.row_diagonal, worst.col_diagonal) == (0, 1, 3.0, 1.0, 1.0)
    assert "K(0, 1) = 3.0" in repr(worst)
    (vanishing,) = check.vanishing_diagonal
    assert (vanishing.row, vanishing.col, vanishing.entry) == (3, 2, 0.5)


def test_float32_matrices_are_judged_by_their_rounding(rng):
    K = Gaussian(3)(rng.normal(size=(100, 3)).astype(np.float32))
    assert K.dtype == np.float32
    assert mercer.check_gram(K)
    assert not mercer.check_gram(K.astype(np.float64))  # of float64 entries nobody would expect such errors


def test_effective_dimension_and_alignment(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30) + 1
    K = Gaussian(1)(X)
    check = mercer.check_gram(K, alpha=0.3, y=y)
    assert check.alpha == 0.3
    assert check.effective_dimension == pytest.approx(np.trace(np.linalg.solve(K + 0.3 * np.eye(30), K)), rel=1e-12)
    H = np.eye(30) - 1 / 30

    def align(A, t):
        return np.sum(A * np.outer(t, t)) / (np.linalg.norm(A) * t @ t)

    assert check.alignment == pytest.approx(align(K, y), rel=1e-12)
    assert check.centred_alignment == pytest.approx(align(H @ K @ H, H @ y), rel=1e-11)
    assert mercer.check_gram(K).alignment is None and mercer.check_gram(K).effective_dimension is None
    assert mercer.check_gram(K, y=np.ones(30)).centred_alignment is None
    with pytest.raises(ValueError, match="alpha must be a finite number > 0"):
        mercer.check_gram(K, alpha=0)
    with pytest.raises(TypeError, match="alpha must be a number"):
        mercer.check_gram(K, alpha="1")
    with pytest.raises(ValueError, match=r"y must be one number for each of the 30 rows, got shape \(3,\)"):
        mercer.check_gram(K, y=[1, 2, 3])
    with pytest.raises(ValueError, match="y must hold numbers"):
        mercer.check_gram(K, y=["a"] * 30)


def test_check_kernel(rng):
    X = rng.normal(size=(25, 2))
    good = mercer.check_kernel("gaussian(auto)", X, alpha=1.0, y=X[:, 0])
    assert good and good.claims_psd and good.agrees and good.kernel == str(Gaussian("auto").resolve(X))
    assert good.effective_dimension == mercer.check_gram(Gaussian("auto")(X), alpha=1.0).effective_dimension
    assert good.alignment > 0 and good.rank == mercer.check_gram(Gaussian("auto")(X)).rank
    assert "for every sample, and the data agree" in str(good)
    bad = mercer.check_kernel(Polynomial(3, scale=1, offset=-1), X)
    assert not bad and not bad.claims_psd and bad.agrees and bad.violating is not None
    assert "and on these samples it is not" in str(bad)
    twice = mercer.check_kernel(Laplacian(1), np.vstack([X, X[:2]]))
    assert twice.duplicates == [(25, 0), (26, 1)] and "because of duplicates: row 25 equals row 0" in str(twice)
    with pytest.raises(ValueError, match="NaN"):
        mercer.check_kernel("linear", [[np.nan]])
    with pytest.raises(MemoryError):
        mercer.check_kernel("linear", X, memory="1KB")


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_repair(method, rng):
    A = rng.normal(size=(40, 40))
    K = A + A.T
    values, V = np.linalg.eigh(K)
    repair = mercer.repair_gram(K, method)
    moved = {"clip": np.maximum(values, 0), "flip": abs(values), "shift": values - values[0]}[method] - values
    np.testing.assert_allclose(repair.K, K + (V * moved) @ V.T, atol=1e-12)
    assert mercer.check_gram(repair.K)
    assert repair.method == method and repair.changed == (40 if method == "shift" else (values < 0).sum())
    assert repair.frobenius_distance == pytest.approx(np.linalg.norm(moved), rel=1e-12)
    assert repair.spectral_distance == pytest.approx(moved.max(), rel=1e-12)
    assert repair.shift == (pytest.approx(-values[0], rel=1e-12) if method == "shift" else 0)
    assert "moved by" in str(repair)
    kept = repair.K
    del repair
    assert (kept == kept.T).all()  # the matrix outlives the answer it came from


def test_repair_refuses():
    with pytest.raises(ValueError, match='method must be "clip", "flip" or "shift", got "cut"'):
        mercer.repair_gram(np.eye(2), "cut")
    with pytest.raises(ValueError, match="square"):
        mercer.repair_gram(np.ones((2, 3)))


def test_bochner():
    good = mercer.check_bochner(lambda r: np.exp(-r))
    assert good and not good.violated
    # Smoothing over 1/R moves 2/(1 + w^2) by at most max|F''|/(2 R^2) = 2/R^2.
    np.testing.assert_allclose(good.transform, 2 / (1 + good.frequencies**2), atol=2 / good.window**2)
    assert (good.bound < 1e-11).all() and len(good.frequencies) == 200
    assert str(good).startswith("no violation found at 200 frequencies up to ")
    bad = mercer.check_bochner(lambda r: (r < 1).astype(float), window=40, max_frequency=10, frequencies=401)
    assert not bad and bad.violated and bad.lowest_frequency == pytest.approx(4.4934, abs=0.03)
    assert bad.lowest == pytest.approx(-0.4345, abs=1e-3) and bad.lowest_bound < 1e-10
    assert not mercer.check_bochner(lambda r: np.exp(-(r**4)))
    triangle = [bool(mercer.check_bochner(lambda r: np.maximum(0, 1 - r), d)) for d in (1, 2, 3)]
    assert triangle == [True, False, False]
    assert mercer.check_bochner(np.cos) and not mercer.check_bochner(np.cos, dimension=2)
    grows = mercer.check_bochner(lambda r: 1 + r)
    assert grows.violated and grows.exceeding[1] > 1 and len(grows.transform) == 0
    assert mercer.check_bochner(lambda r: 2)  # a constant, as one number


def test_bochner_of_kernels():
    assert mercer.check_bochner(Gaussian(2), 3)
    assert mercer.check_bochner("gaussian(1) + 0.5*laplacian(2)", 2).function == "gaussian(1) + 0.5*laplacian(2)"
    with pytest.raises(ValueError, match=r"linear is not a function of \|x - y\|"):
        mercer.check_bochner("linear")
    with pytest.raises(ValueError, match="waits for data"):
        mercer.check_bochner(Gaussian("auto"))


def test_bochner_errors_come_through():
    def broken(r):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mercer.check_bochner(broken)
    with pytest.raises(ValueError, match="one real number for each distance"):
        mercer.check_bochner(lambda r: r[:3])
    with pytest.raises(ValueError, match="one real number for each distance"):
        mercer.check_bochner(lambda r: np.exp(1j * r))
    with pytest.raises(ValueError, match=r"f\(0\) = "), np.errstate(invalid="ignore"):
        mercer.check_bochner(lambda r: np.sin(r) / r)
    with pytest.raises(TypeError, match="f must be a function"):
        mercer.check_bochner(3)
    with pytest.raises(ValueError, match="dimension must be from 1 to 12, got 0"):
        mercer.check_bochner(np.cos, 0)
    with pytest.raises(ValueError, match="dimension must be a whole number"):
        mercer.check_bochner(np.cos, 1.5)
    with pytest.raises(ValueError, match="window must be a finite number > 0"):
        mercer.check_bochner(np.cos, window=-1)
