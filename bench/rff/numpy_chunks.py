"""What a careful user writes by hand: chunks in float32, cosines in place, Z'Z by numpy (which calls SYRK for it), one solve at the end."""
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402
from rff.task import ALPHA, COMPONENTS, GAMMA, prepare, ridge_check  # noqa: E402

CHUNK = 8192


def fit(state):
    X, y = state["X"], state["y"]
    rng = np.random.default_rng(0)
    W = (np.sqrt(2 * GAMMA) * rng.standard_normal((X.shape[1], COMPONENTS))).astype(np.float32)
    b = rng.uniform(0, 2 * np.pi, COMPONENTS).astype(np.float32)
    scale = np.float32(np.sqrt(2 / COMPONENTS))

    def features(rows):
        Z = rows.astype(np.float32) @ W
        Z += b
        np.cos(Z, out=Z)
        Z *= scale
        return Z

    A, c, sums = np.zeros((COMPONENTS, COMPONENTS)), np.zeros(COMPONENTS), np.zeros(COMPONENTS)
    for first in range(0, len(X), CHUNK):
        Z = features(X[first:first + CHUNK])
        A += Z.T @ Z
        c += Z.T @ y[first:first + CHUNK].astype(np.float32)
        sums += Z.sum(axis=0)
    n, mean = len(X), sums / len(X)
    A -= n * np.outer(mean, mean)
    A[np.diag_indices_from(A)] += ALPHA
    coef = np.linalg.solve(A, c - mean * y.sum())
    intercept = y.mean() - mean @ coef
    return lambda rows: features(rows) @ coef + intercept


serve(prepare, lambda s: (s, fit(s)), lambda out: ridge_check(*out))
