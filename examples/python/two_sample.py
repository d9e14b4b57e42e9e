"""Two samples of equal means and variances: eight nulls, the level that one of them really holds, and the rows that a plan needs."""
import numpy as np

import mercer

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(200, 2)), rng.exponential(size=(200, 2)) - 1

print(mercer.mmd(X, Y, kernel="gaussian(1)"))
for null in ("permutation", "binned", "wild", "gamma", "pearson", "spectral", "normal", "bound"):
    print(f"{null:12s}", mercer.two_sample_test(X, Y, null=null, random_state=0).sentence)
print(mercer.two_sample_test(X, Y, kernel="linear", random_state=0))
print(mercer.level_check(X, Y, null="gamma", random_state=0).sentence)
print(mercer.two_sample_power(X, Y, n=100, random_state=0).sentence)
