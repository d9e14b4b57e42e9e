"""Is a sample from this distribution, known by its score? Is it normal at all?"""
import numpy as np

import mercer

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2))
print(mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], 1.0), random_state=0))


def quartic(x):  # the score of a density known up to its constant: log p(x) = -|x|^4 / 4
    return -(x**2).sum(axis=1, keepdims=True) * x


print(mercer.goodness_of_fit_test(X, quartic, random_state=0))
print(mercer.goodness_of_fit_test(np.exp(X), "normal", random_state=0))
