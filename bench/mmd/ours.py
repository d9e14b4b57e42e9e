# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

from task import LENGTH, PERMUTATIONS, load, numbers  # noqa: E402


def test(data):
    return mercer.two_sample_test(*data, kernel=mercer.kernels.Gaussian(LENGTH), n_permutations=PERMUTATIONS, random_state=0)


# Beside a peer that runs a few permutations, the statistic alone is compared.
some = 2 if sys.argv[1:] == ["statistic"] else 3
serve(load, test, lambda result: numbers(result.statistic, result.p_value)[:some])
