"""Two-sample tests with many kernels, the same work for us and for numpy: two samples of equal size and 20 kernels in, statistics and verdict out.

Both get the same length scales. mmd-u of each kernel is compared in units of its deviation under exchanges, and the verdict (0 or 1).
"""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from scipy.spatial.distance import cdist

LEVEL = 0.05


def grid(distances, count=10):
    low, high = np.quantile(distances, [0.05, 0.95])
    return np.geomspace(low / 2, 2 * high, count)


def load(files, rows):
    """Two samples, the second moved a little, the length scales, and the deviation of each statistic."""
    Z = np.load(files[0])[: 2 * rows].copy()
    Z[rows:] += 0.1
    inner = np.triu_indices(400, 1)
    part = Z[:: max(1, len(Z) // 400)][:400]
    scales = grid(cdist(part, part, "cityblock")[inner]), grid(cdist(part, part)[inner])
    labels = np.array([np.random.default_rng(b).permutation(np.repeat([1.0, -1.0], rows)) for b in range(60)]).T
    deviations = [mmd_u(K, labels, rows).std() for K in grams(Z, *scales)]
    return Z[:rows], Z[rows:], scales, deviations


def grams(Z, laplacian, gaussian, dtype=np.float64):
    """One after the other, without their diagonals, in the memory of one."""
    Z = Z.astype(dtype)
    for distances, lengths, factor in ((cdist(Z, Z, "cityblock"), laplacian, lambda l: -1 / l), (cdist(Z, Z, "sqeuclidean"), gaussian, lambda l: -0.5 / l**2)):
        distances = distances.astype(dtype, copy=False)
        K = np.empty_like(distances)
        for length in lengths:
            np.multiply(distances, dtype(factor(length)), out=K)
            np.exp(K, out=K)
            np.fill_diagonal(K, 0)
            yield K


def mmd_u(K, labels, rows):
    """Of all labellings (columns of 1 and -1) by one product; A + B = (1'K1 + v'Kv) / 2."""
    q = np.einsum("ib,ib->b", labels, K @ labels).astype(np.float64)
    return q / rows**2 + (K.sum(dtype=np.float64) + q) / (2 * rows**2 * (rows - 1))


def labellings(rows, count, seed, dtype):
    """The observed one, then exchanges; one a column."""
    rng = np.random.default_rng(seed)
    observed = np.repeat(np.array([1, -1], dtype=dtype), rows)
    return np.column_stack([observed, rng.permuted(np.tile(observed, (count, 1)), axis=1).T])


def numbers(statistics, deviations, rejected):
    return [*(t / s for t, s in zip(statistics, deviations)), float(rejected)]
