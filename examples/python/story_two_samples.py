"""Two samples: do they differ, where, and in which columns? And did the test deserve our trust?"""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import mercer

# 1. Last month's orders and this month's: same means, but two habits where there was one.
rng = np.random.default_rng(1)
names = ["weight", "price", "distance"]
before = pd.DataFrame(rng.normal(size=(150, 3)), columns=names)
after = pd.DataFrame(rng.normal(size=(150, 3)), columns=names)
after["price"] = rng.choice([-1.8, 1.8], 150) + rng.normal(0, 0.3, 150)
print("difference of the means:", (after.mean() - before.mean()).abs().round(2).to_dict())

# 2. Do they differ? One test, with all that is needed to judge it.
test = mercer.two_sample_test(before, after, n_permutations=499, random_state=0)
print(test)
assert test.rejected

# 3. Does the test hold its level on data like these? Splits of one sample, where nothing is to be found.
check = mercer.level_check(before.to_numpy()[:75], before.to_numpy()[75:], n_permutations=99, repetitions=100, random_state=0)
print("holds its level:", check.holds)
assert check.holds

# 4. Where, and in which columns?
witness = mercer.witness(before, after)
columns = witness.columns(n_permutations=199, random_state=0)
print("columns that differ by themselves:", [column.name for column in columns if column.differs])
assert [column.name for column in columns if column.differs] == ["price"]

figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
mercer.plot.null_histogram(test, ax=axes[0, 0])
mercer.plot.level_check(check, ax=axes[0, 1])
mercer.plot.column_shares(columns, ax=axes[1, 0])
mercer.plot.witness(witness, columns=["price", "weight"], ax=axes[1, 1])
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "orders.png")
    print("orders.png:", "a picture" if (Path(folder) / "orders.png").stat().st_size > 10000 else "empty")
