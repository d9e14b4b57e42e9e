"""Labels of whole sequences, a ranking, and classes with a kernel, by one machine."""
# SPDX-License-Identifier: BSD-3-Clause
import mercer
import numpy as np

rng = np.random.default_rng(0)
states = [np.cumsum(rng.random(rng.integers(5, 15)) < 0.8) % 3 for _ in range(120)]
X = [np.eye(3)[s] + 0.8 * rng.normal(size=(len(s), 3)) for s in states]
chain = mercer.StructuredSVM("chain", C=0.1).fit(X[:80], states[:80])
alone = mercer.StructuredSVM(C=0.1).fit(np.vstack(X[:80]), np.concatenate(states[:80]))
together, single = chain.score(X[80:], states[80:]), alone.score(np.vstack(X[80:]), np.concatenate(states[80:]))
print(chain.summary_)
print(f"sequences {together:.3f}, single positions {single:.3f}")
assert together > single + 0.05

rows = rng.normal(size=(200, 3))
ranks = (-rows @ rng.normal(size=(3, 4))).argsort(axis=1).argsort(axis=1) + 1
print(f"rankings: mean of Spearman's rho {mercer.StructuredSVM('ranking', C=100).fit(rows, ranks).score(rows, ranks):.3f}")

A, y = mercer.datasets.moons(200, random_state=0)
print(mercer.StructuredSVM(kernel="gaussian(0.5)", C=10).fit(A, y).summary_)
