"""Kernel regression on 50 000 rows through 2000 random features, in chunks, against kernel ridge on the 1000 rows that come first."""
import mercer

X, y = mercer.datasets.regression(51000, dimension=5, random_state=2)
X_new, y_new = X[50000:], y[50000:]
exact = mercer.KernelRidge(0.1, kernel="gaussian(1)").fit(X[:1000], y[:1000])
print(f"kernel ridge on 1000 rows: R^2 {exact.score(X_new, y_new):.3f}")

model = mercer.RandomFeatureRidge(0.1, kernel="gaussian(1)", n_components=2000, random_state=0)
for first in range(0, 50000, 10000):
    model.partial_fit(X[first : first + 10000], y[first : first + 10000])
print(f"2000 random features on {model.summary_.rows} rows: R^2 {model.score(X_new, y_new):.3f}")
print(f"kernel values of a pair are within {model.hoeffding_bound(0.95):.2f} with probability 0.95")
assert model.score(X_new, y_new) > exact.score(X_new, y_new)
