"""`mercer learn` beside scikit-learn's GridSearchCV on public data, and on EEG seizures over ten seeds.

    .venv/bin/python bench/quality/learn.py [--data ../shared/data] [PARTS...]      parts: sets eeg

Both sides learn from the same training rows, tune on the same at most 5000 of them (those that `learn` says it compared candidates on), refit on all and are
measured on the same test rows. The peer is a pipeline of StandardScaler and SVC, SVR or KernelRidge (targets standardised) over a grid of 5 x 5, 5 folds, 2 jobs.
Its time is from arrays in memory to the refitted model; that of `mercer learn` is of the whole command, from the file to the measured model.
Writes bench/quality/learn.md, which `make bench` puts into docs/benchmarks.md; parts that are not asked for keep what they gave before.
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import gzip
import json
import lzma
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "build" / "release" / "bin" / "mercer"
KEPT = ROOT / "build" / "bench" / "quality-learn.json"
SETS = {"concrete": ("SVR", "KernelRidge"), "elevators": ("KernelRidge",), "letter": ("SVC",), "a9a": ("SVC",)}
C, ALPHA, AROUND = [0.1, 1, 10, 100, 1000], [1e-3, 1e-2, 0.1, 1, 10], np.logspace(-1, 1, 5)  # gamma: these over the number of columns


def libsvm_files(data, name, folder):
    """Train and test as files, and as arrays in the order of their lines."""
    files, arrays = [], []
    for part in (name, f"{name}.t"):
        path = folder / f"{part.replace('.', '-')}.libsvm"
        path.write_bytes(lzma.decompress((data / "libsvm" / f"{part}.xz").read_bytes()))
        files.append(path)
        X, y = load_svmlight_file(str(path), n_features=arrays[0][0].shape[1] if arrays else None)
        arrays.append((X.toarray(), y))
    return files, arrays, 1  # the first row is on line 1


def csv_files(data, name, folder):
    """Split 0 of the set as two tables with a header."""
    folder_of = data / "regression" / name
    with gzip.open(folder_of / "data.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    with gzip.open(folder_of / "test_mask.csv.gz", "rt") as file:
        tested = np.loadtxt(file, delimiter=",")[:, 0] == 1
    files, arrays = [], []
    for part, rows in (("train", table[~tested]), ("test", table[tested])):
        path = folder / f"{name}-{part}.csv"
        np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=",".join([f"x{j + 1}" for j in range(rows.shape[1] - 1)] + ["y"]), comments="")
        files.append(path)
        arrays.append((rows[:, :-1], rows[:, -1]))
    return files, arrays, 2


def learn(*arguments):
    """What the command says, and the seconds it took."""
    start = time.perf_counter()
    run = subprocess.run([TOOL, "learn", *map(str, arguments), "--threads", "2", "--json"], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    return json.loads(run.stdout), seconds


def peer_model(word):
    if word == "SVC":
        return make_pipeline(StandardScaler(), SVC(cache_size=1000)), "svc__", {"C": C}
    if word == "SVR":
        model, grid = SVR(cache_size=1000), {"C": C}
    else:
        model, grid = KernelRidge(kernel="rbf"), {"alpha": ALPHA}
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler()), f"regressor__{word.lower()}__", grid


def grid_search(word, X, y, rows):
    """Tuned on the rows, refitted on all."""
    model, prefix, grid = peer_model(word)
    grid = {prefix + name: values for name, values in dict(grid, gamma=(AROUND / X.shape[1]).tolist()).items()}
    start = time.perf_counter()
    folds = (StratifiedKFold if word == "SVC" else KFold)(5, shuffle=True, random_state=0)  # rows of files come sorted
    search = GridSearchCV(model, grid, cv=folds, n_jobs=2, refit=False, scoring=None if word == "SVC" else "neg_mean_squared_error").fit(X[rows], y[rows])
    fitted = clone(model).set_params(**search.best_params_).fit(X, y)
    return fitted, time.perf_counter() - start


def sets(data, only=()):
    out = []
    for name, words in SETS.items():
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            make = libsvm_files if words == ("SVC",) else csv_files
            files, ((X, y), (T, t)), first_line = make(data, name, Path(folder))
            classes = words == ("SVC",)
            task = ["--task", "classify" if classes else "regress"]
            ours, seconds = learn(files[0], "--test", files[1], *task)
            rows = np.asarray(ours.get("search_lines", range(first_line, first_line + len(y)))) - first_line
            _, again = learn(files[0], "--test", files[1], *task)
        for word in words:
            fitted, theirs = grid_search(word, X, y, rows)
            said = fitted.predict(T)
            out.append({"set": name, "rows": len(y), "tuned_on": len(rows), "model": f"{ours['model']}, {(ours['kernel'] or 'no kernel')[:40]}", "classes": classes,
                        "ours": ours["test"]["accuracy" if classes else "rmse"], "ci": ours["test"]["ci"], "seconds": min(seconds, again),
                        "peer": word, "theirs": float(np.mean(said == t)) if classes else float(np.sqrt(np.mean((said - t) ** 2))), "their_seconds": theirs})
            print(out[-1], flush=True)
    return out


def eeg(data):
    """Ten random splits of 70 to 30 at the default budget; then the same with a precision asked for."""
    out = []
    for seed in range(10):
        common = [data / "eeg" / "eeg.csv.xz", "--target", "y", "--positive", "1", "--drop", "Unnamed", "--seed", seed]
        plain, seconds = learn(*common)
        point, _ = learn(*common, "--precision", 0.96)
        out.append({"seed": seed, "model": plain["model"], "kernel": plain["kernel"], "linear": plain["linear"]["accuracy"], "seconds": seconds, "n": plain["test"]["n"],
                    "accuracy": plain["test"]["accuracy"], "precision": plain["test"]["precision"], "recall": plain["test"]["recall"],
                    "precision_at": point["operating_point"]["precision"], "recall_at": point["operating_point"]["recall"], "trade": len(plain["trade"])})
        print(out[-1], flush=True)
    return out


def text(kept):
    lines = ["## What `learn` reaches without being told", "", "Made by `.venv/bin/python bench/quality/learn.py --data ../shared/data`.", ""]
    if kept.get("sets"):
        lines += ["Both sides tune on the same rows, refit on all and are measured on the same test rows (accuracy, or RMSE). GridSearchCV: 5 x 5 grid of a Gaussian kernel, 5 folds, 2 jobs, from arrays; "
                  "`learn`: the whole command, from the file, the better of two runs.", "",
                  "| set | training rows | tuned on | `learn` chose | test | GridSearchCV over | test | time | its time | ratio (wanted: 5) |", "|---|---|---|---|---|---|---|---|---|---|"]
        for r in kept["sets"]:
            show = (lambda x: f"{100 * x:.2f} %") if r["classes"] else (lambda x: f"{x:.4g}")
            lines.append(f"| {r['set']} | {r['rows']} | {r['tuned_on']} | {r['model']} | {show(r['ours'])} | {r['peer']} | {show(r['theirs'])} | {r['seconds']:.1f} s | {r['their_seconds']:.1f} s "
                         f"| {r['their_seconds'] / r['seconds']:.1f} |")
        lines.append("")
    if kept.get("eeg"):
        runs = kept["eeg"]

        def spread(key):
            values = [100 * r[key] for r in runs]
            return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"

        chosen = sorted({f"{r['model']} {r['kernel']}" for r in runs})
        lines += [f"EEG seizures (`--positive 1`), {len(runs)} random splits of 70 to 30 (seeds 0 to {len(runs) - 1}), {runs[0]['n']} test rows each, at the default budget of two minutes "
                  f"({min(r['seconds'] for r in runs):.1f} to {max(r['seconds'] for r in runs):.1f} s were needed). Mean and range over the splits, percent:", "",
                  "| accuracy | precision | recall | precision at `--precision 0.96` | recall there | accuracy of the linear model |", "|---|---|---|---|---|---|",
                  "| " + " | ".join(spread(key) for key in ("accuracy", "precision", "recall", "precision_at", "recall_at", "linear")) + " |", "",
                  "Chosen: " + "; ".join(chosen) + "."]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sets", nargs="*", default=(), help="these sets alone")
    parser.add_argument("parts", nargs="*", default=["sets", "eeg"])
    asked = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    for part in asked.parts:
        if part == "sets":
            fresh = sets(asked.data, asked.sets)
            names = {r["set"] for r in fresh}
            kept["sets"] = [r for r in kept.get("sets", []) if r["set"] not in names] + fresh
        else:
            kept[part] = eeg(asked.data)
        KEPT.write_text(json.dumps(kept, indent=2))
    (Path(__file__).parent / "learn.md").write_text(text(kept))
    print(text(kept))


if __name__ == "__main__":
    main()
