"""Writes data.hpp: splits, scalers, metrics and shapes as scikit-learn and SciPy compute them.

    .venv/bin/python tests/golden/data.py > tests/golden/data.hpp
"""

import warnings

import numpy as np
import scipy
import scipy.stats
import sklearn
from sklearn import datasets, metrics, model_selection, preprocessing


def numbers(values):
    return "{" + ", ".join(repr(float(v)) for v in np.ravel(values)) + "}"


def integers(values):
    return "{" + ", ".join(str(int(v)) for v in values) + "}"


def vector(name, values):
    print(f"inline const std::vector<double> {name}{numbers(values)};")


def fold_of(splits, n):
    """The fold that tests each sample."""
    out = np.full(n, -1)
    for f, (_, test) in enumerate(splits):
        out[test] = f
    return out


def cases(name, rows):
    print(f"inline const std::vector<FoldCase> {name}{{")
    for labels, k, folds in rows:
        print(f"    {{{integers(labels)}, {k}, {integers(folds)}}},")
    print("};")


rng = np.random.default_rng(1)
print(f"// Made by data.py with scikit-learn {sklearn.__version__} and SciPy {scipy.__version__}; do not edit.")
print("// SPDX-License-Identifier: BSD-3-Clause")
print("// clang-format off")
print("#pragma once\n")
print('#include <vector>\n\n#include "mercer/matrix.hpp"\n')
print("namespace golden {\n")

print("struct FoldCase {\n  std::vector<mercer::Index> labels;\n  mercer::Index k;\n  std::vector<mercer::Index> fold_of;\n};")
rows = []
for n, k in [(2, 2), (7, 3), (10, 4), (11, 11), (12, 5)]:
    rows.append((np.zeros(n), k, fold_of(model_selection.KFold(k).split(np.zeros((n, 1))), n)))
cases("k_folds", rows)

rows = []
for n, k, p in [(12, 3, [0.5, 0.5]), (20, 4, [0.2, 0.3, 0.5]), (31, 5, [0.1, 0.2, 0.3, 0.4]), (40, 7, [0.5, 0.25, 0.25])]:
    y = rng.choice(len(p), n, p=p)
    y[:2 * len(p)] = np.repeat(np.arange(len(p))[::-1], 2)  # every class at least twice, and not in order of appearance
    with warnings.catch_warnings(action="ignore"):  # of classes smaller than k
        rows.append((y, k, fold_of(model_selection.StratifiedKFold(k).split(np.zeros((n, 1)), y), n)))
cases("stratified_folds", rows)

rows = []
for sizes, k in [([5, 3, 1], 2), ([9, 7, 6, 4, 2, 1], 3), ([12, 8, 5, 3, 2, 1], 4)]:  # all sizes distinct: no ties to break
    groups = rng.permutation(np.repeat(rng.permutation(len(sizes)) * 10 + 3, sizes))
    rows.append((groups, k, fold_of(model_selection.GroupKFold(k).split(np.zeros((len(groups), 1)), groups=groups), len(groups))))
cases("grouped_folds", rows)

rows = []
for n, k in [(3, 2), (10, 3), (11, 4), (23, 5)]:
    rows.append((np.zeros(n), k, fold_of(model_selection.TimeSeriesSplit(k).split(np.zeros((n, 1))), n)))
cases("time_folds", rows)

X = rng.normal(size=(6, 4)) * [1, 100, 1e-3, 0] + [0, 1e6, 5, 7]
print("\n// 6 x 4, by rows; the last column is constant.")
vector("scaling_input", X)
standard = preprocessing.StandardScaler().fit(X)
vector("standard_mean", standard.mean_)
vector("standard_scale", standard.scale_)
vector("standard_output", standard.transform(X))
vector("min_max_output", preprocessing.MinMaxScaler().fit_transform(X))

truth = rng.normal(size=9)
predicted = truth + 0.4 * rng.normal(size=9)
vector("truth", truth)
vector("predicted", predicted)
print(f"inline constexpr double mse = {metrics.mean_squared_error(truth, predicted)!r};")
print(f"inline constexpr double rmse = {metrics.root_mean_squared_error(truth, predicted)!r};")
print(f"inline constexpr double mae = {metrics.mean_absolute_error(truth, predicted)!r};")
print(f"inline constexpr double r2 = {metrics.r2_score(truth, predicted)!r};")

a = rng.integers(0, 4, 25)
b = np.where(rng.random(25) < 0.6, a, rng.integers(0, 4, 25))
print(f"inline const std::vector<mercer::Index> true_classes{integers(a)};")
print(f"inline const std::vector<mercer::Index> predicted_classes{integers(b)};")
vector("confusion", metrics.confusion_matrix(a, b))
vector("precision", metrics.precision_score(a, b, average=None))
vector("recall", metrics.recall_score(a, b, average=None))
print(f"inline constexpr double accuracy = {metrics.accuracy_score(a, b)!r};")
print(f"inline constexpr double balanced = {metrics.balanced_accuracy_score(a, b)!r};")

print("\nstruct Interval {\n  mercer::Index successes;\n  mercer::Index n;\n  double level, low, high;\n};")
print("inline const std::vector<Interval> wilson{")
for k, n, level in [(0, 10, 0.95), (10, 10, 0.95), (1, 1, 0.9), (87, 100, 0.95), (512, 569, 0.99)]:
    ci = scipy.stats.binomtest(k, n).proportion_ci(level, method="wilson")
    print(f"    {{{k}, {n}, {level}, {float(ci.low)!r}, {float(ci.high)!r}}},")
print("};")

print("\n// Without noise: x1, x2, class row by row, unshuffled.")
for name, (X, y) in {
    "moons": datasets.make_moons(11, shuffle=False, noise=None),
    "circles": datasets.make_circles(11, shuffle=False, noise=None, factor=0.5),
}.items():
    vector(name, np.column_stack([X, y]))
print("\n}  // namespace golden")
