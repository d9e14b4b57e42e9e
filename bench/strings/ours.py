# The file has one string a line. SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

kernel = mercer.kernel(sys.argv[1])
serve(lambda files: open(files[0]).read().split(), lambda strings: kernel(strings), lambda K: np.concatenate([K[::97, ::91].ravel(), [K.mean()]]))
