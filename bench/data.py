"""The data of the benchmarks, made once and kept as files that every competitor can read."""
# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import numpy as np

_folder = Path("build/bench/data")


def use_folder(folder):
    global _folder
    _folder = Path(folder)
    _folder.mkdir(parents=True, exist_ok=True)


def _kept(name, make):
    """A list with one function that makes the file when it is first needed and returns its path."""

    def path():
        file = _folder / name
        if not file.exists():
            part = file.with_suffix(file.suffix + ".part")
            make(part)
            part.rename(file)
        return file

    return [path]


def _save(part, array):
    with open(part, "wb") as out:
        np.save(out, array)


def gaussian_matrix(n, d, dtype, seed=0):
    return _kept(f"normal-{n}-{d}-{dtype}-{seed}.npy", lambda part: _save(part, np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)))


def regression_arrays(n, d):
    """X normal, Z = X W, y = sin(2 Z0) + cos(Z1) Z2 + 0.1 noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Z = X @ rng.standard_normal((d, 3)) / np.sqrt(d)
    return X, np.sin(2 * Z[:, 0]) + np.cos(Z[:, 1]) * Z[:, 2] + 0.1 * rng.standard_normal(n)


def regression(n, d):
    return _kept(f"regression-{n}-{d}-X.npy", lambda part: _save(part, regression_arrays(n, d)[0])) + _kept(
        f"regression-{n}-{d}-y.npy", lambda part: _save(part, regression_arrays(n, d)[1]))


def classification_arrays(n, d):
    """Two classes of clusters in all d columns, standardised; one label in twenty drawn anew."""
    from sklearn.datasets import make_classification

    X, y = make_classification(n, d, n_informative=d, n_redundant=0, flip_y=0.05, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def classification(n, d):
    return _kept(f"classification-{n}-{d}-X.npy", lambda part: _save(part, classification_arrays(n, d)[0])) + _kept(
        f"classification-{n}-{d}-y.npy", lambda part: _save(part, classification_arrays(n, d)[1]))


def csv_file(digits, n, d):
    form = {"six": "%.6g", "full": "%.17g"}[digits]

    def make(part):
        names = ",".join(f"column{j}" for j in range(d))
        np.savetxt(part, np.random.default_rng(0).standard_normal((n, d)), fmt=form, delimiter=",", header=names, comments="")

    return _kept(f"numbers-{digits}-{n}-{d}.csv", make)
