"""Kernel PCA, the same work for us and for the peers: rows in, ten components of a Gaussian kernel out; eigenvalues are compared."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

GAMMA = 0.05
COMPONENTS = 10


def load(files):
    return np.load(files[0])
