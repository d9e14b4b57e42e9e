"""Mercer: kernel methods to learn, explore, test and reweight.

>>> import mercer
>>> X, y = mercer.datasets.waves()
>>> model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)
>>> model.predict([[1.0]]).shape
(1,)
"""
# SPDX-License-Identifier: BSD-3-Clause
from . import _blas

_blas.choose_kernels()  # before anything loads the compiled part

from . import datasets, kernels
from ._diagnosis import (
    BochnerCheck,
    EntryPair,
    GramCheck,
    GramRepair,
    KernelCheck,
    check_bochner,
    check_gram,
    check_kernel,
    repair_gram,
)
from ._errors import FileError
from ._falkon import FalkonClassifier, FalkonRegressor
from ._files import TableModel, info, load, save
from ._gaussian_process import GaussianProcessRegressor
from ._gram import gram
from ._kernel_learning import KernelScore, LearnedKernel, learn_kernel, score_kernel, with_ard
from ._kernel_logistic import KernelLogisticRegression
from ._kernel_mean import KernelMeanClassifier
from ._kernel_ridge import KernelRidge
from ._kernel_ridge_cv import KernelRidgeCV
from ._linear_svc import LinearSVC
from ._kernel_sgd import KernelSGDClassifier
from ._mercer import version
from ._nystroem import Nystroem
from ._preimage import Preimages, preimage_methods, preimages
from ._random_features import RandomFeatureRidge, RandomFeatureRidgeClassifier
from ._random_fourier import RandomFourierFeatures
from ._representer import RepresenterRegressor
from ._ridge import Ridge, monomials
from ._rkhs import RKHSFunction, feature_distance
from ._svc import SVC, NuSVC
from ._svr import SVR, NuSVR, OneClassSVM
from ._svm_cv import SVCCV, SVRCV
from ._structured_svm import StructuredSVM
from ._kernel_kmeans import ClusterChoice, KernelKMeans, choose_k, silhouette_samples, silhouette_score
from ._spectral_clustering import SpectralClustering
from ._kernel_pca import KernelPCA
from ._pca import PCA
from .kernels import Kernel, feature_map, kernel, kernel_function
from ._kernel_maps import EmpiricalKernelMap, MercerMap
from ._matrix_function import matrix_function
from ._monomials import Monomials
from ._sketches import AdditiveChi2Sampler, TensorSketch
from ._test_result import TestResult
from ._aggregated import AggregatedResult, hsic_aggregated_test, mmd_aggregated_test, mmd_fuse_test, with_bandwidths
from ._coresets import Coreset, herd, squash, thin
from ._mean_matching import KernelMeanMatching
from ._mixture import MixtureWeights, mixture_weights
from ._independence import HSIC, correlation_test, hsic, independence_test, joint_independence_test
from ._conditional_independence import conditional_independence_test
from ._goodness_of_fit import Normal, NormalMixture, goodness_of_fit_test
from ._k_sample import KSampleResult, k_sample_test
from ._two_sample import MMD, LevelCheck, PowerEstimate, level_check, mmd, two_sample_power, two_sample_test
from . import plot, plots
from ._mean_embedding import EmbeddingBound, MeanEmbedding, mean_embedding
from ._witness import ColumnContribution, ColumnTable, TellingPoint, TellingPoints, Witness, WitnessGrid, witness
from ._change_points import ChangePointTest, ChangePoints, change_point_test, change_points
from ._drift import DriftMonitor, DriftUpdate

__version__: str = version()

__all__ = [
    "BochnerCheck",
    "EntryPair",
    "FalkonClassifier",
    "FalkonRegressor",
    "FileError",
    "GaussianProcessRegressor",
    "GramCheck",
    "GramRepair",
    "Kernel",
    "KernelCheck",
    "KernelLogisticRegression",
    "KernelMeanClassifier",
    "KernelRidge",
    "KernelSGDClassifier",
    "KernelScore",
    "LearnedKernel",
    "LinearSVC",
    "Nystroem",
    "KernelRidgeCV",
    "RKHSFunction",
    "RandomFeatureRidge",
    "RandomFeatureRidgeClassifier",
    "RandomFourierFeatures",
    "RepresenterRegressor",
    "Ridge",
    "SVCCV",
    "SVRCV",
    "StructuredSVM",
    "TableModel",
    "check_bochner",
    "check_gram",
    "check_kernel",
    "datasets",
    "feature_distance",
    "feature_map",
    "gram",
    "info",
    "kernel",
    "kernel_function",
    "kernels",
    "learn_kernel",
    "load",
    "monomials",
    "repair_gram",
    "save",
    "score_kernel",
    "with_ard",
    "SVC",
    "NuSVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "Preimages",
    "preimage_methods",
    "preimages",
    "ClusterChoice",
    "KernelKMeans",
    "SpectralClustering",
    "choose_k",
    "silhouette_samples",
    "silhouette_score",
    "AdditiveChi2Sampler",
    "EmpiricalKernelMap",
    "MercerMap",
    "Monomials",
    "TensorSketch",
    "matrix_function",
    "KernelPCA",
    "PCA",
    "TestResult",
    "plot",
    "plots",
    "AggregatedResult",
    "hsic_aggregated_test",
    "mmd_aggregated_test",
    "mmd_fuse_test",
    "with_bandwidths",
    "Coreset",
    "KernelMeanMatching",
    "MixtureWeights",
    "herd",
    "mixture_weights",
    "squash",
    "thin",
    "EmbeddingBound",
    "MeanEmbedding",
    "mean_embedding",
    "ColumnContribution",
    "ColumnTable",
    "TellingPoint",
    "TellingPoints",
    "Witness",
    "WitnessGrid",
    "witness",
    "ChangePointTest",
    "ChangePoints",
    "change_point_test",
    "change_points",
    "DriftMonitor",
    "DriftUpdate",
    "HSIC",
    "correlation_test",
    "hsic",
    "independence_test",
    "joint_independence_test",
    "conditional_independence_test",
    "Normal",
    "NormalMixture",
    "goodness_of_fit_test",
    "KSampleResult",
    "k_sample_test",
    "LevelCheck",
    "MMD",
    "PowerEstimate",
    "level_check",
    "mmd",
    "two_sample_power",
    "two_sample_test",
]
