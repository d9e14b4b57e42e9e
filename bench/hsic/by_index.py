"""Every permutation by fancy indexing of the Gram matrix, as permutation tests are written in Python."""
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import PERMUTATIONS, centre, gram, load  # noqa: E402


def work(data):
    X, Y = data
    n = len(X)
    K, L = centre(gram(X)), gram(Y)
    rng = np.random.default_rng(0)
    null = np.empty(PERMUTATIONS)
    for b in range(PERMUTATIONS):
        p = rng.permutation(n)
        null[b] = np.sum(K * L[np.ix_(p, p)]) / n**2
    return np.sum(K * L) / n**2, null


serve(load, work, lambda result: [result[0], result[1].mean()])
