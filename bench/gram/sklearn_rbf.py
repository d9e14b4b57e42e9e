# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

serve(lambda files: np.load(files[0]), lambda X: rbf_kernel(X, gamma=1 / 50), lambda K: np.concatenate([K[::997, ::991].ravel(), [K.mean(dtype="float64")]]))
