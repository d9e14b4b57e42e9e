"""A file read in parts: kernel regression on landmarks in less memory than the file takes."""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import numpy as np

import mercer

rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 4))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "big.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    model = mercer.FalkonRegressor("gaussian(3)", n_landmarks=200, memory="8M", validation_fraction=0.1).fit_file(path, target="y")
print(model.summary_)
print("R2 on rows kept out:", round(model.summary_.validation_r2, 3))
