"""Kernel ridge regression on a Gram matrix that is already there: precomputed kernels, and kernels written in Python.

The compiled library evaluates its own kernels; what it cannot evaluate comes here as a matrix and is solved by scipy with the same
equations: c = S c', (S K S + alpha I) c' = S (y - b), S = diag(sqrt(sample_weight)), and s'c' = 0 when an intercept is fitted.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from scipy import linalg


@dataclass(frozen=True)
class GramSolveSummary:
    """How the system was solved; prints as one sentence."""

    method: str
    positive_definite: bool
    rank: int
    residual: float
    seconds: float
    bytes: int

    def __str__(self) -> str:
        how = f"{self.method} of a given Gram matrix, rank {self.rank}"
        return f"solved: {how}, relative residual {self.residual:.1e}, {self.seconds:.2f} s"

    __repr__ = __str__


@dataclass(frozen=True)
class GramRidgeModel:
    """A fitted model that takes kernel values: rows of k(x, x_i) over the training samples x_i."""

    dual_coef: np.ndarray
    intercept: np.ndarray
    alpha: np.ndarray
    summary: GramSolveSummary = field(repr=False)

    def predict(self, K: np.ndarray) -> np.ndarray:
        return K @ self.dual_coef + self.intercept

    def decision(self, k: np.ndarray) -> float | np.ndarray:
        """Predictions without validation, for one row of kernel values (1-D) or several (2-D)."""
        f = np.asarray(k) @ self.dual_coef + self.intercept
        return float(f[0]) if f.shape == (1,) else f[..., 0] if f.shape[-1] == 1 else f


def _solve(A: np.ndarray, alpha: float, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, str, bool, int]:
    """(A + alpha I)^-1 B by Cholesky, or by the spectrum where that is not positive definite or alpha is 0; and what of B's last column lies in the
    null space that the latter leaves out."""
    n = len(A)
    definite = True
    shifted = A.copy()
    shifted.flat[:: n + 1] += alpha
    if alpha > 0:
        try:
            solved = linalg.cho_solve(linalg.cho_factor(shifted, lower=True), B, check_finite=False)
            if np.isfinite(solved).all():
                return solved, np.zeros(n), "Cholesky", True, n
        except linalg.LinAlgError:
            pass
        definite = False
    values, vectors = linalg.eigh(shifted)
    keep = np.abs(values) > n * np.finfo(float).eps * np.abs(values).max()
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
    unseen = vectors[:, ~keep] @ (vectors[:, ~keep].T @ B[:, -1])
    return vectors @ (inverse[:, None] * (vectors.T @ B)), unseen, "pseudo-inverse", definite, int(keep.sum())


def fit_gram_ridge(K: np.ndarray, Y: np.ndarray, alpha: np.ndarray, sample_weight: np.ndarray | None, fit_intercept: bool) -> GramRidgeModel:
    """K is n x n and symmetric, Y n x targets, alpha one number per target."""
    start = perf_counter()
    n, targets = Y.shape
    s = np.ones(n) if sample_weight is None else np.sqrt(sample_weight)
    A = K * np.outer(s, s)
    coef = np.empty((n, targets))
    intercept = np.zeros(targets)
    method, definite, rank = "Cholesky", True, n
    for a in np.unique(alpha):
        these = np.flatnonzero(alpha == a)
        B = s[:, None] * np.column_stack([Y[:, these], np.ones(n)])
        solved, unseen, how, ok, found = _solve(A, a, B)
        if how != "Cholesky":
            method, definite, rank = how, definite and ok, min(rank, found)
        u, v = solved[:, :-1], solved[:, -1]
        if fit_intercept:
            # Where the null space sees the constant, least squares there decides; otherwise the least norm of f does.
            blind = np.linalg.norm(unseen) <= 1e-10 * np.linalg.norm(s)
            intercept[these] = (s @ u) / (s @ v) if blind else (unseen @ B[:, :-1]) / (unseen @ unseen)
        coef[:, these] = s[:, None] * (u - np.outer(v, intercept[these]))
    kept = s > 0
    residual = (s[:, None] * (K @ coef + intercept - Y))[kept] + alpha * coef[kept] / s[kept, None]
    scale = np.linalg.norm(s[:, None] * Y, axis=0)
    worst = float(np.max(np.linalg.norm(residual, axis=0) / np.where(scale > 0, scale, 1.0)))
    return GramRidgeModel(coef, intercept, alpha, GramSolveSummary(method, definite, rank, worst, perf_counter() - start, 2 * A.nbytes))
