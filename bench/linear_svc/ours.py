# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402

from task import work  # noqa: E402

serve(*work(mercer.LinearSVC))
