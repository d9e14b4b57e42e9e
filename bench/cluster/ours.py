# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
sys.path.insert(0, __file__.rsplit("/", 1)[0])
import mercer  # noqa: E402
import task  # noqa: E402
from competitor import serve  # noqa: E402


def kmeans(X):
    return X, mercer.KernelKMeans(task.CLUSTERS, gamma=task.GAMMA, method="low_rank", n_landmarks=task.LANDMARKS, random_state=0).fit(X).labels_


def spectral(X):
    model = mercer.SpectralClustering(task.CLUSTERS, random_state=0).fit(X)
    return model.affinity_matrix_, model.labels_


if sys.argv[1] == "spectral":
    serve(task.load, spectral, lambda result: [task.cut(*result)])
else:
    serve(task.load, kmeans, lambda result: [task.objective(*result)])
