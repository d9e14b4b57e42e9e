"""Kernels are values: combine them, print them, ask what is known of them, tune them, check a Gram matrix."""
import numpy as np

import mercer
from mercer.kernels import Gaussian, Linear, Matern, Periodic, Polynomial, White

k = Gaussian(2) + 0.5 * Linear()
print(k, "| psd:", k.is_psd, "| universal:", k.is_universal, "| characteristic:", k.is_characteristic)
assert mercer.kernel(str(k)) == k

X, _ = mercer.datasets.moons(50)
print(mercer.check_gram(k(X)))
print(mercer.check_gram(Polynomial(2, scale=1, offset=-1)(X)))

# A season and a trend on one column, a length scale for each of two others.
year = 2 * Periodic(length_scale=1, period=365) + Gaussian(900)
k = year.on(0) * Matern(2.5, length_scale=[1, 10]).on(1, 2) + White(0.1)
print(k)

# One step of gradient ascent on the log marginal likelihood of a Gaussian process.
rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(0, 1000, 80), rng.normal(size=(80, 2))])
y = np.sin(2 * np.pi * X[:, 0] / 365) + X[:, 1]


def likelihood(k):
    """And its derivative with respect to the entries of the Gram matrix."""
    K = k(X)
    inverse = np.linalg.inv(K)
    a = inverse @ y
    return -(y @ a + np.linalg.slogdet(K)[1]) / 2, (np.outer(a, a) - inverse) / 2


before, W = likelihood(k)
slope = k.gradient(X, W)
better = k.with_parameters([value * np.exp(0.01 * s / np.abs(slope).max()) for (_, value), s in zip(k.parameters, slope, strict=True)])
for (name, old), (_, new) in zip(k.parameters, better.parameters, strict=True):
    print(f"{name:28} {old:8.4g} -> {new:.5g}")
assert likelihood(better)[0] > before
