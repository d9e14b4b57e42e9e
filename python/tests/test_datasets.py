"""Simulated sets: shapes, meaning, and the same numbers for the same seed."""
import numpy as np
import pytest

from mercer import _mercer, datasets

CLASSES = {"two_gaussians": 2, "moons": 2, "circles": 2, "disc_in_ring": 2, "blobs": 3, "sine_band": 2}


@pytest.mark.parametrize("name", CLASSES)
def test_sets_with_classes(name):
    X, y = getattr(datasets, name)(60, random_state=3)
    assert X.shape == (60, 2) and y.dtype == np.int64 and set(y) == set(range(CLASSES[name]))
    again, _ = getattr(datasets, name)(60, random_state=3)
    np.testing.assert_array_equal(X, again)
    other, _ = getattr(datasets, name)(60, random_state=4)
    assert not np.array_equal(X, other)


@pytest.mark.parametrize("name", ["cubic", "cosine", "noisy_circle"])
def test_pairs(name):
    x, y = getattr(datasets, name)(50)
    assert x.shape == y.shape == (50, 1)


def test_meaning():
    X, y = datasets.disc_in_ring(300)
    radius = np.linalg.norm(X, axis=1)
    assert (radius[y == 0] <= 1).all() and ((radius[y == 1] >= 1.5) & (radius[y == 1] <= 2.5)).all()
    X, y = datasets.sine_band(300)
    np.testing.assert_array_equal(y, (np.abs(X[:, 1] - 1.5 * np.sin(2 * X[:, 0])) < 0.8).astype(int))
    X, y = datasets.parabola()
    np.testing.assert_array_equal(X[:, 0], np.arange(-10, 11))
    np.testing.assert_array_equal(y, np.abs(X[:, 0]) > 2)
    X, y = datasets.waves(200, noise=0)
    np.testing.assert_allclose(y, datasets.waves_mean(X[:, 0]), atol=1e-12)
    assert datasets.waves_mean(3.0) == pytest.approx(_mercer.waves_mean(3.0))
    X, y = datasets.regression(50, dimension=7)
    assert X.shape == (50, 7) and y.shape == (50,)


def test_random_state():
    generator = np.random.default_rng(0)
    a, b = datasets.moons(10, random_state=generator)[0], datasets.moons(10, random_state=generator)[0]
    assert not np.array_equal(a, b)
    assert not np.array_equal(datasets.moons(10, random_state=None)[0], datasets.moons(10, random_state=None)[0])
    assert datasets.moons(10, random_state=np.random.RandomState(0))[0].shape == (10, 2)
    with pytest.raises(ValueError, match="random_state must be a whole number >= 0"):
        datasets.moons(10, random_state=-1)
    with pytest.raises(ValueError):
        datasets.moons(0)
