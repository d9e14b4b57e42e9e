# SPDX-License-Identifier: BSD-3-Clause
import sys
import warnings

from sklearn.cluster import KMeans, SpectralClustering
from sklearn.kernel_approximation import Nystroem

sys.path.insert(0, __file__.rsplit("/", 2)[0])
sys.path.insert(0, __file__.rsplit("/", 1)[0])
import task  # noqa: E402
from competitor import serve  # noqa: E402

warnings.simplefilter("ignore")


def kmeans(X):
    Z = Nystroem(gamma=task.GAMMA, n_components=task.LANDMARKS, random_state=0).fit_transform(X)
    return X, KMeans(task.CLUSTERS, n_init=10, random_state=0).fit(Z).labels_


def spectral(X):
    model = SpectralClustering(task.CLUSTERS, affinity="nearest_neighbors", random_state=0, n_jobs=2).fit(X)
    return model.affinity_matrix_, model.labels_


if sys.argv[1] == "spectral":
    serve(task.load, spectral, lambda result: [task.cut(*result)])
else:
    serve(task.load, kmeans, lambda result: [task.objective(*result)])
