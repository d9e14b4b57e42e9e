# Arguments: the number of rows wanted, the length scale.
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402
from task import quality  # noqa: E402

m, scale = int(sys.argv[1]), float(sys.argv[2])
kernel = mercer.kernels.Gaussian(scale)
serve(lambda files: np.load(files[0]), lambda X: (X, mercer.thin(X, m, kernel=kernel, measure="none", random_state=0).indices), lambda out: quality(*out, scale))
