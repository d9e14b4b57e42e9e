"""Two effects of one cause depend on each other, until the cause is known."""
import numpy as np

import mercer

rng = np.random.default_rng(0)
cause = rng.normal(size=(200, 1))
x = np.sin(cause) + 0.3 * rng.normal(size=cause.shape)
y = cause**2 + cause + 0.3 * rng.normal(size=cause.shape)
print(mercer.independence_test(x, y, random_state=0))
print(mercer.conditional_independence_test(x, y, cause, random_state=0))
print(mercer.conditional_independence_test(x, y + x, cause, random_state=0))
