"""Noise taken off a circle: the nearest images of feature-space means, by every method that the kernel has."""
import mercer
import numpy as np

rng = np.random.default_rng(0)
angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((400, 2))
weights = np.kron(np.eye(50), np.full((1, 8), 1 / 8))  # each point: the mean of the images of eight neighbours
for method in ["best", *mercer.preimage_methods("gaussian(0.5)", 2)]:
    found = mercer.preimages("gaussian(0.5)", X, weights, method=method)
    off = np.mean((np.linalg.norm(found.X, axis=1) - 1) ** 2)
    print(f"{method:12} mean |phi(z) - p|^2 = {found.squared_distance.mean():.6f}, off the circle {off:.5f}")
print("the rows themselves are off by", round(float(np.mean((np.linalg.norm(X, axis=1) - 1) ** 2)), 5))
