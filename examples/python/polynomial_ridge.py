"""Least squares wiggles, ridge is calm: 12 points, the powers 1, x, ..., x^8, lambda = 1 and the constant penalised like the rest."""
import numpy as np

import mercer

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 12))
y = np.sin(3 * x) + 0.3 * rng.normal(size=12)
powers = np.vander(x, 9, increasing=True)

least_squares = mercer.Ridge(alpha=0, fit_intercept=False).fit(powers, y)
ridge = mercer.Ridge(lambda_=1, fit_intercept=False).fit(powers, y)

grid = np.vander(np.linspace(-1, 1, 401), 9, increasing=True)
for name, model in (("least squares", least_squares), ("ridge", ridge)):
    travel = np.abs(np.diff(model.predict(grid))).sum()
    print(f"{name}: the curve climbs and falls {travel:.1f} in all, condition number {model.condition_number_after_:.3g}")
