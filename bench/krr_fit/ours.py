# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

# The check is the predictions at some training rows: what a user sees of a fit.
serve(lambda files: [np.load(f) for f in files],
      lambda state: (state[0], mercer.KernelRidge(kernel="rbf", gamma=0.05, alpha=0.1).fit(*state)),
      lambda fitted: fitted[1].predict(fitted[0][::101]))
