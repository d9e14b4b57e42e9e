"""Gradients of kernels with respect to the logarithms of their parameters: against scikit-learn's and against finite differences."""
import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

import mercer
from mercer.kernels import Constant, Gaussian, Kernel, Laplacian, Linear, Matern, Periodic, RationalQuadratic, White

# Mercer's kernel, scikit-learn's, and for each of our parameters the place of scikit-learn's.
PAIRS = [
    (Gaussian(1.3), gp.RBF(1.3), [0]),
    (Gaussian([0.5, 2, 3]), gp.RBF([0.5, 2, 3]), [0, 1, 2]),
    (Matern(0.5, 1.3), gp.Matern(1.3, nu=0.5), [0]),
    (Matern(1.5, 1.3), gp.Matern(1.3, nu=1.5), [0]),
    (Matern(2.5, [0.5, 2, 3]), gp.Matern([0.5, 2, 3], nu=2.5), [0, 1, 2]),
    (RationalQuadratic(1.3, 0.6), gp.RationalQuadratic(1.3, alpha=0.6), [0, 1]),
    (Constant(0.7) * Gaussian(2) + White(0.3), gp.ConstantKernel(0.7) * gp.RBF(2) + gp.WhiteKernel(0.3), [0, 1, 2]),
    (0.7 * Gaussian(2) + White(0.3), gp.ConstantKernel(0.7) * gp.RBF(2) + gp.WhiteKernel(0.3), [0, 1, 2]),
]


@pytest.mark.parametrize(("k", "theirs", "places"), PAIRS, ids=lambda v: str(v) if isinstance(v, Kernel) else "")
def test_scikit_learns_gradients_agree(k, theirs, places, rng):
    X = rng.normal(size=(50, 3))
    X[4] = X[9]
    W = rng.normal(size=(50, 50))
    _, slopes = theirs(X, eval_gradient=True)  # 50 x 50 x parameters
    assert len(k.parameters) == slopes.shape[2]
    expected = np.einsum("ij,ijp->p", W, slopes)[places]
    np.testing.assert_allclose(k.gradient(X, W), expected, rtol=1e-10, atol=1e-11)


def test_periodic_agrees_with_exp_sine_squared_on_one_column(rng):
    X, W = rng.normal(size=(40, 1)), rng.normal(size=(40, 40))
    _, slopes = gp.ExpSineSquared(1.3, periodicity=2.5)(X, eval_gradient=True)
    np.testing.assert_allclose(Periodic(1.3, 2.5).gradient(X, W), np.einsum("ij,ijp->p", W, slopes), rtol=1e-10, atol=1e-11)


TUNED = [
    "polynomial(3, scale=0.5, offset=2)",
    "sigmoid(scale=0.3, offset=0.2)",
    "exponential_dot(0.2)",
    "laplacian([0.5, 2, 3], norm=l1)",
    "laplacian([0.5, 2, 3])",
    "rational_quadratic([0.5, 2, 3], alpha=0.7)",
    "periodic([0.5, 2, 3], period=[1, 2, 3])",
    "periodic(1.2, period=[1, 2, 3])",
    "chi2(0.6)",
    "2*gaussian(1)*periodic(1, period=2) + 0.1*linear*laplacian(2) + white(0.5) + constant(3)",
    "(gaussian(2) + 0.5*polynomial(2)).normalized()",
    "polynomial(2, scale=0.3, offset=0.7).normalized(product)",
    "gaussian(0.7).on(1, 2)*matern(2.5, [1, 2]).on(0, 1)",
    "(0.3*gaussian(1)).exp()^2",
    "(0.3*gaussian(1)).geometric()",
    "(2*matern(1.5, 0.7)).series([1, 0.5, 0.25])",
    "(1.5*gaussian(0.8)).over([[0.1, 0.2, 0.3], [1, 1, 1]])",
]


@pytest.mark.parametrize("text", TUNED)
@pytest.mark.parametrize("cross", [False, True])
def test_finite_differences(text, cross, rng):
    k = mercer.kernel(text)
    X, Y = rng.uniform(0.1, 1.5, size=(20, 3)), rng.uniform(0.1, 1.5, size=(300, 3)) if cross else None
    W = rng.normal(size=(20, 300 if cross else 20))
    values = np.array([value for _, value in k.parameters])
    expected = []
    for p in range(len(values)):
        step = np.exp(1e-5 * (np.arange(len(values)) == p))
        up, down = k.with_parameters(values * step), k.with_parameters(values / step)
        expected.append(np.sum(W * (up(X, Y) - down(X, Y))) / 2e-5)
    got = k.gradient(X, W, Y)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6 * np.abs(W).sum() / 100)
    np.testing.assert_array_equal(k.gradient(X, W, Y, n_jobs=1), k.gradient(X, W, Y, n_jobs=2))


def test_marginal_likelihood_goes_up_along_its_gradient(rng):
    """What gradients are for: dL/dlog theta = sum_ij W_ij dK_ij, W = (a a' - K^-1)/2, a = K^-1 y."""
    X = rng.normal(size=(40, 2))
    y = np.sin(2 * X[:, 0])
    k = 1.0 * Gaussian([1.0, 1.0]) + White(0.1)

    def likelihood(k):
        K = k(X)
        inverse = np.linalg.inv(K)
        a = inverse @ y
        return -(y @ a + np.linalg.slogdet(K)[1]) / 2, (np.outer(a, a) - inverse) / 2

    before, W = likelihood(k)
    slope = k.gradient(X, W)
    values = np.array([value for _, value in k.parameters])
    after, _ = likelihood(k.with_parameters(values * np.exp(1e-3 * slope / np.linalg.norm(slope))))
    assert after - before == pytest.approx(1e-3 * np.linalg.norm(slope), rel=0.05)


def test_kernels_without_parameters_and_automatic_ones(rng):
    X, W = rng.normal(size=(5, 2)), np.ones((5, 5))
    assert Linear().gradient(X, W).shape == (0,)
    np.testing.assert_array_equal(Gaussian("auto").gradient(X, W), Gaussian("auto").resolve(X).gradient(X, W))
    with pytest.raises(ValueError, match=r"W must have one number per pair of rows, shape \(5, 5\), got \(5, 4\)"):
        Gaussian().gradient(X, W[:, :4])


def test_parameters():
    k = 2 * Gaussian([1, 3]) + Laplacian(5) + Laplacian(7)
    assert k.parameters == [
        ("factor", 2.0),
        ("gaussian.length_scale[0]", 1.0),
        ("gaussian.length_scale[1]", 3.0),
        ("laplacian.length_scale", 5.0),
        ("laplacian.length_scale", 7.0),
    ]
    assert str(k.with_parameters([1.5, 2, 4, 6, 8])) == "1.5*gaussian([2, 4]) + laplacian(6) + laplacian(8)"
    assert Gaussian(1).with_parameters(np.array([2.5])) == Gaussian(2.5) and isinstance(Gaussian(1).with_parameters([2]), Gaussian)
    assert Matern(2.5, 1).with_parameters([3]).nu == 2.5
    for values, message in (
        ([1, 2], r"has 5 parameters, got 2 values"),
        ([1, 2, 3, 4, 0], r"laplacian.length_scale must be a finite number > 0, got 0"),
        ([1, 2, 3, 4, np.nan], r"must be a finite number > 0, got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            k.with_parameters(values)
    with pytest.raises(ValueError, match=r"gaussian\(auto\) has no length scale yet: k.resolve\(X\) sets it"):
        Gaussian("auto").parameters  # noqa: B018
