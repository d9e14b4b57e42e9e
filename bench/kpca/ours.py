# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

from task import COMPONENTS, GAMMA, load  # noqa: E402

serve(load, lambda X: mercer.KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA, eigen_solver=sys.argv[1]).fit(X), lambda model: model.eigenvalues_)
