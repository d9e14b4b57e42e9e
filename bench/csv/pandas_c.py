# SPDX-License-Identifier: BSD-3-Clause
import sys

import pandas

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402

serve(lambda files: files[0], lambda file: pandas.read_csv(file, engine="c"), lambda table: table.iloc[::9973].to_numpy().ravel())
