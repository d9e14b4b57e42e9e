"""Kernels written in Python, run from several threads: exceptions, nesting, Ctrl-C, and what is kept alive."""
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import mercer
from mercer.kernels import Constant, Gaussian, Linear, Polynomial

N = 700  # three tiles by three


def dot(A, B):
    return A @ B.T


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exceptions_of_many_tiles_reach_the_caller_as_one(n_jobs, X):
    """Away from the diagonal, so that they come from whichever thread has the tile."""

    class Odd(Exception):
        pass

    def f(A, B):
        if A[0, 0] != B[0, 0]:
            time.sleep(0.002)
            raise Odd("not these")
        return A @ B.T

    k = mercer.kernel_function(f, name="picky")
    for _ in range(5):
        with pytest.raises(Odd, match="not these") as caught:
            k(X, n_jobs=n_jobs)
        assert caught.value.__notes__[0].startswith("raised in the kernel function 'picky', which Mercer called with blocks of 256 and ")
        assert "raise Odd" in str(caught.traceback[-1].statement)  # the traceback leads into the function
        with pytest.raises(Odd):
            mercer.KernelRidge(kernel=k, n_jobs=n_jobs).fit(X, X[:, 0])
        with pytest.raises(Odd):
            k(X, X[::-1].copy(), n_jobs=n_jobs)
    assert Linear()(X, n_jobs=n_jobs).shape == (N, N)


def test_a_function_may_use_mercer_itself(X):
    for n_jobs in (1, 2):
        k = mercer.kernel_function(lambda A, B: Gaussian(2)(A, B) + Polynomial(2)(A, B, n_jobs=2))
        np.testing.assert_allclose(k(X, n_jobs=n_jobs), (Gaussian(2) + Polynomial(2))(X), rtol=1e-11)


def test_other_python_threads_and_kernels_at_the_same_time(X):
    k, results = mercer.kernel_function(dot), []

    def work():
        for _ in range(3):
            results.append(k(X, n_jobs=2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(results) == 12 and all(np.array_equal(K, results[0]) for K in results)


def test_functions_are_let_go():
    class Big:
        def __call__(self, A, B):
            return A @ B.T

    f = Big()
    watch = weakref.ref(f)
    k = mercer.kernel_function(f) + Constant(1)
    k([[1.0]])
    model = mercer.KernelRidge(kernel=k).fit([[1.0], [2.0]], [1.0, 2.0])
    del f, k
    gc.collect()
    assert watch() is not None and str(model.kernel_).startswith("function(")
    del model
    gc.collect()
    assert watch() is None


def test_rows_that_a_function_keeps_stay_valid(X):
    kept = []
    model = mercer.KernelRidge(kernel=mercer.kernel_function(lambda A, B: (kept.append(A), A @ B.T)[1])).fit(X[:50], X[:50, 0])
    row = X[3].copy()
    model.model_.decision(row)
    del row
    junk = [np.zeros(3) for _ in range(1000)]
    np.testing.assert_array_equal(kept[-1][0], X[3])
    assert len(junk) == 1000


@pytest.mark.parametrize("work", ["k(X)", "mercer.KernelRidge(kernel=k).fit(X, X[:, 0])"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c(work, n_jobs):
    code = f"""
    import os, signal, time
    os.environ["MERCER_NUM_THREADS"] = "{n_jobs}"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np, mercer
    X = np.random.default_rng(0).normal(size=(3000, 4))
    def slow(A, B):
        end = time.time() + 0.05
        while time.time() < end:
            pass
        return A @ B.T
    k = mercer.kernel_function(slow)
    print("ready", flush=True)
    try:
        while True:
            {work}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(mercer.gram(X[:100], kernel="linear").shape)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert out == "interrupted\n(100, 100)\n", err
    assert time.time() - sent < 2
