# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

# The check is the mean squared error that each found at its best alpha. Leave-one-out and folds estimate the same error from n - 1 and from
# 0.8 n samples, so they agree only as well as those do; against the eigenvectors by hand the same number agrees to rounding.
serve(lambda files: [np.load(f) for f in files],
      lambda state: (state[0], mercer.KernelRidgeCV(np.logspace(-4, 2, 20), kernel="rbf", gamma=0.05).fit(*state)),
      lambda fitted: [-fitted[1].best_score_])
