"""Simulated data sets, the same for the same ``random_state`` on every machine.

Sets with classes give ``(X, y)`` with whole numbers in y, sets for regression ``(X, y)`` with real ones, and pairs of dependent
samples ``(x, y)`` with one column each.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from . import _mercer

__all__ = [
    "blobs",
    "circles",
    "cosine",
    "cubic",
    "disc_in_ring",
    "moons",
    "noisy_circle",
    "parabola",
    "regression",
    "sine_band",
    "two_gaussians",
    "waves",
    "waves_mean",
]

Pair = tuple[np.ndarray, np.ndarray]


def _seed(random_state: Any) -> int:
    """A seed from an int, None (a fresh one), or numpy's generators."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, Integral) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise ValueError(f"random_state must be a whole number >= 0, None or a numpy generator, got {random_state!r}")


def _classes(pair: Pair) -> Pair:
    return pair[0], pair[1].astype(np.int64)


def two_gaussians(n: int = 200, *, distance: float = 2.0, dimension: int = 2, random_state: Any = 0) -> Pair:
    """Two unit Gaussians whose means are ``distance`` apart.

    >>> import mercer
    >>> X, y = mercer.datasets.two_gaussians(10)
    >>> X.shape, y.shape
    ((10, 2), (10,))
    """
    return _classes(_mercer.two_gaussians(n, distance, dimension, _seed(random_state)))


def moons(n: int = 200, *, noise: float = 0.1, random_state: Any = 0) -> Pair:
    """Two interleaved half circles.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(10)
    >>> X.shape, y.shape
    ((10, 2), (10,))
    """
    return _classes(_mercer.moons(n, noise, _seed(random_state)))


def circles(n: int = 200, *, noise: float = 0.05, factor: float = 0.5, random_state: Any = 0) -> Pair:
    """A small circle of radius ``factor`` inside a unit one.

    >>> import mercer
    >>> X, y = mercer.datasets.circles(10)
    >>> X.shape, y.shape
    ((10, 2), (10,))
    """
    return _classes(_mercer.circles(n, noise, factor, _seed(random_state)))


def disc_in_ring(n: int = 200, *, random_state: Any = 0) -> Pair:
    """Class 0 in the disc of radius 1, class 1 in the ring between 1.5 and 2.5.

    >>> import mercer
    >>> X, y = mercer.datasets.disc_in_ring(10)
    >>> X.shape, y.shape
    ((10, 2), (10,))
    """
    return _classes(_mercer.disc_in_ring(n, _seed(random_state)))


def blobs(n: int = 200, *, centres: int = 3, dimension: int = 2, spread: float = 1.0, random_state: Any = 0) -> Pair:
    """Gaussians of deviation ``spread`` around random centres.

    >>> import mercer
    >>> X, y = mercer.datasets.blobs(12, centres=4)
    >>> X.shape, y.shape
    ((12, 2), (12,))
    """
    return _classes(_mercer.blobs(n, centres, dimension, spread, _seed(random_state)))


def parabola() -> Pair:
    """The whole numbers -10 .. 10, of class 1 where |x| > 2.

    >>> import mercer
    >>> X, y = mercer.datasets.parabola()
    >>> X.shape, y.shape
    ((21, 1), (21,))
    """
    return _classes(_mercer.parabola())


def waves(n: int = 100, *, noise: float = 0.3, random_state: Any = 0) -> Pair:
    """Regression in one dimension: y = sin 2x + exp(1.5 (x - 9)) + noise, x uniform on [0, 10].

    >>> import mercer
    >>> X, y = mercer.datasets.waves(10)
    >>> X.shape, y.shape
    ((10, 1), (10,))
    """
    return _mercer.waves(n, noise, _seed(random_state))


def waves_mean(x: Any) -> np.ndarray:
    """The function beneath :func:`waves`.

    >>> import mercer
    >>> mercer.datasets.waves_mean([0.0, 9.0]).round(3)
    array([0.   , 0.249])
    """
    x = np.asarray(x, dtype=float)
    return np.sin(2 * x) + np.exp(1.5 * (x - 9))


def sine_band(n: int = 600, *, random_state: Any = 0) -> Pair:
    """Uniform on [-3, 3]^2; class 1 where |x2 - 1.5 sin 2 x1| < 0.8.

    >>> import mercer
    >>> X, y = mercer.datasets.sine_band(10)
    >>> X.shape, y.shape
    ((10, 2), (10,))
    """
    return _classes(_mercer.sine_band(n, _seed(random_state)))


def cubic(n: int = 100, *, random_state: Any = 0) -> Pair:
    """A dependent pair: y = x^3 + 0.2 e.

    >>> import mercer
    >>> X, y = mercer.datasets.cubic(10)
    >>> X.shape, y.shape
    ((10, 1), (10, 1))
    """
    return _mercer.cubic(n, _seed(random_state))


def cosine(n: int = 100, *, random_state: Any = 0) -> Pair:
    """A dependent pair: y = cos 2 pi x + 0.3 e.

    >>> import mercer
    >>> X, y = mercer.datasets.cosine(10)
    >>> X.shape, y.shape
    ((10, 1), (10, 1))
    """
    return _mercer.cosine(n, _seed(random_state))


def noisy_circle(n: int = 100, *, random_state: Any = 0) -> Pair:
    """A dependent pair: points of the unit circle, 0.1 e on both coordinates.

    >>> import mercer
    >>> X, y = mercer.datasets.noisy_circle(10)
    >>> X.shape, y.shape
    ((10, 1), (10, 1))
    """
    return _mercer.noisy_circle(n, _seed(random_state))


def regression(n: int = 1000, *, dimension: int = 20, noise: float = 0.1, random_state: Any = 0) -> Pair:
    """y = sin 2 z0 + cos(z1) z2 + noise, z = X W for a random W of three columns.

    >>> import mercer
    >>> X, y = mercer.datasets.regression(10)
    >>> X.shape, y.shape
    ((10, 20), (10,))
    """
    return _mercer.regression(n, dimension, noise, _seed(random_state))
