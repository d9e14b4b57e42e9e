"""Level and power of the tests with many kernels beside those of one kernel with the median length scale, on simulated data.

    .venv/bin/python bench/quality/aggregated.py [--sets 100]

Every cell is the share of simulated data sets that a test rejects at level 0.05, all tests on the same sets. The table goes to the screen and
to bench/quality/aggregated.md; docs/aggregated-tests.md shows it.
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import time
from pathlib import Path

import mercer
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NULL_SETS = 5  # times as many sets where the null is true
B = 500  # exchanges; of the aggregated tests for the p-values, and again for the level


def normals(rng, n=50):
    return rng.normal(size=(n, 2)), rng.normal(size=(n + 20, 2))


def heavy_ties(rng, n=40):
    """Small whole numbers: most exchanges tie with others."""
    return rng.integers(0, 3, size=(n, 2)).astype(float), rng.integers(0, 3, size=(n, 2)).astype(float)


def blobs(rng, n=250):
    """A grid of nine Gaussians, round in X, long and turned in Y."""
    centres = 5.0 * np.array([(i, j) for i in range(3) for j in range(3)])
    turned = np.linalg.cholesky(np.array([[1, 0.8], [0.8, 1]]))
    X, Y = (centres[rng.integers(9, size=n)] for _ in range(2))
    return X + rng.normal(size=(n, 2)), Y + rng.normal(size=(n, 2)) @ turned.T


def wave(rng, n=200, waves=4, height=0.6):
    """The uniform law, and the one with a wave in its density."""
    Y = np.empty(0)
    while len(Y) < n:
        y = rng.uniform(size=4 * n)
        Y = np.concatenate([Y, y[rng.uniform(size=len(y)) * (1 + height) < 1 + height * np.sin(2 * np.pi * waves * y)]])
    return rng.uniform(size=(n, 1)), Y[:n, None]


def shift(rng, n=100):
    """A difference that the median length scale is right for."""
    return rng.normal(size=(n, 5)), rng.normal(size=(n, 5)) + 0.22


def wide(rng, n=100):
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3)) * 1.25


def independent(rng, n=60):
    return rng.normal(size=(n, 1)), rng.normal(size=(n, 2))


def fast_wave(rng, n=120):
    x = rng.uniform(-np.pi, np.pi, size=(n, 1))
    return x, np.sin(8 * x) + 0.4 * rng.normal(size=(n, 1))


def circle(rng, n=60):
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return tuple((f(angle) + 0.25 * rng.normal(size=n))[:, None] for f in (np.cos, np.sin))


def correlated(rng, n=80):
    x = rng.normal(size=(n, 1))
    return x, 0.32 * x + rng.normal(size=(n, 1))


def one_mmd(X, Y, seed):
    return mercer.mmd_fuse_test(X, Y, [mercer.kernels.Gaussian(median(np.vstack([X, Y])))], n_permutations=B, random_state=seed)


def one_hsic(X, Y, seed):
    kernels = [[mercer.kernels.Gaussian(median(V))] for V in (X, Y)]
    return mercer.hsic_aggregated_test(X, Y, *kernels, n_permutations=B, random_state=seed)


def median(Z):
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(-1))[np.triu_indices(len(Z), 1)]
    return float(np.median(distances[distances > 0]))


def fused(X, Y, seed, times=1.0):
    r = min(len(X), len(Y))
    return mercer.mmd_fuse_test(X, Y, lambda_=times * np.sqrt(r * (r - 1)), n_permutations=B, random_state=seed)


TWO_SAMPLES = {
    "one kernel": one_mmd,
    "aggregated": lambda X, Y, seed: mercer.mmd_aggregated_test(X, Y, n_permutations=B, random_state=seed),
    "fused": fused,
    "fused, lambda x 100": lambda X, Y, seed: fused(X, Y, seed, 100.0),
}
VARIABLES = {"one pair": one_hsic, "aggregated": lambda X, Y, seed: mercer.hsic_aggregated_test(X, Y, n_permutations=B, random_state=seed)}
PARTS = [
    ("two samples", TWO_SAMPLES, {
        "null: normal laws, n = 50, m = 70": normals,
        "null: whole numbers 0 to 2, n = m = 40": heavy_ties,
        "blobs, n = m = 250": blobs,
        "uniform and a wave in the density, n = m = 200": wave,
        "normal laws, shift 0.22 in 5 columns, n = m = 100": shift,
        "normal laws, deviation 1.25 in 3 columns, n = m = 100": wide,
    }),
    ("two variables", VARIABLES, {
        "null: independent normal, n = 60": independent,
        "y = sin 8x + noise, n = 120": fast_wave,
        "noisy circle, n = 60": circle,
        "correlated normal, n = 80": correlated,
    }),
]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sets", type=int, default=100)
    sets = options.parse_args().sets
    lines = [f"Shares of {sets} simulated data sets ({NULL_SETS * sets} where the null is true) that are rejected at level 0.05, {B} exchanges (twice of the aggregated tests). Made by", "",
             "    .venv/bin/python bench/quality/aggregated.py", ""]
    start = time.perf_counter()
    for title, tests, problems in PARTS:
        lines += [f"| {title} | " + " | ".join(tests) + " |", "|---" * (len(tests) + 1) + "|"]
        for name, draw in problems.items():
            counts = dict.fromkeys(tests, 0)
            count_of = sets * NULL_SETS if name.startswith("null") else sets
            for seed in range(count_of):
                X, Y = draw(np.random.default_rng(seed))
                for test in tests:
                    counts[test] += bool(tests[test](X, Y, seed))
            lines.append(f"| {name} | " + " | ".join(f"{count / count_of:.3f}" for count in counts.values()) + " |")
            print(lines[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
        lines.append("")
    (ROOT / "bench" / "quality" / "aggregated.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
