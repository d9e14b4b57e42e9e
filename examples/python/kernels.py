"""Kernels are values: combine them, print them, ask what is known of them, check a Gram matrix."""
import mercer
from mercer.kernels import Gaussian, Linear, Polynomial

k = Gaussian(2) + 0.5 * Linear()
print(k, "| psd:", k.is_psd, "| universal:", k.is_universal, "| characteristic:", k.is_characteristic)
assert mercer.kernel(str(k)) == k

X, _ = mercer.datasets.moons(50)
print(mercer.check_gram(k(X)))
print(mercer.check_gram(Polynomial(2, scale=1, offset=-1)(X)))
