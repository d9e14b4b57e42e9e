"""Rows by two components, the spectrum, and silhouettes of clusters, in one picture."""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import mercer

X, y = mercer.datasets.circles(200, random_state=0)
kernel_pca = mercer.KernelPCA(n_components=10, kernel="gaussian(0.5)").fit(X)
clusters = mercer.KernelKMeans(2, kernel="gaussian(0.5)", random_state=0).fit(X)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
mercer.plot.scatter(kernel_pca.transform(X), color=y, ax=left)
mercer.plot.spectrum(kernel_pca, ax=middle)
mercer.plot.silhouette(X, clusters, ax=right)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "circles.png"
    figure.savefig(path)
    print(f"circles.png: {'a picture' if path.stat().st_size > 10000 else 'empty'}")
