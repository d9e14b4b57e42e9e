"""Learn a wavy function from 100 noisy points, and look at how well it did."""
import numpy as np

import mercer

X, y = mercer.datasets.waves(100, noise=0.3, random_state=0)
model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)

grid = np.linspace(0, 10, 201)[:, None]
error = model.predict(grid) - mercer.datasets.waves_mean(grid[:, 0])
print(model.summary_.method, "with", model.kernel_)
print(f"root mean square distance to the true curve: {np.sqrt(np.mean(error**2)):.2f}")
