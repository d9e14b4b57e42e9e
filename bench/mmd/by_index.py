"""The same by index, one permutation after the other, as packages for Python do it. Of the permutations only some are run, and their time is multiplied."""
# SPDX-License-Identifier: BSD-3-Clause
import sys
import time

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import PERMUTATIONS, load, numbers, pooled_gram  # noqa: E402

RUN = int(sys.argv[1])


def statistic(K, n):
    m = len(K) - n
    return K[:n, :n].sum() / (n * (n - 1)) + K[n:, n:].sum() / (m * (m - 1)) - 2 * K[:n, n:].mean()


def test(data):
    X, Y = data
    start = time.perf_counter()
    K = pooled_gram(X, Y)
    np.fill_diagonal(K, 0)
    observed = statistic(K, len(X))
    once = time.perf_counter() - start
    rng = np.random.default_rng(0)
    null = []
    for _ in range(RUN):
        order = rng.permutation(len(K))
        null.append(statistic(K[np.ix_(order, order)], len(X)))
    each = (time.perf_counter() - start - once) / RUN
    # So few permutations know no p-value; the statistic alone is compared.
    return observed, once + PERMUTATIONS * each


serve(load, test, lambda result: numbers(result[0], 0)[:2], seconds=lambda result: result[1])
