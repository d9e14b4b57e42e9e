#!/usr/bin/env bash
# `pip install .` in a clean environment, then the package is used from a directory that holds nothing of ours.
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check "$root"
cd "$work"
"$work/venv/bin/python" - <<'END'
import math, pickle
from importlib.resources import files
import numpy as np
import mercer

X, y = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
model = mercer.KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5).fit(X, y)
k = math.exp(-0.5)
by_hand = np.linalg.solve([[1.5, k], [k, 1.5]], y)[[0, 1]] @ np.array([[1, k], [k, 1]])
assert np.allclose(model.predict(X), by_hand, rtol=1e-13), (model.predict(X), by_hand)
assert np.allclose(pickle.loads(pickle.dumps(model)).predict(X), by_hand, rtol=1e-13)
assert any(p.name.endswith(".pyi") for p in files("mercer").iterdir()), "no type stubs"
assert files("mercer").joinpath("py.typed").is_file(), "no py.typed"
print("mercer", mercer.__version__, "from", mercer.__file__)
END
