"""A series that changes: found afterwards by segmentation, and as it happens by a drift monitor."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

import mercer

rng = np.random.default_rng(0)
series = np.concatenate([rng.normal(size=150), 3 * rng.normal(size=150)])  # the spread changes at row 150

found = mercer.change_points(series)
print(found)
print(mercer.change_point_test(series, n_permutations=199, random_state=0))

monitor = mercer.DriftMonitor(rng.normal(size=300), window=30, expected_run_length=1000, random_state=0)
for row, value in enumerate(series):
    if monitor.update(value):
        print("the monitor says so at row", row)
        break
