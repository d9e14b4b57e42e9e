"""The features behind kernels: exact ones by formula and by kernel values, random ones that come close, and Mercer's eigenfunctions."""
import mercer
import numpy as np

X = np.random.default_rng(0).normal(size=(60, 4))
exact = {
    "Monomials(3, sqrt)": (mercer.Monomials(3, weighting="sqrt"), "polynomial(3, 1, 0)"),
    "EmpiricalKernelMap(whiten)": (mercer.EmpiricalKernelMap("gaussian(2)", whiten=True), "gaussian(2)"),
    "MercerMap(60)": (mercer.MercerMap(60, "gaussian(2)"), "gaussian(2)"),
    "Nystroem(60)": (mercer.Nystroem("gaussian(2)", n_components=60), "gaussian(2)"),
}
close = {
    "TensorSketch(256)": (mercer.TensorSketch(degree=3, n_components=256, random_state=0), "polynomial(3, 1, 0)"),
    "RandomFourierFeatures(1024)": (mercer.RandomFourierFeatures(1024, "gaussian(2)", random_state=0), "gaussian(2)"),
    "... orthogonal": (mercer.RandomFourierFeatures(1024, "gaussian(2)", orthogonal=True, random_state=0), "gaussian(2)"),
    "... quasi-random": (mercer.RandomFourierFeatures(1024, "gaussian(2)", quasi_random=True, random_state=0), "gaussian(2)"),
}
for name, (transformer, kernel) in (exact | close).items():
    Z, K = transformer.fit_transform(X), mercer.gram(X, kernel=kernel)
    error = abs(Z @ Z.T - K).max() / K.max()
    print(f"{name:30} {Z.shape[1]:5} columns, largest error {error:.1e} of the largest entry of {kernel}")
    assert error < (1e-8 if name in exact else 0.2)

K = mercer.gram(X, kernel="gaussian(2)")
whitener = mercer.matrix_function(K, "invsqrt")
print(f"K^(-1/2) K K^(-1/2) is the identity to {abs(whitener @ K @ whitener - np.eye(60)).max():.0e}")
