"""Is it a kernel? The matrix says no with a vector, the Fourier transform with a frequency; a repair moves the matrix least."""
import numpy as np

import mercer

X, y = mercer.datasets.moons(60)
print(mercer.check_kernel("gaussian(auto)", X, alpha=0.1, y=2 * y - 1))

K = mercer.kernel("polynomial(2, scale=1, offset=-1)")(X)
check = mercer.check_gram(K)
v = check.violating
print(check)
print(f"v'Kv = {v @ K @ v:.4f}")
print(mercer.repair_gram(K, "clip"))

for d in (1, 2):
    print(mercer.check_bochner(lambda r: np.maximum(0, 1 - r), dimension=d))
