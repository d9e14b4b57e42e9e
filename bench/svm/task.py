"""The works of the support vector machines, the same for us and for the peers: arrays in, a fitted model (or its answers) out."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import scipy.sparse as sp


def load(files):
    if files[0].endswith(".npz"):
        return [sp.load_npz(files[0]), np.load(files[1])]
    return [np.load(f) for f in files]


def works(SVC, SVR):
    """Name -> (prepare, work, check) for a pair of estimator classes."""

    def fit(make):
        return load, lambda state: (state, make().fit(*state)), None

    def values(answer):
        (X, _), model = answer
        return (model.decision_function if hasattr(model, "decision_function") else model.predict)(X[::101])

    def fitted(n_train):
        """A model fitted beforehand, and rows it has not seen."""

        def prepare(files):
            X, y = load(files)
            return SVC(C=1, gamma=0.02, tol=1e-3).fit(X[:n_train], y[:n_train]), X[-10000:]

        return prepare

    def row_by_row(call):
        def prepare(files):
            X, y = load(files)
            model = SVC(C=1, gamma=0.02, tol=1e-3).fit(X[:6000], y[:6000])
            return model, [np.ascontiguousarray(X[i : i + 1]) for i in range(6000, 7000)]

        # Two solutions within the tolerance may differ on a borderline row: the share of the second class is compared.
        return prepare, lambda state: [call(state[0], row) for row in state[1]], lambda out: [1.0, float(np.mean([np.ravel(v)[0] for v in out]))]

    gaussian = fit(lambda: SVC(C=1, gamma=0.02, tol=1e-3))[:2] + (values,)
    return {
        "svc": gaussian,
        "svc-178": fit(lambda: SVC(C=1, gamma=1 / 178, tol=1e-3))[:2] + (values,),
        "svc-sparse": fit(lambda: SVC(C=1, gamma=1 / 123, tol=1e-3))[:2] + (values,),
        "svr": fit(lambda: SVR(C=1, gamma=0.1, epsilon=0.1, tol=1e-3))[:2] + (values,),
        "predict": (fitted(20000), lambda state: state[0].decision_function(state[1]), lambda out: out[::97]),
        "row-predict": row_by_row(lambda model, row: model.predict(row)),
        "row-decision": row_by_row(lambda model, row: model.model_.decision(row[0]) > 0),
    }
