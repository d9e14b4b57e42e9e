"""Pictures of models, searches, tests and embeddings, by matplotlib.

Each function draws into the axes it is given, or into a new figure, and returns the axes; none calls ``plt.show()`` or changes
matplotlib's settings. matplotlib is imported when a picture is drawn, and is not needed for anything else in Mercer.

>>> import mercer
>>> X, y = mercer.datasets.moons(100, random_state=0)
>>> ax = mercer.plot.decision_boundary(mercer.SVC(C=10, gamma=1.0).fit(X, y), X, y)
>>> ax.get_xlabel(), ax.get_ylabel()
('x0', 'x1')
"""
# SPDX-License-Identifier: BSD-3-Clause
from ._decision import decision_boundary, regression_curve
from ._embedding import scatter, silhouette, spectrum
from ._images import image_strip, preimages
from ._samples import change_points, column_shares, drift, witness, witness_grid, witness_values
from ._search import path
from ._tests import kernel_verdicts, level_check, null_histogram

null_distribution = null_histogram  # its name before

__all__ = [
    "change_points",
    "column_shares",
    "decision_boundary",
    "drift",
    "image_strip",
    "kernel_verdicts",
    "level_check",
    "null_distribution",
    "null_histogram",
    "path",
    "preimages",
    "regression_curve",
    "scatter",
    "silhouette",
    "spectrum",
    "witness",
    "witness_grid",
    "witness_values",
]
