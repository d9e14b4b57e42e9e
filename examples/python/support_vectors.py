"""Two moons by a few support vectors, a curve with a tube, and outliers."""
import mercer

X, labels = mercer.datasets.moons(300, random_state=0)
model = mercer.SVC(C=10, gamma=2.0).fit(X, labels)
print(f"accuracy {model.score(X, labels):.2f} from {len(model.support_)} of {len(X)} samples; f of the first: {model.model_.decision(X[0]):.2f}")

x, y = mercer.datasets.waves(300, noise=0.3, random_state=0)
curve = mercer.NuSVR(nu=0.3, C=10, gamma=1.0).fit(x, y)
print(f"a tube of half width {curve.epsilon_:.2f} leaves out {(abs(y - curve.predict(x)) > curve.epsilon_ + 1e-3).mean():.2f} of the samples")

inside = mercer.OneClassSVM(nu=0.1, gamma=2.0).fit(X)
print(f"a point far away: {inside.predict([[5.0, 5.0]])[0]}")
