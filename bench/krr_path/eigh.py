# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
from scipy.linalg import eigh
from sklearn.metrics.pairwise import rbf_kernel

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402


def path(state):
    """One eigendecomposition, then leave-one-out of every alpha as two products: the best that a few lines of numpy can do."""
    X, y = state
    alphas = np.logspace(-4, 2, 20)
    values, vectors = eigh(rbf_kernel(X, gamma=0.05), overwrite_a=True, check_finite=False)
    inverses = 1 / (values[:, None] + alphas)
    coef = vectors @ (inverses * (vectors.T @ y)[:, None])
    residuals = coef / (np.square(vectors) @ inverses)
    errors = np.square(residuals).mean(axis=0)
    best = np.argmin(errors)
    return errors[best], alphas[best], coef[:, best]


serve(lambda files: [np.load(f) for f in files],
      path,
      lambda fitted: [fitted[0]])
