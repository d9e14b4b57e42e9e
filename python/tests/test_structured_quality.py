"""What kernels of strings and graphs reach on real data, with everything chosen inside the training part. The figures are on docs/strings.md and docs/graphs.md."""
# SPDX-License-Identifier: BSD-3-Clause
import lzma
from pathlib import Path

import mercer
import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder ../shared/data is not here")


def promoters():
    rows = [line.split("\t") for line in (DATA / "strings" / "promotergene_106.tsv").read_text().splitlines()]
    return np.array([row[1] for row in rows], dtype=object), np.array([row[0] for row in rows])


def errors_left_out(y, fit, predict):
    """Of leave-one-out, C being chosen by five folds of what is left."""
    errors = 0
    for i in range(len(y)):
        others = np.flatnonzero(np.arange(len(y)) != i)
        errors += int(predict(fit(others), i, others)[0] != y[i])
    return errors


@needs_data
def test_promoters_left_out_one_by_one():
    X, y = promoters()
    tuned = mercer.SVCCV(C=[0.1, 1, 10, 100], kernel="spectrum(5)", cv=5)
    assert errors_left_out(y, lambda others: tuned.fit(X[others], y[others]), lambda model, i, _: model.predict(X[[i]])) <= 2


@needs_data
@pytest.mark.parametrize(("kernel", "most"), [("mismatch(6, 1)", 2), ("weighted_degree(5)", 3)])
def test_promoters_by_their_gram_matrix(kernel, most):
    X, y = promoters()
    K = mercer.kernel(kernel)(X)
    tuned = mercer.SVCCV(C=[0.1, 1, 10, 100], kernel="precomputed", cv=5)
    assert errors_left_out(y, lambda others: tuned.fit(K[np.ix_(others, others)], y[others]), lambda model, i, others: model.predict(K[[i]][:, others])) <= most


def graphs(name):
    words = iter(lzma.open(DATA / "graphs" / f"{name}.txt.xz", "rt").read().split())
    X, y = [], []
    for _ in range(int(next(words))):
        n = int(next(words))
        y.append(next(words))
        labels, edges = [], []
        for u in range(n):
            labels.append(next(words))
            edges += [(u, v) for v in (int(next(words)) for _ in range(int(next(words)))) if u < v]
        X.append({"n": n, "edges": edges, "labels": labels})
    folds = [np.array(line.split(), dtype=int) for line in (DATA / "graphs" / f"{name}.folds.txt").read_text().splitlines() if line.strip()]
    return X, np.array(y), folds


def accuracy(name, form):
    """Mean accuracy over the given folds; iterations and C by five folds of the training part."""
    X, y, folds = graphs(name)
    grams = [mercer.kernels.WeisfeilerLehman(h, form=form)(X) for h in range(6)]
    right = []
    for test in folds:
        train = np.setdiff1d(np.arange(len(X)), test)
        tuned = [mercer.SVCCV(C=np.logspace(-2, 3, 6), kernel="precomputed", cv=5).fit(K[np.ix_(train, train)], y[train]) for K in grams]
        best = int(np.argmax([model.best_score_ for model in tuned]))
        right.append(np.mean(tuned[best].predict(grams[best][np.ix_(test, train)]) == y[test]))
    return float(np.mean(right))


@needs_data
def test_mutag():
    assert accuracy("MUTAG", "subtree") >= 0.84


@needs_data
@pytest.mark.long
@pytest.mark.parametrize(("name", "form", "least"), [("MUTAG", "assignment", 0.82), ("PTC_MR", "subtree", 0.58), ("ENZYMES", "subtree", 0.48), ("ENZYMES", "assignment", 0.55)])
def test_further_sets_of_graphs(name, form, least):
    assert accuracy(name, form) >= least
