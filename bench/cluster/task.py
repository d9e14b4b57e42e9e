"""What both sides of the clustering rows share: the settings, and what is compared."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

CLUSTERS = 10
GAMMA = 0.02
LANDMARKS = 300


def load(files):
    return np.load(files[0])


def objective(X, labels):
    """The kernel k-means objective of labels on the first 4000 rows: exact, whatever made the labels."""
    X, labels = X[:4000], labels[:4000]
    squares = (X**2).sum(axis=1)
    K = np.exp(-GAMMA * np.maximum(0, squares[:, None] + squares[None, :] - 2 * X @ X.T))
    total = float(len(X))
    for c in np.unique(labels):
        mine = labels == c
        total -= K[np.ix_(mine, mine)].sum() / mine.sum()
    return total


def cut(graph, labels):
    """The normalised cut of a graph: what spectral clustering relaxes."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = 0.0
    for c in np.unique(labels):
        v = (labels == c).astype(float)
        total += 1 - float(v @ (graph @ v)) / float(degrees @ v)
    return total
