"""The examples and the docstrings run, and print what they say. The pages of the documentation are run by tests/docs."""
import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parents[2]


def test_examples():
    files = sorted((ROOT / "examples" / "python").glob("*.py"))
    assert len(files) >= 5
    program = "import runpy, sys\nfor f in sys.argv[1:]:\n    print('>>', f); runpy.run_path(f, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program, *map(str, files)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for text in ("gaussian(0.5)", "best: {", "psd: True", "least squares: the curve", "loaded: KernelRidge"):
        assert text in done.stdout
    for text in ("is no kernel on R^2", "= <f, k(1, .)> =", "gaussian.length_scale", "by our own kernel"):
        assert text in done.stdout


MODULES = [mercer, mercer._kernel, mercer.kernels, mercer._kernel_ridge, mercer._ridge, mercer._diagnosis, mercer._rkhs]
MODULES += [mercer._monomials, mercer._kernel_maps, mercer._sketches, mercer._matrix_function, mercer._random_fourier]
MODULES += [mercer._aggregated]
MODULES += [mercer._coresets, mercer._mean_matching, mercer._mixture]
MODULES += [mercer._mean_embedding, mercer._witness, mercer._change_points, mercer._drift]
MODULES += [mercer._independence]
MODULES += [mercer._conditional_independence, mercer._goodness_of_fit, mercer._k_sample]
MODULES += [mercer._two_sample]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0


def test_type_information_ships():
    package = Path(mercer.__file__).parent
    assert (package / "py.typed").exists()
    stub = (package / "_mercer.pyi").read_text()
    for name in ("class Samples", "class KernelRidgeModel", "def fit_kernel_ridge", "def gram(", "class GramCheck", "class BochnerCheck", "class RkhsFunction"):
        assert name in stub
