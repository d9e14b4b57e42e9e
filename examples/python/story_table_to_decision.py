"""From a data frame to a decision: which rows of a table need a second look, how sure is that, and what does the model go by?

A made-up workshop measures the vibration and the temperature of its machines; those that run rough and hot fail within the month.
"""
# SPDX-License-Identifier: BSD-3-Clause
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

# 1. The table: columns with names, in different units, and a column of words to predict.
rng = np.random.default_rng(0)
vibration, temperature = rng.gamma(4.0, 0.6, 300), rng.normal(60, 9, 300)
risk = np.hypot((vibration - 2.2) / 1.2, (temperature - 60) / 9) + rng.normal(0, 0.15, 300)
table = pd.DataFrame({"vibration": vibration, "temperature": temperature})
state = pd.Series(np.where(risk > 1.2, "fails", "runs"), name="within a month")

# 2. Is a kernel worth it? The same folds for a guess, a straight line and a kernel.
folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {
    "the larger class": DummyClassifier(),
    "a straight line": make_pipeline(StandardScaler(), LogisticRegression()),
    "a kernel": make_pipeline(StandardScaler(), mercer.SVC(C=10, gamma=1.0)),
}
right = {name: cross_val_score(model, table, state, cv=folds).mean() for name, model in models.items()}
for name, share in right.items():
    print(f"{name}: {share:.2f} right")
assert right["a kernel"] > right["a straight line"] + 0.1

# 3. The model of all rows, which knows the names of its columns, and what it says of two machines.
model = models["a kernel"].fit(table, state)
print("columns:", ", ".join(model.feature_names_in_))
new = pd.DataFrame({"vibration": [2.0, 5.5], "temperature": [61.0, 80.0]}, index=["press", "lathe"])
decisions = pd.Series(model.predict(new), index=new.index)
print(decisions.to_string())
assert decisions.tolist() == ["runs", "fails"]

# 4. Two pictures: what is said everywhere, and how often it is wrong on rows that were not seen (scikit-learn's own display).
figure, (left, middle) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
mercer.plot.decision_boundary(model, table, state, ax=left)
ConfusionMatrixDisplay.from_predictions(state, cross_val_predict(model, table, state, cv=folds), ax=middle)
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "machines.png")
    print("machines.png:", "a picture" if (Path(folder) / "machines.png").stat().st_size > 10000 else "empty")
