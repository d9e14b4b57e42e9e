"""The work of the linear support vector machines, the same for us and for the peer: CSR rows and labels in, a fitted model out."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import scipy.sparse as sp


def objective(answer):
    """What both minimise, |w|^2 / 2 + b^2 / 2 + C sum max(0, 1 - y (w.x + b))^2 with C = 1: the constant is penalised, as LIBLINEAR has it."""
    (X, y), model = answer
    w, b = model.coef_[0], model.intercept_[0]
    slack = np.maximum(0, 1 - np.where(y > 0, 1, -1) * (X @ w + b))
    return [0.5 * (w @ w + b * b) + slack @ slack]


def work(make):
    """(prepare, work, check) for a function that makes the estimator."""
    return lambda files: (sp.load_npz(files[0]), np.load(files[1])), lambda state: (state, make().fit(*state)), objective
