# SPDX-License-Identifier: BSD-3-Clause
import sys

from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import COMPONENTS, GAMMA, load  # noqa: E402


def exact(X):
    return KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA, eigen_solver="arpack", random_state=0, n_jobs=2).fit(X).eigenvalues_


def landmarks(X):
    """No exact peer holds 100000 rows: its Nystrom features and their principal components, as many landmarks as ours."""
    made = make_pipeline(Nystroem(gamma=GAMMA, n_components=1000, random_state=0), PCA(COMPONENTS, random_state=0)).fit(X)
    return made[-1].explained_variance_ * (len(X) - 1)


serve(load, {"exact": exact, "landmarks": landmarks}[sys.argv[1]], lambda values: values)
