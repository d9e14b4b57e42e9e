"""The data of the benchmarks, made once and kept as files that every competitor can read."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import lzma
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


def _pair(name, make):
    """X and y of a data set that is made whole."""
    return _kept(f"{name}-X.npy", lambda part: _save(part, make()[0])) + _kept(f"{name}-y.npy", lambda part: _save(part, make()[1]))


def classification(n, d):
    """make_classification with 20 informative columns and 5 % of labels flipped, standardised."""

    def make():
        from sklearn.datasets import make_classification
        from sklearn.preprocessing import StandardScaler

        X, y = make_classification(n_samples=n, n_features=d, n_informative=20, n_redundant=0, flip_y=0.05, random_state=0)
        return StandardScaler().fit_transform(X), y.astype(np.float64)

    return _pair(f"classification-{n}-{d}", make)


def clouds(n, d):
    """Six unit Gaussians around centres of norm about 3, every second one of class 1, 5 % of labels flipped."""

    def make():
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((6, d)) * 3 / np.sqrt(d)
        which = rng.integers(6, size=n)
        X = centres[which] + rng.standard_normal((n, d))
        return X, ((which % 2) ^ (rng.random(n) < 0.05)).astype(np.float64)

    return _pair(f"clouds-{n}-{d}", make)


def groups(n, d):
    """Ten Gaussians of deviation 2.5 around centres in the cube [-10, 10]^d: they touch."""

    def make():
        rng = np.random.default_rng(1)
        return rng.uniform(-10, 10, size=(10, d))[rng.integers(10, size=n)] + 2.5 * rng.standard_normal((n, d))

    return _kept(f"groups-{n}-{d}.npy", lambda part: _save(part, make()))


def _sparse(name, make):
    import scipy.sparse as sp

    def save_rows(part):
        with open(part, "wb") as out:
            sp.save_npz(out, make()[0], compressed=False)

    return _kept(f"{name}-X.npz", save_rows) + _kept(f"{name}-y.npy", lambda part: _save(part, make()[1]))


def a9a():
    """The a9a set of shared/data, as CSR rows."""

    def make():
        from sklearn.datasets import load_svmlight_file

        with lzma.open(Path(__file__).resolve().parents[2] / "shared" / "data" / "libsvm" / "a9a.xz") as file:
            X, y = load_svmlight_file(file, n_features=123)
        return X, (y > 0).astype(np.float64)

    return _sparse("a9a", make)


def sparse_words(n, d):
    """Like w8a: some twelve of d columns are 1 in each row, a few of them tell of a rare class."""

    def make():
        import scipy.sparse as sp

        rng = np.random.default_rng(0)
        popularity = 1 / np.arange(1, d + 1) ** 0.8
        columns = rng.choice(d, size=(n, 12), p=popularity / popularity.sum())
        X = sp.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 12)), shape=(n, d))
        X.sum_duplicates()
        X.data[:] = 1
        score = X @ rng.standard_normal(d)
        return X, (score + 0.5 * rng.standard_normal(n) > np.quantile(score, 0.9)).astype(np.float64)

    return _sparse(f"words-{n}-{d}", make)


def sparse_linear(n, d):
    """Like text: some 74 of d columns in each row, the j-th as often as (j + 20)^-0.9, rows of norm 1, the sign of a linear function with noise."""

    def make():
        import scipy.sparse as sp

        rng = np.random.default_rng(0)
        often = np.cumsum(1 / (np.arange(d) + 20.0) ** 0.9)
        columns = np.searchsorted(often / often[-1], rng.random((n, 75))).astype(np.int32)
        X = sp.csr_matrix((rng.exponential(1.0, columns.size), columns.ravel(), np.arange(0, columns.size + 1, 75, dtype=np.int32)), shape=(n, d))
        X.sum_duplicates()
        X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
        score = X @ rng.standard_normal(d)
        return X, (score + 0.3 * score.std() * rng.standard_normal(n) > 0).astype(np.float64)

    return _sparse(f"linear-{n}-{d}", make)


def csv_file(digits, n, d):
    form = {"six": "%.6g", "full": "%.17g"}[digits]

    def make(part):
        names = ",".join(f"column{j}" for j in range(d))
        np.savetxt(part, np.random.default_rng(0).standard_normal((n, d)), fmt=form, delimiter=",", header=names, comments="")

    return _kept(f"numbers-{digits}-{n}-{d}.csv", make)


def dna(n, length):
    """Random strings of ACGT, one a line."""

    def make(part):
        letters = np.array(list("ACGT"))[np.random.default_rng(0).integers(4, size=(n, length))]
        part.write_text("".join("".join(row) + "\n" for row in letters))

    return _kept(f"dna-{n}-{length}.txt", make)


def graphs(name):
    """A set of graphs from ../shared/data as a list of dictionaries in JSON."""

    def make(part):
        words = iter(lzma.open(Path(__file__).resolve().parents[2] / "shared" / "data" / "graphs" / f"{name}.txt.xz", "rt").read().split())
        out = []
        for _ in range(int(next(words))):
            n, _label = int(next(words)), next(words)
            labels, edges = [], []
            for u in range(n):
                labels.append(next(words))
                edges += [(u, v) for v in (int(next(words)) for _ in range(int(next(words)))) if u < v]
            out.append({"n": n, "edges": edges, "labels": labels})
        part.write_text(json.dumps(out))

    return _kept(f"graphs-{name}.json", make)
