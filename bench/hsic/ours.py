# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

from task import LENGTH_SCALE, PERMUTATIONS, load  # noqa: E402

NULL = sys.argv[1]
KERNEL = f"gaussian({LENGTH_SCALE})"


def work(data):
    return mercer.independence_test(*data, KERNEL, KERNEL, null=NULL, n_permutations=PERMUTATIONS, random_state=0)


def numbers(result):
    return [result.statistic, result.null.mean() if NULL == "permutation" else result.threshold]


serve(load, work, numbers)
