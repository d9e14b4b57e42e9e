# Arguments: the length scale. The size of the answer is the root of the largest power of 4 within the rows.
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
from goodpoints.compress import compresspp_kt

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402
from task import quality  # noqa: E402

scale = float(sys.argv[1])
serve(lambda files: np.load(files[0]), lambda X: (X, compresspp_kt(X, b"gaussian", np.array([2 * scale**2]), g=4, num_bins=4, seed=0)), lambda out: quality(*out, scale))
