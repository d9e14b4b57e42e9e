"""Pictures: what is drawn where, with a backend that needs no screen."""
# SPDX-License-Identifier: BSD-3-Clause
import builtins
import types

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer
from mercer import plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def Z():
    return np.random.RandomState(0).randn(30, 3)


def offsets(ax):
    return np.vstack([np.asarray(points.get_offsets()) for points in ax.collections])


def test_scatter_draws_the_first_two_columns(Z):
    ax = plot.scatter(Z)
    np.testing.assert_array_equal(offsets(ax), Z[:, :2])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("PC1", "PC2") and ax.get_legend() is None
    mine = plt.subplots()[1]
    assert plot.scatter(sparse.csr_array(Z), ax=mine) is mine
    np.testing.assert_array_equal(offsets(mine), Z[:, :2])
    one = plot.scatter(Z[:, :1])
    np.testing.assert_array_equal(offsets(one)[:, 1], np.arange(1, 31))
    assert one.get_ylabel() == "row"


def test_scatter_classes_have_a_legend(Z):
    y = np.arange(30) % 3 * 5
    ax = plot.scatter(Z, color=pd.Series(y, name="kind"))
    assert len(ax.collections) == 3 and ax.get_legend().get_title().get_text() == "kind"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "5", "10"]
    np.testing.assert_array_equal(np.asarray(ax.collections[1].get_offsets()), Z[y == 5, :2])
    words = plot.scatter(Z, color=np.array(["b", "a"] * 15, dtype=object))
    assert [text.get_text() for text in words.get_legend().get_texts()] == ["a", "b"]


def test_scatter_numbers_have_a_colour_bar(Z):
    frame = pd.DataFrame(Z, columns=["u", "v", "w"])
    ax = plot.scatter(frame, color=Z[:, 2], s=5)
    assert len(ax.figure.axes) == 2 and ax.get_legend() is None and ax.get_xlabel() == "u"
    np.testing.assert_array_equal(ax.collections[0].get_array(), Z[:, 2])
    assert ax.collections[0].get_sizes()[0] == 5
    many = plot.scatter(Z, color=np.arange(30))  # more whole numbers than classes have
    assert many.get_legend() is None


def test_spectrum():
    ax = plot.spectrum([1.0, 4.0, 3.0])
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], [0.5, 0.375, 0.125])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.875, 1.0])
    shares = types.SimpleNamespace(explained_variance_ratio_=np.array([0.4, 0.1]), eigenvalues_=np.array([4.0, 1.0]))
    np.testing.assert_allclose([bar.get_height() for bar in plot.spectrum(shares).patches], [0.4, 0.1])
    values = types.SimpleNamespace(eigenvalues_=np.array([3.0, 1.0]))
    np.testing.assert_allclose([bar.get_height() for bar in plot.spectrum(values).patches], [0.75, 0.25])
    assert len(plot.spectrum(np.ones(80)).patches) == 50


def test_spectrum_of_estimators(Z):
    from sklearn.decomposition import PCA, KernelPCA

    pca = PCA().fit(Z)
    np.testing.assert_allclose(plot.spectrum(pca).lines[0].get_ydata(), np.cumsum(pca.explained_variance_ratio_))
    kernel_pca = KernelPCA(3, kernel="rbf").fit(Z)
    assert len(plot.spectrum(kernel_pca).patches) == 3
    with pytest.raises(ValueError, match="fit it first"):
        plot.spectrum(PCA())


def test_image_strip():
    clean = np.arange(24.0).reshape(2, 12)
    ax = plot.image_strip([clean, clean + 100], shape=(3, 4), titles=["clean", "noisy"])
    shown = ax.images[0].get_array()
    assert shown.shape == (7, 9)
    np.testing.assert_array_equal(shown[:3, :4], clean[0].reshape(3, 4))
    np.testing.assert_array_equal(shown[4:, 5:], clean[1].reshape(3, 4) + 100)
    assert np.ma.getmaskarray(np.ma.masked_invalid(shown))[3].all()
    assert ax.images[0].get_clim() == (0, 23)  # the shades of the first line
    assert [label.get_text() for label in ax.get_yticklabels()] == ["clean", "noisy"]
    assert plot.image_strip(np.zeros((3, 16)) + np.arange(16)).images[0].get_array().shape == (4, 14)


def test_silhouette_of_labels_and_estimators():
    X, y = mercer.datasets.blobs(60, random_state=0)
    ax = plot.silhouette(X, y)
    want = mercer.silhouette_samples(X, y).mean()
    assert ax.get_legend().get_texts()[0].get_text() == f"mean {want:.3f}"
    assert len(ax.collections) == 3
    model = mercer.KernelKMeans(3, kernel="gaussian(2)", random_state=0).fit(X)
    drawn = plot.silhouette(X, model)
    want = mercer.silhouette_samples(X, model.labels_, kernel="gaussian(2)").mean()
    assert drawn.get_legend().get_texts()[0].get_text() == f"mean {want:.3f}"
    with pytest.raises(ValueError, match="fit it first"):
        plot.silhouette(X, mercer.KernelKMeans(3))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot.scatter(np.zeros(3)), "Z must be a matrix"),
        (lambda: plot.scatter(np.zeros((0, 2))), "Z must be a matrix"),
        (lambda: plot.scatter(np.zeros((3, 2)), color=[1, 2]), "each of the 3 rows"),
        (lambda: plot.scatter(np.zeros((3, 2)), names=["a"]), "names"),
        (lambda: plot.spectrum([]), "eigenvalues"),
        (lambda: plot.spectrum([np.nan, 1]), "eigenvalues"),
        (lambda: plot.spectrum([-1.0, 1.0]), "sum > 0"),
        (lambda: plot.image_strip(np.zeros((2, 12))), "not the pixels of a square"),
        (lambda: plot.image_strip(np.zeros((2, 12)), shape=(5, 2)), "10 pixels, the rows have 12"),
        (lambda: plot.image_strip([np.zeros((2, 4)), np.zeros((3, 4))]), "every line"),
        (lambda: plot.image_strip([np.zeros((2, 4))], titles=["a", "b"]), "titles"),
        (lambda: plot.silhouette(np.zeros((3, 2)), [0, 1]), "labels"),
    ],
)
def test_wrong_use(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_level_check_beside_the_uniform_law():
    rng = np.random.default_rng(0)
    check = mercer.level_check(rng.normal(size=20), rng.normal(size=25), n_permutations=49, repetitions=40, random_state=0)
    ax = check.plot()
    uniform, splits = ax.lines[:2]
    np.testing.assert_array_equal(uniform.get_xydata(), [[0, 0], [1, 1]])
    for p in (0.1, 0.5, 0.9):
        drawn = splits.get_ydata()[np.searchsorted(splits.get_xdata(), p, side="right") - 1]
        assert drawn == pytest.approx((check.p_values <= p).mean())
    assert [text.get_text() for text in ax.get_legend().get_texts()][1] == "40 splits"
    assert check.plot(ax=ax) is ax and str(check) == check.sentence


def test_without_matplotlib(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot.scatter(np.zeros((3, 2)))
