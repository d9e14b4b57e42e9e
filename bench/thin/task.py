"""The work of thinning: how good a thinned set is, by the same numbers on both sides: its distance (MMD) to all rows, in units of that of random rows."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np


def quality(X, indices, scale):
    """[1, distance / distance of as many random rows], by 1000 frequencies that are the same for everyone."""
    frequencies = np.random.RandomState(7).randn(X.shape[1], 1000) / scale

    def mean(rows):
        total = np.zeros(1000, dtype=complex)
        for first in range(0, len(rows), 5000):
            total += np.exp(1j * (rows[first : first + 5000] @ frequencies)).sum(axis=0)
        return total / len(rows)

    whole = mean(X)
    distance = np.sqrt(np.mean(np.abs(whole - mean(X[np.asarray(indices)])) ** 2))
    random = np.sqrt((1 - np.mean(np.abs(whole) ** 2)) / len(indices))
    return [1.0, distance / random]
