"""The examples and the docstrings run, and print what they say. The pages of the documentation are run by tests/docs."""
import doctest
import importlib
import inspect
import pkgutil
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
    for text in ("machines.png: a picture", "tuning.png: a picture", "orders.png: a picture", "digits.png: a picture", "dna.png: a picture"):
        assert text in done.stdout
    for text in ("is no kernel on R^2", "= <f, k(1, .)> =", "gaussian.length_scale", "by our own kernel"):
        assert text in done.stdout


def public_names():
    """Every class and function that users can name, once, by the name they use."""
    found = {}
    for home in (mercer, mercer.kernels, mercer.datasets, mercer.plot):
        for name in home.__all__:
            thing = getattr(home, name)
            if not inspect.ismodule(thing):
                found.setdefault(id(thing), (f"{home.__name__}.{name}", thing))
    return dict(found.values())


PUBLIC = public_names()
MODULES = [mercer, *(importlib.import_module(f"mercer.{m.name}") for m in pkgutil.iter_modules(mercer.__path__) if m.name != "_mercer"), mercer.plot]


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all") if hasattr(matplotlib, "pyplot") else None


def run(name, tests):
    """Runs examples quietly and says which failed; skipping one is not allowed."""
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    for test in tests:
        assert not any(doctest.SKIP in example.options for example in test.examples), f"an example of {name} is skipped"
        runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_has_an_example_that_runs(name):
    text = inspect.cleandoc(PUBLIC[name].__doc__ or "")  # its own, not that of a class above
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples, f"{name} has no example: add three lines of >>> to its docstring"
    run(name, [test])


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_docstrings_of_modules_and_methods(module):
    own = {thing.__qualname__ for thing in PUBLIC.values() if getattr(thing, "__module__", None) == module.__name__}
    tests = doctest.DocTestFinder(exclude_empty=True).find(module)
    run(module.__name__, [test for test in tests if test.examples and test.name.removeprefix(module.__name__ + ".") not in own])


def test_public_signatures_have_annotations():
    """A type checker sees every parameter; of classes those of __init__, which estimators list one by one."""
    missing = []
    for name, thing in PUBLIC.items():
        if "_mercer" in getattr(thing, "__module__", ""):
            continue  # compiled: the stub has them
        f = thing.__init__ if inspect.isclass(thing) else thing
        if not inspect.isfunction(f):
            continue
        parameters = [p for p in inspect.signature(f).parameters.values() if p.name not in ("self", "cls")]
        missing += [f"{name}({p.name})" for p in parameters if p.annotation is inspect.Parameter.empty]
    assert not missing


def test_type_information_ships():
    package = Path(mercer.__file__).parent
    assert (package / "py.typed").exists()
    stub = (package / "_mercer.pyi").read_text()
    for name in ("class Samples", "class KernelRidgeModel", "def fit_kernel_ridge", "def gram(", "class GramCheck", "class BochnerCheck", "class RkhsFunction"):
        assert name in stub
