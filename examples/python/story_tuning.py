"""Tuning three ways: scikit-learn's grid search, and the searches of Mercer, which share one Gram matrix among all candidates."""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

import mercer
from mercer.kernels import Gaussian

# 1. Classification: the same folds and candidates, once by GridSearchCV and once by SVCCV.
X, y = mercer.datasets.moons(200, random_state=0)
grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1, 1.0, 10.0, 100.0]}
began = time.perf_counter()
searched = GridSearchCV(mercer.SVC(), grid, cv=5).fit(X, y)
middle = time.perf_counter()
tuned = mercer.SVCCV(**grid, cv=5, abandon=False).fit(X, y)
seconds = middle - began, time.perf_counter() - middle
print("GridSearchCV:", searched.best_params_, "  SVCCV:", tuned.best_params_)
assert np.allclose(searched.cv_results_["mean_test_score"].max(), tuned.best_score_)

# 2. Regression: exact leave-one-out scores of thirty penalties and several kernels cost little more than one fit.
X_wave, y_wave = mercer.datasets.waves(120, random_state=0)
path = mercer.KernelRidgeCV(np.logspace(-4, 2, 30), kernel="rbf", gamma=[0.1, 1.0, 10.0, 100.0]).fit(X_wave, y_wave)
print(path.path_)

# 3. The numbers of any kernel are parameters for scikit-learn too.
search = GridSearchCV(
    mercer.KernelRidge(alpha=0.1, kernel=Gaussian(1.0)), {"kernel__length_scale": [0.05, 0.2, 1.0, 5.0]}, cv=KFold(5, shuffle=True, random_state=0)
).fit(X_wave, y_wave)
print("kernel:", search.best_estimator_.kernel)
assert search.best_params_["kernel__length_scale"] in (0.2, 1.0)

figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
mercer.plot.path(tuned, ax=axes[0, 0])
mercer.plot.decision_boundary(tuned, X, y, ax=axes[0, 1])
mercer.plot.path(path, kind="lines", ax=axes[1, 0])
mercer.plot.regression_curve(path, X_wave, y_wave, ax=axes[1, 1])
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "tuning.png")
    print("tuning.png:", "a picture" if (Path(folder) / "tuning.png").stat().st_size > 10000 else "empty")
print(f"one Gram matrix for all candidates: {'faster' if seconds[1] < seconds[0] else 'not faster'} than a fit for each")
