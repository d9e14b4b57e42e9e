# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

# 25 candidates on 5 folds, then the refit. The check is the choice and its score.
C, GAMMA = [0.1, 1, 10, 100, 1000], (np.logspace(-1, 1, 5) / 20).tolist()

serve(lambda files: [np.load(f) for f in files],
      lambda state: mercer.SVCCV(C, gamma=GAMMA, cv=5, n_jobs=2).fit(*state),
      lambda found: [found.best_score_, found.best_params_["C"], found.best_params_["gamma"]])
