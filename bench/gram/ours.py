# Arguments: the kernel's text.
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

kernel = mercer.kernel(sys.argv[1])
serve(lambda files: np.load(files[0]), lambda X: kernel(X), lambda K: np.concatenate([K[::997, ::991].ravel(), [K.mean(dtype="float64")]]))
