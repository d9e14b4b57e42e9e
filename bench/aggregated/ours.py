# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

from task import LEVEL, load, numbers  # noqa: E402

which, rows, B = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work(state):
    X, Y, (laplacian, gaussian), deviations = state
    kernels = [mercer.kernels.Laplacian(length, norm="l1") for length in laplacian] + [mercer.kernels.Gaussian(length) for length in gaussian]
    if which == "fuse":
        result = mercer.mmd_fuse_test(X, Y, kernels, n_permutations=B, level=LEVEL, random_state=0)
    else:
        exchange = "pairs" if which == "pairs" else "free"
        result = mercer.mmd_aggregated_test(X, Y, kernels, n_permutations=(B // 2, B // 2), exchange=exchange, level=LEVEL, random_state=0)
    return result, deviations


serve(lambda files: load(files, rows), work, lambda out: numbers([row["statistic"] for row in out[0].table], out[1], out[0].rejected))
