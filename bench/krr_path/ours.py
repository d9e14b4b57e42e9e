# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

# The check is the chosen alpha's model at some training rows: all three choose the same alpha of these, by leave-one-out or by folds.
serve(lambda files: [np.load(f) for f in files],
      lambda state: (state[0], mercer.KernelRidgeCV(np.logspace(-4, 2, 20), kernel="rbf", gamma=0.05).fit(*state)),
      lambda fitted: [fitted[1].alpha_, *fitted[1].predict(fitted[0][::101])])
