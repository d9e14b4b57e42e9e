"""How close feature maps come to their kernels on public data, by landmarks and by frequencies, over 20 seeds.

    .venv/bin/python bench/quality/maps.py [--data ../shared/data] [NAMES...]

Columns are standardised (USPS as it is), the kernel is the Gaussian of the median distance, and of half of it. Landmarks: the share of the trace
of K that 100 of them leave out, over 5000 rows. Frequencies: the root mean square error of the entries of the Gram matrix of 1000 rows by 256 columns.
Writes bench/quality/maps.md, which `make bench` puts into docs/benchmarks.md.
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import gzip
import lzma
import time
from pathlib import Path

import mercer
import numpy as np
from sklearn.datasets import load_svmlight_file

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 20
ROWS = 5000  # drawn from each set
SHARES = {1.0: "median", 0.5: "half"}  # of the median distance
LANDMARKS = ("uniform", "kmeans", "leverage", "rpcholesky")
DRAWS = {"independent": {}, "orthogonal": {"orthogonal": True}, "structured": {"orthogonal": "structured"}, "quasi-random": {"quasi_random": True}}


def standardised(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def kin40k(folder):
    with gzip.open(folder / "regression" / "kin40k" / "data.csv.gz") as text:
        return standardised(np.loadtxt(text, delimiter=",")[:, :-1])


def letter(folder):
    with lzma.open(folder / "libsvm" / "letter.xz") as text:
        return standardised(load_svmlight_file(text)[0].toarray())


def usps(folder):
    with lzma.open(folder / "usps" / "usps.train.txt.xz") as text:
        return np.loadtxt(text)[:, 1:]


SETS = {"kin40k": kin40k, "letter": letter, "USPS": usps}


def kernel_for(X, share=1.0):
    """The Gaussian of the median distance, or of a share of it."""
    median = mercer.kernel("gaussian(auto)").resolve(X)
    return median.with_parameters([share * median.parameters[0][1]])


def trace_errors(X, kernel, landmarks, n_components, seeds=SEEDS):
    return np.array([
        mercer.Nystroem(kernel, n_components=n_components, landmarks=landmarks, random_state=seed).fit(X).trace_error(X) for seed in range(seeds)
    ])


def gram_errors(X, kernel, n_components, seeds=SEEDS, **draw):
    K = kernel(X)
    maps = (mercer.RandomFourierFeatures(n_components, kernel, random_state=seed, **draw).fit_transform(X) for seed in range(seeds))
    return np.array([np.sqrt(np.mean((Z @ Z.T - K) ** 2)) for Z in maps])


def run(name, folder):
    X = SETS[name](folder)
    X = X[np.random.default_rng(0).permutation(len(X))[:ROWS]]
    out = {"name": name, "n": len(X), "d": X.shape[1], "trace": {}, "gram": {}}
    rows = X[:1000]
    for share in SHARES:
        kernel = kernel_for(X, share)
        for landmarks in LANDMARKS:
            start = time.perf_counter()
            errors = out["trace"][share, landmarks] = trace_errors(X, kernel, landmarks, 100)
            seconds = (time.perf_counter() - start) / SEEDS
            print(f"{name}, {kernel}: {landmarks} landmarks leave out {errors.mean():.4f} +- {errors.std():.4f}, {seconds:.2f} s each", flush=True)
        for draw, how in DRAWS.items():
            errors = out["gram"][share, draw] = gram_errors(rows, kernel, 256, **how)
            print(f"{name}, {kernel}: {draw} frequencies are off by {errors.mean():.5f} +- {errors.std():.5f}", flush=True)
    return out


def shown(errors):
    return f"{errors.mean():.4f} ± {errors.std():.4f}"


def table(results, what, methods):
    lines = ["| set | rows x columns | length scale | " + " | ".join(methods) + " |", "|---|---|---|" + "---|" * len(methods)]
    for r in results:
        for share, word in SHARES.items():
            lines.append(f"| {r['name']} | {r['n']} x {r['d']} | {word} | " + " | ".join(shown(r[what][share, m]) for m in methods) + " |")
    return lines


def write(results):
    lines = ["## Quality of feature maps", "",
             f"Means and standard deviations over {SEEDS} seeds; the Gaussian kernel whose length scale is the median distance, or half of it, on standardised columns (USPS as it is). Made by", "",
             "    .venv/bin/python bench/quality/maps.py --data ../shared/data", "",
             f"The share of the trace of K that 100 landmarks leave out, over {ROWS} rows:", "", *table(results, "trace", LANDMARKS), "",
             "Root mean square error of the entries of a Gram matrix of 1000 rows by 256 random Fourier features (sines and cosines):", "",
             *table(results, "gram", list(DRAWS))]
    (ROOT / "bench" / "quality" / "maps.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SETS)}; all when none is given")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    if not (arguments.data / "usps").is_dir():
        raise SystemExit(f"there is no folder {arguments.data / 'usps'}; --data names the folder with the public data sets")
    unknown = set(arguments.names) - set(SETS)
    if unknown:
        raise SystemExit(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    results = [run(name, arguments.data) for name in arguments.names or SETS]
    if len(results) == len(SETS):
        write(results)


if __name__ == "__main__":
    main()
