"""MMDAgg with one product of matrices a kernel for all exchanges, the level by bisection, as it is published."""
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import LEVEL, grams, labellings, load, mmd_u, numbers  # noqa: E402

rows, B, dtype = int(sys.argv[1]), int(sys.argv[2]) // 2, getattr(np, sys.argv[3])


def work(state):
    X, Y, scales, deviations = state
    labels = labellings(rows, 2 * B, 0, dtype)
    T = np.array([mmd_u(K, labels, rows) for K in grams(np.vstack([X, Y]), *scales, dtype)])
    first, second = np.sort(T[:, : B + 1], axis=1), T[:, B + 1 :]
    weight = 1 / len(T)

    def quantiles(u):
        return first[:, int(np.ceil((B + 1) * (1 - u * weight))) - 1][:, None]

    low, high = 0.0, 1 / weight
    for _ in range(50):
        u = (low + high) / 2
        low, high = (u, high) if np.mean(np.any(second > quantiles(u), axis=0)) <= LEVEL else (low, u)
    return T[:, 0], deviations, np.any(T[:, :1] > quantiles(low))


serve(lambda files: load(files, rows), work, lambda out: numbers(*out))
