"""Model files: what is saved comes back, and what cannot be read says so."""
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import mercer
from mercer import _mercer


@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelRidge(0.1, kernel="gaussian(2) + 0.5*linear"),
        mercer.KernelRidge([0.1, 1, 2], kernel="laplacian(auto, norm=l1)", fit_intercept=True),
        mercer.KernelRidge(0.1, kernel="rbf", precision="float32"),
        mercer.KernelRidge(0.1, kernel="2*matern(2.5, [1, 2]).on(3, 0)*periodic(1, period=3)^2 + cosine.normalized() + white(0.1)"),
        mercer.Ridge(0.25),
        mercer.Ridge(0, degree=2, fit_intercept=False),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["dense", "sparse", "float32", "frame", "one target"])
def test_round_trip(model, form, problem, tmp_path):
    X, Y = problem
    if form == "one target" and isinstance(model.alpha, list):
        model = clone(model).set_params(alpha=model.alpha[0])
    rows = {"sparse": sp.csr_array(X), "float32": X.astype(np.float32), "frame": pd.DataFrame(X, columns=list("abcd"))}.get(form, X)
    fitted = model.fit(rows, Y[:, 0] if form == "one target" else Y)
    mercer.save(fitted, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert type(again) is type(fitted)
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert again.n_features_in_ == 4
    np.testing.assert_allclose(again.alpha, fitted.alpha, rtol=1e-9)
    assert again.get_params()["fit_intercept"] == fitted.fit_intercept
    if form == "frame":
        assert list(again.feature_names_in_) == list("abcd")
    if form not in ("frame", "one target"):
        np.testing.assert_allclose(again.fit(rows, Y).predict(rows), model.fit(rows, Y).predict(rows), rtol=1e-9, atol=1e-9)


def test_info(problem, tmp_path):
    mercer.save(mercer.KernelRidge(kernel="gaussian(2)").fit(*problem), tmp_path / "m.mercer")
    header = mercer.info(tmp_path / "m.mercer")
    assert "gaussian(2)" in str(header)


def test_missing_and_broken_files(problem, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such model file") as caught:
        mercer.load(tmp_path / "none.mercer")
    assert isinstance(caught.value, mercer.FileError) and isinstance(caught.value, ValueError)
    path = tmp_path / "m.mercer"
    mercer.save(mercer.Ridge().fit(*problem), path)
    whole = path.read_bytes()
    for broken in (b"", b"hello", whole[: len(whole) // 2], whole[:-1], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]):
        path.write_bytes(broken)
        with pytest.raises(mercer.FileError, match="m.mercer"):
            mercer.load(path)
        with pytest.raises(OSError):
            mercer.load(path)
    with pytest.raises(mercer.FileError):
        mercer.save(mercer.Ridge().fit(*problem), tmp_path / "no" / "such" / "folder.mercer")
    assert not (tmp_path / "no").exists()


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="only a fitted estimator of Mercer"):
        mercer.save(mercer.Ridge(), tmp_path / "m")
    X = np.random.default_rng(0).uniform(size=(20, 2))
    for kind in (mercer.Monomials(2), mercer.SpectralClustering(2), mercer.AdditiveChi2Sampler()):
        with pytest.raises(ValueError, match=f"{type(kind).__name__} has no model file; pickle keeps it"):
            mercer.save(kind.fit(X), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_pickles_are_checked(problem):
    state = mercer.Ridge().fit(*problem).model_.__getstate__()
    assert isinstance(state, bytes)
    with pytest.raises(mercer.FileError):
        _mercer.RidgeModel.__new__(_mercer.RidgeModel).__setstate__(state[:-8])
    fallback = mercer.KernelRidge(kernel="cosine").fit(*problem)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fallback)).predict(problem[0]), fallback.predict(problem[0]))
