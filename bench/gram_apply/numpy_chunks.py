# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402


def apply(state):
    X, V = state
    norms = (X * X).sum(axis=1)
    out = np.empty_like(V)
    for first in range(0, len(X), 1000):
        part = slice(first, first + 1000)
        K = X[part] @ X.T
        K *= -2
        K += norms
        K += norms[part, None]
        K *= -1 / 18  # exp(-|x-y|^2 / (2 * 3^2))
        np.exp(K, out=K)
        out[part] = K @ V
    return out


serve(lambda files: [np.load(f) for f in files], apply, lambda out: out[::97].ravel())
