"""Noisy USPS digits: kernel PCA and pre-images beside linear PCA, mean squared error per pixel against the clean digits.

    .venv/bin/python bench/quality/denoise.py [--data ../shared/data]

300 training digits a class make the components. Width, number of components and method of kernel PCA are chosen on noisy copies of 300 other
training digits; linear PCA is given the number of components that is best on the test digits themselves. Writes the tables of docs/preimages.md
between its two markers, and docs/assets/denoise.png.
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import lzma
import time
from pathlib import Path

import matplotlib
import mercer
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "preimages.md"
FIGURE = ROOT / "docs" / "assets" / "denoise.png"
BEGIN, END = "<!-- denoise: begin -->", "<!-- denoise: end -->"
WIDTHS = [64, 128, 256, 512]  # c of exp(-|x-y|^2 / c): a quarter to two times the number of pixels
COMPONENTS = [32, 64, 128, 256, 512, 1024]
METHODS = ["fixed_point", "distance", "ridge"]
NOISES = ["Gaussian, sd 0.5", "speckle, p = 0.4"]


def load(file):
    with lzma.open(file, "rt") as lines:
        rows = [line.split() for line in lines]
    pixels = [[float(cell.rpartition(":")[2]) for cell in row[1:]] for row in rows]
    return np.array(pixels), np.array([int(float(row[0])) for row in rows])


def with_noise(X, noise, seed):
    rng = np.random.default_rng(seed)
    if noise == NOISES[0]:
        return X + 0.5 * rng.standard_normal(X.shape)
    return np.where(rng.random(X.shape) < 0.4, np.where(rng.random(X.shape) < 0.5, -1.0, 1.0), X)  # black or white


def error(A, B):
    return float(np.mean((A - B) ** 2))


class KernelPCA:
    """All components of the centred Gram matrix, so that one eigenproblem serves every number of them."""

    def __init__(self, X, c):
        self.X, self.kernel = X, mercer.kernels.Gaussian(float(np.sqrt(c / 2)))
        K = self.kernel(X)
        self.mean, self.total = K.mean(0), K.mean()
        values, vectors = np.linalg.eigh(K - self.mean - self.mean[:, None] + self.total)
        self.values, self.vectors = values[::-1], vectors[:, ::-1]

    def weights(self, Y, q):
        """Of the projections of the images of Y on mean + q components, as sums over the images of X."""
        k = self.kernel(Y, self.X)
        k = k - k.mean(1, keepdims=True) - self.mean + self.total
        V = self.vectors[:, :q]
        g = (k @ V / self.values[:q]) @ V.T
        return g - g.mean(1, keepdims=True) + 1 / len(self.X)

    def denoise(self, Y, q, method):
        return mercer.preimages(self.kernel, self.X, self.weights(Y, q), method=method, ridge_alpha=0.1)


def linear_pca(X, Y, clean):
    """The best number of components for these very digits: generous."""
    mean = X.mean(0)
    V = np.linalg.svd(X - mean, full_matrices=False)[2]
    answers = {q: mean + (Y - mean) @ V[:q].T @ V[:q] for q in range(1, 257)}
    best = min(answers, key=lambda q: error(answers[q], clean))
    return best, answers[best]


def choose(X, held, noisy):
    """For every noise and method the width and number of components with the smallest error on held-out training digits."""
    errors = {}
    for c in WIDTHS:
        pca = KernelPCA(X, c)
        for noise in NOISES:
            for q in COMPONENTS:
                for method in METHODS:
                    errors[noise, method, c, q] = error(pca.denoise(noisy[noise], q, method).X, held)
        print(f"width {c}:", {key: round(value, 4) for key, value in errors.items() if key[2] == c}, flush=True)
    return {(n, m): min(((v, c, q) for (a, b, c, q), v in errors.items() if (a, b) == (n, m))) for n in NOISES for m in METHODS}


def figure(panels):
    names = ["original", "noisy", "PCA", "kernel PCA"]
    plot, axes = plt.subplots(8, 10, figsize=(7.2, 6.2))
    for line in axes.flat:
        line.set_xticks([])
        line.set_yticks([])
    for block, rows in enumerate(panels):
        for line, (name, digits) in enumerate(zip(names, rows, strict=True)):
            for column, digit in enumerate(digits):
                axes[4 * block + line, column].imshow(digit.reshape(16, 16), cmap="gray_r", vmin=-1.2, vmax=1.2)
            axes[4 * block + line, 0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
        axes[4 * block, 0].set_title(NOISES[block], fontsize=9, loc="left")
    plot.subplots_adjust(left=0.12, right=0.99, top=0.96, bottom=0.01, wspace=0.05, hspace=0.12)
    FIGURE.parent.mkdir(exist_ok=True)
    plot.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    data = parser.parse_args().data / "usps"
    train, labels = load(data / "usps.train.txt.xz")
    clean, digits = load(data / "usps.test.txt.xz")
    rng = np.random.default_rng(0)
    order = [rng.permutation(np.flatnonzero(labels == digit)) for digit in np.unique(labels)]
    X = train[np.concatenate([rows[:300] for rows in order])]
    held = train[np.concatenate([rows[300:330] for rows in order])]
    start = time.perf_counter()
    chosen = choose(X, held, {noise: with_noise(held, noise, 1) for noise in NOISES})
    tuning = time.perf_counter() - start
    shown = [np.flatnonzero(digits == digit)[0] for digit in np.unique(digits)]
    tables, panels = [], []
    for noise in NOISES:
        Y = with_noise(clean, noise, 2)
        q, projected = linear_pca(X, Y, clean)
        lines = [f"| {noise} | none | | {error(Y, clean):.4f} |", f"| {noise} | linear PCA, best on test | {q} | {error(projected, clean):.4f} |"]
        best = min(METHODS, key=lambda method: chosen[noise, method])
        for method in METHODS:
            held_error, c, components = chosen[noise, method]
            found = KernelPCA(X, c).denoise(Y, components, method)
            value = error(found.X, clean)
            print(noise, method, c, components, held_error, value, found.summary, flush=True)
            name = f"kernel PCA, {method.replace('_', ' ')}, c = {c}"
            bold = "**" if method == best else ""
            lines.append(f"| {noise} | {bold}{name}{bold} | {components} | {bold}{value:.4f}{bold} |")
            if method == best:
                panels.append([rows[shown] for rows in (clean, Y, projected, found.X)])
        tables += lines
    text = "\n".join(["| noise | method | components | mean squared error on 2007 test digits |", "|---|---|---|---|", *tables])
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])
    figure(panels)
    print(text, f"\nchosen in {tuning:.0f} s")


if __name__ == "__main__":
    main()
