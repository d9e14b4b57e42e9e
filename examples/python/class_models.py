"""A boundary between two moons by class means, Parzen windows, and stochastic gradients with and without a budget."""
import mercer

X, y = mercer.datasets.moons(400, random_state=0)
for model in (
    mercer.KernelMeanClassifier("gaussian(0.3)"),
    mercer.KernelMeanClassifier("gaussian(0.3)", rule="parzen"),
    mercer.KernelSGDClassifier(0.005, kernel="gaussian(0.3)"),
    mercer.KernelSGDClassifier(0.005, kernel="gaussian(0.3)", budget=30),
):
    print(f"{model.fit(X, y).score(X, y):.3f} {model!r}: {model.summary_}")
