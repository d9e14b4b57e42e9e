"""DNA by its letters: strings and a measured column in one pipeline, a search over kernels, and where the model looks."""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline

import mercer
from mercer.kernels import Mismatch, Spectrum

# 1. Strings of 60 letters; half of them carry the motif TATAATGC somewhere, with one letter wrong more often than not.
rng = np.random.default_rng(0)
letters = np.array(list("ACGT"))
strings, promoter = [], np.arange(160) % 2
for has_motif in promoter:
    string = rng.choice(letters, 60)
    if has_motif:
        at = rng.integers(52)
        string[at : at + 8] = list("TATAATGC")
        string[at + rng.integers(8)] = rng.choice(letters)
    strings.append("".join(string))
train, test, y_train, y_test = train_test_split(strings, promoter, test_size=60, stratify=promoter, random_state=0)

# 2. A pipeline takes strings as they are: features of a string kernel on landmarks, then a linear machine. Kernels are searched like numbers.
pipeline = Pipeline([("features", mercer.Nystroem(n_components=60, kernel=Spectrum(4), random_state=0)), ("machine", mercer.LinearSVC())])
search = GridSearchCV(pipeline, {"features__kernel": [Spectrum(3), Spectrum(5), Mismatch(5, 1)], "machine__C": [0.1, 1.0]}, cv=4).fit(train, y_train)
print("chosen:", search.best_params_["features__kernel"])

# 3. The exact machine with that kernel, on strings that no search has seen.
machine = mercer.SVC(kernel=search.best_params_["features__kernel"], C=10).fit(train, y_train)
print(f"right on new strings: {search.score(test, y_test):.2f} by landmarks, {machine.score(test, y_test):.2f} by all strings")
assert machine.score(test, y_test) > 0.6

# 4. The strings by two components of their kernel, and the scores of the search.
components = mercer.KernelPCA(2, kernel=machine.kernel).fit_transform(train)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
mercer.plot.scatter(components, color=np.where(y_train == 1, "motif", "none"), ax=left)
mercer.plot.path(search, kind="lines", ax=right)
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "dna.png")
    print("dna.png:", "a picture" if (Path(folder) / "dna.png").stat().st_size > 10000 else "empty")
