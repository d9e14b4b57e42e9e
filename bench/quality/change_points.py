"""Change points against the five annotators of two series, and how fast segmentation and drift monitors are.

    .venv/bin/python bench/quality/change_points.py [FOLDER]

FOLDER has annotations.json and the series NAME.json of the Turing change point dataset (van den Burg and Williams, 2020); without it that
part is left out. F1 with a margin of 5 rows and the covering, over all annotators, are as these authors define them.
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import sys
import time
from pathlib import Path

import numpy as np

import mercer


def true_positives(wanted, found, margin=5):
    left, hits = sorted(found), 0
    for t in sorted(wanted):
        near = [x for x in left if abs(x - t) <= margin]
        if near:
            left.remove(min(near, key=lambda x: abs(x - t)))
            hits += 1
    return hits


def f1(found, annotators):
    """Precision over the union of all annotators, recall averaged over them; row 0 begins a segment for everyone."""
    found = {0, *found}
    sets = [{0, *a} for a in annotators]
    precision = true_positives(set.union(*sets), found) / len(found)
    recall = np.mean([true_positives(s, found) / len(s) for s in sets])
    return 2 * precision * recall / (precision + recall)


def covering(found, annotators, n):
    def segments(cuts):
        ends = [0, *sorted(c for c in cuts if 0 < c < n), n]
        return list(zip(ends[:-1], ends[1:], strict=True))

    def overlap(a, b):
        both = max(0, min(a[1], b[1]) - max(a[0], b[0]))
        return both / (a[1] - a[0] + b[1] - b[0] - both)

    mine = segments(found)
    return np.mean([sum((a[1] - a[0]) * max(overlap(a, b) for b in mine) for a in segments(cuts)) / n for cuts in annotators])


def annotated(folder):
    annotations = json.loads((folder / "annotations.json").read_text())
    print("| series | rows | kernel | changes found | F1 | covering |\n|---|---|---|---|---|---|")
    for name in ("nile", "well_log"):
        series = np.array(json.loads((folder / f"{name}.json").read_text())["series"][0]["raw"], dtype=float)
        experts = list(annotations[name].values())
        for kernel in ("gaussian(auto)", "laplacian(auto)", "linear"):
            found = mercer.change_points((series - series.mean()) / series.std(), kernel).positions.tolist()
            print(f"| {name} | {len(series)} | `{kernel}` | {len(found)} | {f1(found, experts):.3f} | {covering(found, experts, len(series)):.3f} |")
        alone = [(f1(e, experts[:i] + experts[i + 1 :]), covering(e, experts[:i] + experts[i + 1 :], len(series))) for i, e in enumerate(experts)]
        print(f"| {name} | {len(series)} | an annotator against the other four, mean | | {np.mean(alone, 0)[0]:.3f} | {np.mean(alone, 0)[1]:.3f} |")


def false_changes(data_sets=200):
    rng = np.random.default_rng(0)
    print("\n| rows without a change | series with a change found | test at level 0.05 |\n|---|---|---|")
    for n in (100, 300):
        found = sum(len(mercer.change_points(rng.normal(size=n))) > 0 for _ in range(data_sets))
        tested = sum(bool(mercer.change_point_test(rng.normal(size=n), n_permutations=99, random_state=i)) for i in range(data_sets))
        print(f"| {n}, independent | {found / data_sets:.3f} | {tested / data_sets:.3f} |")
    series = []
    for _ in range(data_sets):
        noise, row = rng.normal(size=300), [0.0]
        for e in noise[1:]:
            row.append(0.5 * row[-1] + e)
        series.append(row)
    found = sum(len(mercer.change_points(s)) > 0 for s in series)
    tested = [sum(bool(mercer.change_point_test(s, n_permutations=99, block_length=b, random_state=i)) for i, s in enumerate(series)) for b in (None, 15)]
    rates = f"{tested[0] / data_sets:.3f} (rows), {tested[1] / data_sets:.3f} (blocks of 15)"
    print(f"| 300, autoregressive with 0.5 | {found / data_sets:.3f} | {rates} |")


def speed():
    rng = np.random.default_rng(0)
    print("\n| job, one thread | CPU seconds |\n|---|---|")
    for n in (1000, 5000, 20000):
        series = np.concatenate([rng.normal(i % 3, 1, size=n // 10) for i in range(10)])
        for words in ({}, {"penalty": 10.0}):
            start = time.process_time()
            found = mercer.change_points(series, n_jobs=1, **words)
            print(f"| {n} rows, {'penalty 10' if words else 'number chosen'}: {len(found)} changes | {time.process_time() - start:.2f} |")
    start = time.process_time()
    monitor = mercer.DriftMonitor(rng.normal(size=(1000, 10)), window=50, random_state=0, n_jobs=1)
    print(f"| drift monitor, 1000 reference rows of 10 columns, window 50, run length 1000: calibration | {time.process_time() - start:.2f} |")
    rows = rng.normal(size=(1000, 10))
    start = time.process_time()
    for row in rows:
        monitor.update(row, n_jobs=1)
    print(f"| 1000 rows one at a time | {time.process_time() - start:.3f} |")
    start = time.process_time()
    monitor.update(rng.normal(size=(20000, 10)), n_jobs=1)
    print(f"| 20000 rows at once | {time.process_time() - start:.3f} |")


def run_lengths(monitors=100, wanted=100):
    lengths, delays = [], []
    for seed in range(monitors):
        rng = np.random.default_rng(seed)
        monitor = mercer.DriftMonitor(rng.normal(size=(400, 2)), window=20, expected_run_length=wanted, random_state=seed)
        shifted = pickle_of(monitor)
        length = 0
        while length < 20 * wanted:
            seen = monitor.update(rng.normal(size=(500, 2)))
            valid = ~np.isnan(seen.statistic)
            if seen:
                length += int(np.sum(valid[: int(np.argmax(seen.alarm)) + 1]))
                break
            length += int(valid.sum())
        lengths.append(length)
        shifted.update(rng.normal(size=(20, 2)))
        alarm = shifted.update(rng.normal(size=(400, 2)) + 0.8).alarm
        delays.append(int(np.argmax(alarm)) + 1 if alarm.any() else 400)
    error = np.std(lengths) / np.sqrt(monitors)
    print(f"\ndrift: mean run length {np.mean(lengths):.0f} +- {error:.0f} rows to a false alarm, {wanted} asked for; shift of 0.8 sd in both columns seen after "
          f"{np.mean(delays):.1f} rows (median {np.median(delays):.0f}), window 20")


def pickle_of(monitor):
    import pickle

    return pickle.loads(pickle.dumps(monitor))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder is not None and (folder / "annotations.json").exists():
        annotated(folder)
    else:
        print("no folder with annotated series was given: left out\n")
    false_changes()
    speed()
    run_lengths()
