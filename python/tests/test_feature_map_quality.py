"""On real data, randomly pivoted Cholesky leaves out no more than uniform landmarks, and orthogonal frequencies are closer than plain ones."""
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import mercer

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
spec = importlib.util.spec_from_file_location("quality_of_maps", ROOT / "bench" / "quality" / "maps.py")
quality = importlib.util.module_from_spec(spec)
spec.loader.exec_module(quality)


@pytest.fixture(scope="module", params=list(quality.SETS))
def some_rows(request):
    if not (DATA / "usps").is_dir():
        pytest.skip(f"there is no folder {DATA} with the public data sets")
    X = quality.SETS[request.param](DATA)
    return X[np.random.default_rng(1).permutation(len(X))[:1000]]


def test_pivoted_cholesky_against_uniform_landmarks(some_rows):
    """For the median distance; where the kernel is so narrow that half of the trace is left out, uniform ones do as well or better."""
    kernel = quality.kernel_for(some_rows)
    pivoted, uniform = (quality.trace_errors(some_rows, kernel, method, 50).mean() for method in ("rpcholesky", "uniform"))
    assert pivoted <= uniform


def test_orthogonal_against_plain_frequencies(some_rows):
    rows = some_rows[:300]
    kernel = quality.kernel_for(rows)
    plain = quality.gram_errors(rows, kernel, 128).mean()
    assert quality.gram_errors(rows, kernel, 128, orthogonal=True).mean() < plain
    assert quality.gram_errors(rows, kernel, 128, orthogonal="structured").mean() < plain


def test_the_kernel_of_the_comparison():
    X = np.random.default_rng(0).normal(size=(200, 3))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(-1))[np.triu_indices(200, 1)]
    assert quality.kernel_for(X, 0.5).parameters[0][1] == pytest.approx(np.median(distances) / 2)
    assert quality.kernel_for(X) == mercer.kernels.Gaussian(np.median(distances))
