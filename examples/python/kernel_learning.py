"""Length scales per column by leave-one-out, and the weights of a sum by the evidence."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

import mercer

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 6))
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + 0.1 * rng.normal(size=400)
train, test = slice(0, 200), slice(200, 400)


def error(found):
    model = mercer.KernelRidge(kernel=found.kernel, alpha=found.alpha).fit(X[train], y[train])
    return np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))


one = mercer.learn_kernel(X[train], y[train], "gaussian(auto)")
each = mercer.learn_kernel(X[train], y[train], "gaussian(auto)", ard=True)
weighted = mercer.learn_kernel(X[train], y[train], "gaussian(auto) + linear", ard=True, objective="evidence")
for name, found in [("one length scale", one), ("one per column", each), ("with a linear part", weighted)]:
    print(f"{name}: test error {error(found):.3f}; {found}")
assert error(each) < 0.6 * error(one)
