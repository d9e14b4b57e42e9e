"""Records: a table with text and numbers, a kernel for each, and a kernel of one's own beside them."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd

import mercer

rng = np.random.default_rng(1)
frame = pd.DataFrame({"seq": ["".join(rng.choice(list("AC"), 10)) for _ in range(100)], "dose": rng.uniform(0, 1, 100), "site": rng.choice(["north", "south"], 100)})
y = np.array([s.count("AA") for s in frame["seq"]]) * frame["dose"] + (frame["site"] == "north")


def same_site(A, B):
    return np.array([[float(a == b) for b in B] for a in A])


kernel = mercer.kernel("spectrum(2, normalized=false).on('seq') * gaussian(0.5).on('dose')".replace("'", '"')) + mercer.kernel_function(same_site).on("site")
model = mercer.KernelRidge(kernel=kernel, alpha=0.1).fit(frame[:70], y[:70])
print("R^2 on new records:", round(model.score(frame[70:], y[70:]), 3))
assert model.score(frame[70:], y[70:]) > 0.8
