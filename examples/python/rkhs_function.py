"""Functions of an RKHS as values: evaluate, multiply, measure; a fitted model is one."""
import mercer
from mercer import RKHSFunction

X, y = mercer.datasets.waves(80)
model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)
f = RKHSFunction(model.kernel_, model.X_fit_, model.dual_coef_)
g = RKHSFunction("gaussian(0.5)", [[1.0]], [1.0])  # k(1, .)
print(f"f(1) = {f([[1.0]])[0]:.6f} = <f, k(1, .)> = {f @ g:.6f}, at most {f.bound([[1.0]])[0]:.4f}")
print(f"|f| = {f.norm():.4f}, |f - 2g| = {(f - 2 * g).norm():.4f}")
print("distances in feature space:", mercer.feature_distance("gaussian(0.5)", X[:3]).round(3).tolist())
