"""A band of conditional quantiles around noisy waves, and class probabilities of two moons."""
import mercer

X, y = mercer.datasets.waves(300, noise=0.3, random_state=0)
band = [mercer.RepresenterRegressor("quantile", quantile=level, lambda_=1e-4, gamma=1.0).fit(X, y).predict(X) for level in (0.1, 0.9)]
print(f"{((y >= band[0] - 1e-6) & (y <= band[1] + 1e-6)).mean():.2f} of the samples lie between the quantiles 0.1 and 0.9")

X, labels = mercer.datasets.moons(300, random_state=0)
model = mercer.KernelLogisticRegression(C=10, gamma=2.0).fit(X, labels)
print(f"accuracy {model.score(X, labels):.2f}; probabilities of the first sample {model.predict_proba(X[:1])[0].round(2)}")
