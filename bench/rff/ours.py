# SPDX-License-Identifier: BSD-3-Clause
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mercer  # noqa: E402
from competitor import serve  # noqa: E402
from rff.task import ALPHA, COMPONENTS, GAMMA, map_check, prepare, ridge_check  # noqa: E402

if sys.argv[1] == "ridge":
    serve(prepare,
          lambda s: (s, mercer.RandomFeatureRidge(ALPHA, gamma=GAMMA, n_components=COMPONENTS, random_state=0).fit(s["X"], s["y"])),
          lambda out: ridge_check(out[0], out[1].model_.decision))
else:  # cosines with offsets, as the peer has them
    serve(prepare,
          lambda s: (s, mercer.RandomFourierFeatures(COMPONENTS, gamma=GAMMA, form="cos", random_state=0).fit_transform(s["X"])),
          lambda out: map_check(*out))
