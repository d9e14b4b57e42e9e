# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402
from task import read  # noqa: E402

kernel = mercer.kernel(sys.argv[1])
serve(lambda files: read(files[0]), lambda graphs: kernel(graphs), lambda K: np.concatenate([K[::7, ::11].ravel(), [K.mean()]]))
