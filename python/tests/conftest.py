"""Shared data: small problems in every shape that estimators accept."""
import os

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("mercer", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("mercer")


def pytest_collection_modifyitems(items):
    if os.environ.get("MERCER_LONG_TESTS"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="a long simulation: make test-levels runs it"))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def problem(rng):
    """60 rows of 4 numbers, and three targets."""
    X = rng.normal(size=(60, 4))
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X @ [1.0, -2.0, 0.5, 0.0], rng.normal(size=60)])
    return X, Y


def close(ours, theirs, tolerance=1e-10):
    """Equal, up to a share of the largest number."""
    scale = max(1.0, np.abs(theirs).max())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)
