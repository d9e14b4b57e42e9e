"""Two samples: how far apart they are, where they differ, and which columns carry the difference."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

import mercer

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 3))
Y = rng.normal(size=(200, 3)) * [1, 1, 2.5]  # the same means, another spread of the last column

mu = mercer.mean_embedding(X)
print(mu.bound(0.05).sentence)
w = mercer.witness(X, Y)
print(w)
print("typical of Y:", [Y[p.row].round(1).tolist() for p in w.telling_points(3).more_y if p.sample == "Y"])
print(w.columns(random_state=0))
