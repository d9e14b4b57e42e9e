"""Pre-images from Python: against numpy's own loops, and what is refused."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

import mercer
from mercer import preimages


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((60, 3))


def objective(kernel, X, g, z):
    k = mercer.kernel(kernel)
    return k(z[None])[0, 0] - 2 * (k(z[None], X) @ g)[0] + g @ k(X) @ g


@pytest.mark.parametrize("kernel", ["gaussian(1.5)", "matern(1.5, 2)", "rational_quadratic(1.5)", "polynomial(3, scale=0.5)", "exponential_dot(0.3)"])
def test_row_of_an_image_is_found(rows, kernel):
    found = preimages(kernel, rows, np.eye(60)[:20])
    assert np.allclose(found.X, rows[:20], atol=1e-6)
    assert found.converged.all() and (found.squared_distance < 1e-9 * found.squared_norm).all()


def test_linear_kernel_gives_weighted_sums(rows):
    G = np.random.default_rng(1).standard_normal((5, 60))
    assert np.allclose(preimages("linear", rows, G).X, G @ rows)


@pytest.mark.parametrize("method", mercer.preimage_methods("gaussian(1)", 3))
def test_distance_is_the_one_written_out(rows, method):
    G = np.random.default_rng(2).random((4, 60)) / 30
    found = preimages("gaussian(1.2)", rows, G, method=method)
    assert np.allclose(found.squared_distance, [objective("gaussian(1.2)", rows, g, z) for g, z in zip(G, found.X, strict=True)], atol=1e-12)
    assert list(found.method) == [method] * 4
    best = preimages("gaussian(1.2)", rows, G)
    assert (best.squared_distance <= found.squared_distance + 1e-12).all()
    if method != "gradient":
        assert "pre-images of 4 points from 60 rows" in found.summary


def test_search_agrees_with_scipy(rows):
    from scipy.optimize import minimize

    g = np.random.default_rng(3).random(60) / 60
    found = preimages("gaussian(1.2)", rows, g[None], tol=1e-9)
    reference = minimize(lambda z: objective("gaussian(1.2)", rows, g, z), found.X[0] + 0.05, tol=1e-12)
    assert np.allclose(found.X[0], reference.x, atol=1e-4)
    assert found.squared_distance[0] <= reference.fun + 1e-10


def test_named_columns_sparse_rows_and_threads(rows):
    pandas = pytest.importorskip("pandas")
    import scipy.sparse as sp

    frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
    G = np.eye(60)[:5]
    named = preimages('gaussian(1).on("a", "b") * gaussian(2).on("c")', frame, G)
    placed = preimages("gaussian(1).on(0, 1) * gaussian(2).on(2)", sp.csr_array(rows), G, n_jobs=1)
    assert np.array_equal(named.X, placed.X)


def test_start_and_learned(rows):
    G = np.eye(60)[:5]
    far = np.full((5, 3), 1e4)
    assert np.array_equal(preimages("gaussian(1)", rows, G, method="fixed_point", start=far, restarts=0).X, far)
    assert not preimages("gaussian(1)", rows, G, method="fixed_point", start=far, restarts=0).converged.any()
    assert np.allclose(preimages("gaussian(1)", rows, G, method="fixed_point", start=far).X, rows[:5], atol=1e-6)
    assert np.array_equal(preimages("gaussian(1)", rows, G, method="ridge", learned=far).X, far)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"method": "mika"}, ValueError, "method must be one of best, fixed_point"),
        ({"weights": np.ones((2, 59))}, ValueError, "one column per basis row, 60, got 59"),
        ({"weights": np.full((1, 60), np.nan)}, ValueError, "weights has a NaN"),
        ({"start": np.zeros((3, 3))}, ValueError, "start must have one row per point"),
        ({"n_neighbors": 0}, ValueError, "neighbors must be at least 1, got 0"),
        ({"n_neighbors": 2.5}, ValueError, "n_neighbors must be a whole number"),
        ({"tol": "small"}, ValueError, "tol must be a number"),
        ({"kernel": "sigmoid"}, ValueError, "not positive semi-definite"),
        ({"kernel": "laplacian(1, norm=l1)", "method": "fixed_point"}, NotImplementedError, "needs slopes of the kernel"),
        ({"kernel": "linear", "method": "distance"}, NotImplementedError, "a decreasing function of one distance"),
        ({"kernel": "precomputed", "X": np.eye(60)}, ValueError, "given Gram matrix"),
    ],
)
def test_refuses(rows, change, error, message):
    asked = {"kernel": "gaussian(1)", "X": rows, "weights": np.eye(60)} | change
    with pytest.raises(error, match=message):
        preimages(**asked)
