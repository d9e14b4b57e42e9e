# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402


def fit(state):
    model = mercer.KernelRidge(kernel="rbf", gamma=0.05, alpha=0.1, tol=1e-8).fit(*state)
    assert model.summary_.residual <= 1e-8, model.summary_
    return state[0], model


serve(lambda files: [np.load(f) for f in files], fit, lambda fitted: fitted[1].predict(fitted[0][::101]))
