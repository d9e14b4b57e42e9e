"""Save a model, look into the file, load it again."""
import os
import tempfile

import numpy as np

import mercer

X, y = mercer.datasets.waves(80)
model = mercer.KernelRidge(kernel="laplacian(1)", alpha=0.5).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "waves.mercer")
    mercer.save(model, path)
    again = mercer.load(path)
assert np.array_equal(again.predict(X), model.predict(X))
print("loaded:", again)
