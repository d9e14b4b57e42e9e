# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from competitor import serve  # noqa: E402


def prepare(files):
    X, y = (np.load(f) for f in files)
    return KernelRidge(kernel="rbf", gamma=0.05, alpha=0.1).fit(X, y), X + 0.1


serve(prepare, lambda state: state[0].predict(state[1]), lambda f: f[::101])
