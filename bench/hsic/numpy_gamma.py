"""The gamma approximation by numpy and scipy."""
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
import scipy.stats as st

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import centre, gram, load  # noqa: E402


def work(data):
    X, Y = data
    n = len(X)
    K, L = centre(gram(X)), centre(gram(Y))
    statistic = np.vdot(K, L) / n**2
    mean = np.trace(K) * np.trace(L) / n**3
    variance = 2 * np.vdot(K, K) * np.vdot(L, L) / n**6
    law = st.gamma(mean**2 / variance, scale=variance / mean)
    return statistic, law.ppf(0.95), law.sf(statistic)


serve(load, work, lambda result: result[:2])
