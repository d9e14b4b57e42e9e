"""A curve with error bars: learn length scale and noise from 100 points, and count how often the intervals are right."""
import numpy as np

import mercer

X, y = mercer.datasets.waves(100, noise=0.3, random_state=0)
model = mercer.GaussianProcessRegressor("1*gaussian(1)", alpha=0.1, optimize_noise=True, normalize_y=True).fit(X, y)
print(model.summary_)

new_X, new_y = mercer.datasets.waves(1000, noise=0.3, random_state=1)
low, high = model.predict_interval(new_X, 0.9)
print(f"{np.mean((low <= new_y) & (new_y <= high)):.0%} of new observations lie in their 90 % intervals")

mean, std = model.predict([[5.0], [15.0]], return_std=True)
print(f"deviation within the data {std[0]:.2f}, five units beyond them {std[1]:.2f}")
