"""Strings, texts and graphs in scikit-learn's own tools: folds, grids, pipelines."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score

import mercer

rng = np.random.default_rng(0)
strings = np.array(["".join(rng.choice(list("ACGT"), 40)) for _ in range(60)], dtype=object)
labels = np.arange(60) % 2
for i in np.flatnonzero(labels):  # half of them carry a motif
    at = rng.integers(32)
    strings[i] = strings[i][:at] + "TATAATGC" + strings[i][at + 8 :]

print("folds:", cross_val_score(mercer.SVC(kernel="spectrum(4)", C=10), strings, labels, cv=5).round(2))
search = GridSearchCV(mercer.SVC(), {"kernel": ["spectrum(3)", "spectrum(5)", "mismatch(5, 1)"], "C": [1, 10]}, cv=5).fit(strings, labels)
print("chosen:", search.best_params_["kernel"], "right:", round(search.best_score_, 2))
assert search.best_score_ > 0.8

test = mercer.two_sample_test(strings[labels == 0], strings[labels == 1], kernel="spectrum(5)", random_state=0)
print("do they differ? p =", round(test.p_value, 4))
assert test.p_value < 0.05
