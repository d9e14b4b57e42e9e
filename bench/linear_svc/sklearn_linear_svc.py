# SPDX-License-Identifier: BSD-3-Clause
import sys

from sklearn.svm import LinearSVC

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

from task import work  # noqa: E402

# The solver is its own choice, or the one named: of as many rows as columns its choice is the slower one.
dual = {"auto": "auto", "dual": True}[sys.argv[1]]
serve(*work(lambda: LinearSVC(dual=dual, random_state=0)))
