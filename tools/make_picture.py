"""Draws docs/assets/overview.png, the picture of README.md: a boundary that was learned, error bars of a curve, and where two samples differ.

    .venv/bin/python tools/make_picture.py
"""
# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mercer
import numpy as np
from PIL import Image

OUT = Path(__file__).resolve().parents[1] / "docs" / "assets" / "overview.png"
BLUE, ORANGE, GREY = "#1f6feb", "#e8710a", "#57606a"


def grid_over(X, steps=220, margin=0.3):
    """Points of a plane around the rows, and the two axes they lie on."""
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    first, second = np.linspace(low[0], high[0], steps), np.linspace(low[1], high[1], steps)
    return first, second, np.column_stack([part.ravel() for part in np.meshgrid(first, second)])


def boundary(axes):
    X, y = mercer.datasets.sine_band(600, random_state=0)
    X_new, y_new = mercer.datasets.sine_band(2000, random_state=1)
    search = mercer.SVCCV(C=[1, 10, 100, 1000], gamma=[0.1, 0.3, 1], cv=5).fit(X, y)
    first, second, points = grid_over(X)
    f = search.decision_function(points).reshape(len(second), len(first))
    axes.contourf(first, second, f, levels=[-1e9, 0, 1e9], colors=["#dbe9ff", "#ffe6cf"])
    axes.contour(first, second, f, levels=[-1, 0, 1], colors=GREY, linestyles=["--", "-", "--"], linewidths=[0.7, 1.4, 0.7])
    axes.scatter(*X.T, s=5, c=np.where(y == 1, ORANGE, BLUE))
    axes.set_title(f"Learn: SVC tuned on 600 rows,\n{100 * search.score(X_new, y_new):.1f} % right on 2000 new ones")


def curve(axes):
    X, y = mercer.datasets.waves(60, random_state=3)
    model = mercer.GaussianProcessRegressor(kernel="1*gaussian(1)", alpha=0.1, optimize_noise=True, normalize_y=True).fit(X, y)
    t = np.linspace(0, 10, 400)
    mean, deviation = model.predict(t[:, None], return_std=True)
    axes.fill_between(t, mean - 2 * deviation, mean + 2 * deviation, color="#dbe9ff", lw=0)
    axes.plot(t, mean, color=BLUE, lw=1.6)
    axes.plot(t, np.sin(2 * t) + np.exp(1.5 * (t - 9)), color=GREY, lw=0.9, ls="--")
    axes.scatter(X[:, 0], y, s=9, color=ORANGE, zorder=3)
    axes.set_title("Predict: a Gaussian process,\n2 standard deviations (truth dashed)")


def difference(axes):
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 2 * np.pi, 300)
    ring = 2 * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.normal(scale=0.25, size=(300, 2))
    cloud = rng.normal(size=(300, 2)) * ring.std(axis=0) + ring.mean(axis=0)  # the same means and variances
    result = mercer.mmd_aggregated_test(ring, cloud, random_state=0)
    first, second, points = grid_over(np.vstack([ring, cloud]))
    f = mercer.witness(ring, cloud, kernel="gaussian(0.7)")(points).reshape(len(second), len(first))
    axes.contourf(first, second, f, levels=np.linspace(-1, 1, 14) * np.abs(f).max(), cmap="PuOr_r", alpha=0.75)
    axes.scatter(*ring.T, s=5, color=ORANGE)
    axes.scatter(*cloud.T, s=5, color="#5e3c99")
    axes.set_title(f"Test with many kernels: equal means and variances,\np = {result.p_value:.4f}; the witness says where")


def main():
    plt.rcParams.update({"font.size": 8, "axes.titlesize": 8.5, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.3), layout="constrained")
    for draw, axes in zip((boundary, curve, difference), panels, strict=True):
        draw(axes)
        axes.tick_params(length=2, labelsize=7)
    figure.savefig(OUT, dpi=120)
    Image.open(OUT).convert("RGB").quantize(96).save(OUT, optimize=True)
    print(f"{OUT.name}: {OUT.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
