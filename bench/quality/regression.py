"""Test error of tuned kernel ridge on public regression data: the whole of the training rows, nothing learned from the test rows.

    .venv/bin/python bench/quality/regression.py [--data ../shared/data] [NAMES...]

Split 0 of each set; inputs and target standardised on the training rows. A tenth of the training rows (3000 at most) judges the choices:
every start kernel's length scales are learned on some of the other rows, the best kernel is taken, alpha is chosen with all other rows,
and the final model is fitted on all training rows. Writes bench/quality/regression.md, which `make bench` puts into docs/benchmarks.md.
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import gzip
import json
import time
from pathlib import Path

import mercer
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "bench" / "quality.json"
# Start kernels with the objective that learns their scales and the alpha that is held meanwhile (None: learned too), rows for learning, the error to
# beat, and factors of alpha that are compared with all rows.
SETS = {
    "elevators": {"starts": [("matern(1.5, auto)", "loo", None), ("laplacian(auto) + gaussian(auto)", "evidence", None)], "rows": 2000, "wanted": 0.385},
    "bike": {"starts": [("matern(1.5, auto)", "loo", None), ("gaussian(auto)", "evidence", None)], "rows": 1500, "wanted": 0.21},
    "protein": {"starts": [("laplacian(auto)", "evidence", 0.1)], "rows": 2000, "wanted": 0.54, "alphas_of_all": (1,)},
    "kin40k": {"starts": [("matern(2.5, auto)", "evidence", None), ("gaussian(auto)", "evidence", None)], "rows": 2000, "wanted": 0.09},
    "concrete": {"starts": [("matern(1.5, auto)", "loo", None), ("laplacian(auto) + gaussian(auto)", "evidence", None)], "rows": 1000, "wanted": 0.26},
}
SMALLEST_ALPHA = 1e-5  # below, a system of tens of thousands of rows has no float32 solution


def load(folder):
    values = np.loadtxt(gzip.open(folder / "data.csv.gz"), delimiter=",")
    test = np.loadtxt(gzip.open(folder / "test_mask.csv.gz"), delimiter=",")[:, 0].astype(bool)
    train = values[~test]
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    scaled = (values - mean) / np.where(deviation > 0, deviation, 1)
    return scaled[~test], scaled[test]


def rmse(model, rows):
    return float(np.sqrt(np.mean((model.predict(rows[:, :-1]) - rows[:, -1]) ** 2)))


def fit(kernel, alpha, rows):
    return mercer.KernelRidge(kernel=kernel, alpha=alpha, fit_intercept=True, tol=1e-6).fit(rows[:, :-1], rows[:, -1])


def tune(train, about):
    """The kernel, alpha, and what was tried on the way."""
    order = np.random.default_rng(0).permutation(len(train))
    held = min(3000, len(train) // 10)
    judge, rest = train[order[:held]], train[order[held:]]
    some = rest[:5000]
    tried = []
    for start, objective, held_alpha in about["starts"]:
        found = mercer.learn_kernel(rest[:, :-1], rest[:, -1], start, objective=objective, ard=True, alpha=held_alpha, max_rows=about["rows"],
                                    random_state=0)
        for factor in (1, 10, 100):
            alpha = max(found.alpha, SMALLEST_ALPHA) * factor
            error = rmse(fit(found.kernel, alpha, some), judge)
            tried.append((error, str(found.kernel), alpha, start, objective))
            print(f"  {start}, {objective}: alpha {alpha:.2e}, RMSE {error:.4f} with {len(some)} rows", flush=True)
    _, kernel, alpha, start, objective = min(tried)
    factors = about.get("alphas_of_all", (1, 10))
    if len(rest) > len(some) and len(factors) > 1:  # more rows may want another alpha
        finals = []
        for factor in factors:
            error = rmse(fit(kernel, alpha * factor, rest), judge)
            finals.append((error, alpha * factor))
            print(f"  alpha {alpha * factor:.2e}: RMSE {error:.4f} with {len(rest)} rows", flush=True)
        alpha = min(finals)[1]
    return kernel, alpha, start, objective


def run(name, folder):
    started = time.perf_counter()
    train, test = load(folder)
    print(f"{name}: {len(train)} training and {len(test)} test rows", flush=True)
    kernel, alpha, start, objective = tune(train, SETS[name])
    model = fit(kernel, alpha, train)
    out = {"name": name, "n": len(train), "test_rmse": rmse(model, test), "wanted": SETS[name]["wanted"], "kernel": kernel, "alpha": alpha,
           "start": start, "objective": objective, "method": model.summary_.method, "residual": model.summary_.residual,
           "fit_seconds": model.summary_.seconds, "fit_bytes": model.summary_.bytes, "seconds": time.perf_counter() - started}
    print(f"  test RMSE {out['test_rmse']:.4f} (wanted at most {out['wanted']}); {model.summary_}", flush=True)
    return out


def write(results):
    lines = ["## Quality on real data", "",
             "Kernel ridge tuned on the training rows alone, split 0, inputs and target standardised on the training rows; test RMSE. Made by", "",
             "    .venv/bin/python bench/quality/regression.py --data ../shared/data", "",
             "which learns one length scale per column, chooses alpha on held-out training rows and fits all training rows; residuals are true ones.", "",
             "| set | training rows | test RMSE | wanted | start kernel, scales by | alpha | solver | residual | fit | memory | with tuning |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in results.values():
        lines.append(f"| {r['name']} | {r['n']} | {r['test_rmse']:.4f} | <= {r['wanted']} | {r['start']}, {r['objective']} | {r['alpha']:.1e} | {r['method']} "
                     f"| {r['residual']:.0e} | {r['fit_seconds']:.0f} s | {r['fit_bytes'] / 1e9:.2f} GB | {r['seconds']:.0f} s |")
    (ROOT / "bench" / "quality" / "regression.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SETS)}; all when none is given")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    if not (arguments.data / "regression").is_dir():
        raise SystemExit(f"there is no folder {arguments.data / 'regression'}; --data names the folder with the public data sets")
    unknown = set(arguments.names) - set(SETS)
    if unknown:
        raise SystemExit(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    results = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in arguments.names or SETS:
        results[name] = run(name, arguments.data / "regression" / name)
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps(results, indent=2))
    write({name: results[name] for name in SETS if name in results})


if __name__ == "__main__":
    main()
