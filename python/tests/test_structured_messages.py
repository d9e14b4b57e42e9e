"""What kernels of objects and given kernel values say where something is amiss."""
import warnings

import numpy as np
import pytest

import mercer


def test_kernels_that_find_nothing_say_so():
    with pytest.warns(UserWarning, match=r"k\(x, x\) = 0 for 2 of 4 samples: the kernel finds nothing in them"):
        mercer.SVC(kernel="spectrum(3)").fit(["abcd", "bcda", "ab", ""], [0, 1, 0, 1])


@pytest.mark.parametrize("estimator", [mercer.SVC, mercer.KernelRidge])
def test_kernel_values_that_are_not_psd_say_so(rng, estimator):
    X = rng.normal(size=(20, 3))
    indefinite = X @ np.diag([1, 1, -0.1]) @ X.T
    for K in (-X @ X.T, indefinite + 3 * np.diag(np.diag(indefinite) < 0)):
        with pytest.warns(UserWarning, match="not positive semi-definite: no kernel has them"):
            estimator(kernel="precomputed").fit(K, [0, 1] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(kernel="precomputed").fit(X @ X.T, [0, 1] * 10)  # singular, and a Gram matrix


@pytest.mark.parametrize(
    ("text", "X", "message"),
    [
        ("bag_of(gaussian(1))", [[1.0, 2.0, 3.0], [1.0, 2.0]], "lists of numbers of different lengths: a set of numbers is an array of one column"),
        ("spectrum(2)", "ACGT", "X is one string, 'ACGT': put it in a list"),
        ("spectrum(2)", [], "X is empty: at least one sample is needed"),
        ("spectrum(2)", [b"ab"], "X holds bytes: decode them to text first"),
    ],
)
def test_kernels_say_what_they_take(text, X, message):
    with pytest.raises(ValueError, match=message):
        mercer.kernel(text)(X)
