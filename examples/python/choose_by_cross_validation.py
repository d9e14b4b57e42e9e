"""Choose kernel and penalty with scikit-learn's tools, inside a pipeline that scales the columns."""
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

X, y = mercer.datasets.regression(400, dimension=5, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
search = GridSearchCV(
    make_pipeline(StandardScaler(), mercer.KernelRidge()),
    {"kernelridge__kernel": ["linear", "gaussian(1)", "gaussian(3)"], "kernelridge__alpha": [0.01, 0.1, 1]},
).fit(X_train, y_train)
print("best:", search.best_params_)
print(f"R^2 on new rows: {search.score(X_test, y_test):.2f}, of a straight line: {mercer.Ridge().fit(X_train, y_train).score(X_test, y_test):.2f}")
