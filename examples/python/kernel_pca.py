"""Digits in five kernel principal components: classes as neighbours there, and digits that are unlike all others."""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import mercer

X, y = load_digits(return_X_y=True)
X = X / 16
train, test = np.arange(len(X)) % 4 > 0, np.arange(len(X)) % 4 == 0
for name, map_ in (("PCA", mercer.PCA(5)), ("kernel PCA", mercer.KernelPCA(5, kernel="rbf", gamma=0.05))):
    map_.fit(X[train])
    right = KNeighborsClassifier(5).fit(map_.transform(X[train]), y[train]).score(map_.transform(X[test]), y[test])
    print(f"{name}: {100 * right:.1f} % right from five numbers, {100 * map_.explained_variance_ratio_.sum():.0f} % of the variance")
    assert right > 0.8
noise = np.random.RandomState(0).rand(50, 64)
error = map_.reconstruction_error
print(f"errors of reconstruction: {np.median(error(X[test])):.2f} of digits, {np.median(error(noise)):.2f} of noise")
assert np.median(error(noise)) > np.quantile(error(X[test]), 0.9)
