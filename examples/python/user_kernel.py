"""A kernel of your own for rows of mixed kinds, in a sum with Mercer's, in an estimator, in a file; and the kernel of a feature map."""
import tempfile
from pathlib import Path

import numpy as np

import mercer
from mercer.kernels import Gaussian


def same_label(A, B):
    """1 where two rows have the same label, else 0: all rows of a block at once."""
    return (A[:, :1] == B[:, :1].T).astype(float)


def harmonics(A):
    """Rows to rows of features."""
    return np.column_stack([np.sin(A), np.cos(A), np.ones(len(A))])


rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 20, 300), rng.uniform(0, 6, 300)])  # a label whose number means nothing, and a number
y = rng.normal(size=20)[X[:, 0].astype(int)] * np.sin(X[:, 1])

k = mercer.kernel_function(same_label, psd=True).on(0) * (mercer.feature_map(harmonics) + Gaussian(1)).on(1)
print(k, "| psd:", k.is_psd)
train, test = slice(200), slice(200, None)
for kernel in (Gaussian("auto"), k):
    model = mercer.KernelRidge(0.01, kernel=kernel).fit(X[train], y[train])
    print(f"R^2 {'by our own kernel' if kernel is k else 'by a Gaussian'}: {model.score(X[test], y[test]):.3f}")

# Text and files have the names; whoever reads them brings the functions.
library = {"same_label": same_label, "harmonics": mercer.feature_map(harmonics)}
assert mercer.kernel(str(k), library=library) == k
with tempfile.TemporaryDirectory() as folder:
    mercer.save(model, Path(folder) / "model.mercer")
    again = mercer.load(Path(folder) / "model.mercer", library=library)
assert np.array_equal(again.predict(X[test]), model.predict(X[test]))
