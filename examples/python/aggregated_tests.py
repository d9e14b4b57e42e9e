"""Two samples, and two variables, when the right length scale is not known."""
# SPDX-License-Identifier: BSD-3-Clause
import mercer
import numpy as np

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(150, 2)), rng.normal(size=(120, 2)) @ [[1, 1.5], [0, 1]]
result = mercer.mmd_aggregated_test(X, Y, n_permutations=500, random_state=0)
print(result)
for row in result.table:
    print(f"{row['kernel']:32s} mmd-u {row['statistic']:9.5f}   p {row['p_value']:.3f}   {'rejects' if row['rejected'] else ''}")
print(mercer.mmd_fuse_test(X, Y, n_permutations=500, random_state=0))

x = rng.uniform(-3, 3, size=(150, 1))
print(mercer.hsic_aggregated_test(x, np.sin(6 * x) + 0.3 * rng.normal(size=x.shape), n_permutations=500, random_state=0))
