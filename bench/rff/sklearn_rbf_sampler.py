# SPDX-License-Identifier: BSD-3-Clause
import sys

from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from competitor import serve  # noqa: E402
from rff.task import ALPHA, COMPONENTS, GAMMA, map_check, prepare, ridge_check  # noqa: E402

sampler = RBFSampler(gamma=GAMMA, n_components=COMPONENTS, random_state=0)
if sys.argv[1] == "ridge":
    serve(prepare, lambda s: (s, make_pipeline(sampler, Ridge(ALPHA)).fit(s["X"], s["y"])), lambda out: ridge_check(out[0], out[1].predict))
else:
    serve(prepare, lambda s: (s, sampler.fit_transform(s["X"])), lambda out: map_check(*out))
