"""Denoising handwritten digits: kernel PCA keeps what digits have in common, and pre-images make pictures of it again."""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import mercer

# 1. Digits of 8 x 8 pixels; the last hundred get noise and are seen by no fit.
rng = np.random.default_rng(0)
digits = load_digits().data / 16.0
train, clean = digits[:600], digits[-100:]
noisy = clean + rng.normal(0, 0.4, clean.shape)

# 2. Kernel PCA of clean digits; noisy ones are projected on its components, and pre-images are rows with those components.
kpca = mercer.KernelPCA(20, kernel="gaussian(3)", fit_inverse_transform=True).fit(train)
denoised = kpca.inverse_transform(kpca.transform(noisy))



def error(rows: np.ndarray) -> float:
    return float(np.sqrt(((rows - clean) ** 2).mean()))


# 3. Against straight-line PCA, with the number of components that suits it best.
straight = min((pca.inverse_transform(pca.transform(noisy)) for pca in (PCA(k).fit(train) for k in (4, 8, 12, 16, 24, 32))), key=error)
print(f"root mean square error: noisy {error(noisy):.3f}, PCA {error(straight):.3f}, kernel PCA {error(denoised):.3f}")
assert error(denoised) < error(straight) < error(noisy)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 7), layout="constrained")
mercer.plot.preimages(denoised, noisy, clean=clean, ax=top)
mercer.plot.spectrum(kpca, ax=bottom)
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "digits.png")
    print("digits.png:", "a picture" if (Path(folder) / "digits.png").stat().st_size > 10000 else "empty")
