"""Nystroem(1000) and Ridge on the first 100000 rows: on a million the map alone would take 8 GB."""
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

serve(lambda files: [np.load(f)[:100_000] for f in files],
      lambda state: (state[0], make_pipeline(Nystroem(gamma=0.05, n_components=1000, random_state=0), Ridge(alpha=1)).fit(*state)),
      lambda fitted: fitted[1].predict(fitted[0][::101]))
