"""Weights and subsets: a line fitted under covariate shift, a sample squashed and thinned, the shares of two sources in a blend."""
import numpy as np

import mercer

random = np.random.RandomState(0)
X, target = 0.5 * random.randn(300, 1) + 0.5, 0.3 * random.randn(300, 1)


def truth(Z):
    return Z[:, 0] ** 3 - Z[:, 0]


y = truth(X) + 0.2 * random.randn(300)
matching = mercer.KernelMeanMatching().fit(X, target)
print(matching.summary_)
for name, weight in (("with", matching.weights_), ("without", None)):
    line = mercer.Ridge(alpha=1e-3).fit(X, y, sample_weight=weight)
    print(f"RMSE on the target {name} weights: {np.sqrt(np.mean((line.predict(target) - truth(target)) ** 2)):.3f}")

Z = random.randn(2000, 2)
print(mercer.squash(Z, 40, random_state=0))
print(mercer.thin(Z, 40, random_state=0))
blend = np.concatenate([random.randn(300, 2), random.randn(100, 2) + 3])
print(mercer.mixture_weights(blend, [(np.zeros(2), 1.0), (np.full(2, 3.0), 1.0)]))
