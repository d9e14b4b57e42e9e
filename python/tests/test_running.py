"""Threads, Ctrl-C, fork, progress: how jobs run inside a Python process."""
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import mercer
from mercer import _mercer, _run


def run_python(code, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **options)


INTERRUPTED = """
    import signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with Ctrl-C ignored
    import numpy as np
    import mercer
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=({n}, 10)), rng.normal(size={n})
    print("ready", flush=True)
    try:
        while True:
            {work}
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
    small = mercer.KernelRidge(kernel="gaussian(1)").fit(X[:200], y[:200])
    assert np.isfinite(small.predict(X[:50])).all()
    print("usable", flush=True)
"""


@pytest.mark.parametrize(
    ("n", "work"),
    [
        (8000, 'mercer.KernelRidge(0.1, kernel="gaussian(1)").fit(X, y)'),
        (8000, 'mercer.KernelRidge(0, kernel="gaussian(1)").fit(X[:3000], y[:3000])'),
        (20000, 'mercer.gram(X[:8000], kernel="laplacian(1)")'),
        (3000, "mercer.two_sample_test(X[:1500], X[1500:], n_permutations=100000, verbose=1)"),
        (3000, "mercer.SVCCV(C=[0.1, 1, 10, 100], cv=10, abandon=False, verbose=1).fit(X, y > 0)"),
    ],
    ids=["Cholesky", "eigen", "gram", "permutations", "search"],
)
def test_ctrl_c_stops_a_job_within_a_second(n, work):
    code = textwrap.dedent(INTERRUPTED).format(n=n, work=work)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, err
    stopped = re.match(r"interrupted ([\d.]+)\nusable\n", out)
    assert stopped, out + err
    assert float(stopped[1]) - sent < 1.0


def test_an_error_in_the_progress_callback_stops_the_job_and_is_raised(rng):
    X = rng.normal(size=(3000, 5))

    def tell(stage, fraction, seconds):
        raise LookupError(f"no more {stage}")

    from mercer import _data

    S = _data.samples(X)
    with pytest.raises(LookupError, match="no more "):
        for _ in range(50):
            _mercer.gram(_mercer.gaussian(1.0), S, S, False, 0, 0, tell)
    assert mercer.gram(X[:10], kernel="gaussian").shape == (10, 10)


def test_fork_works_in_the_child():
    done = run_python(
        """
        import os
        import numpy as np
        import mercer
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(600, 4)), rng.normal(size=600)
        model = mercer.KernelRidge(0.1, kernel="gaussian(1)")
        expected = model.fit(X, y).predict(X)
        pid = os.fork()
        if pid == 0:
            same = np.array_equal(mercer.KernelRidge(0.1, kernel="gaussian(1)").fit(X, y).predict(X), expected)
            singular = mercer.Ridge(0).fit(X, y).rank_ == 4 and mercer.KernelRidge(0, kernel="linear").fit(X, y).summary_.rank == 4
            os._exit(0 if same and singular else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        assert np.array_equal(model.fit(X, y).predict(X), expected)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


def test_forking_multiprocessing_pool():
    done = run_python(
        """
        import multiprocessing
        import numpy as np
        import mercer
        X = np.random.default_rng(0).normal(size=(300, 4))
        mercer.gram(X, kernel="gaussian")
        def work(i):
            return float(mercer.KernelRidge(kernel="gaussian(1)").fit(X, X[:, i]).predict(X).sum())
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(work, [0, 1, 2, 3]) == [work(i) for i in range(4)]
            print("done")
        """
    )
    assert done.stdout == "done\n", done.stderr


def test_other_threads_run_while_the_library_works(rng):
    import threading

    X, y = rng.normal(size=(2500, 10)), rng.normal(size=2500)
    ticks, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        start = ticks[0]
        mercer.KernelRidge(kernel="gaussian(1)", n_jobs=1).fit(X, y)
        seen = ticks[0] - start
    finally:
        stop.set()
        counter.join()
    assert seen >= 5


def test_n_jobs(monkeypatch):
    monkeypatch.delenv("MERCER_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert _run.threads(None) == 0 and _run.threads(3) == 3
    assert _run.threads(-1) == _mercer.default_threads() and _run.threads(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _run.threads(None) == 1
    monkeypatch.setenv("MERCER_NUM_THREADS", "2")
    assert _run.threads(None) == 0


def test_memory():
    assert _run.memory_bytes(None) == 0 and _run.memory_bytes(1e9) == 10**9 and _run.memory_bytes("2K") == 2048


def test_verbose_writes_stages_to_stderr_only(rng, capfd):
    X, y = rng.normal(size=(4000, 10)), rng.normal(size=4000)  # long enough for some stage to report
    mercer.KernelRidge(kernel="gaussian(1)", verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    assert out == "" and re.search(r"(Gram matrix|Cholesky|K V).*: \d+\.\d s", err)
    mercer.KernelRidge(kernel="gaussian(1)").fit(X, y)
    assert capfd.readouterr() == ("", "")


def drawn(err):
    """What each redrawing put on the line."""
    return [line.rstrip() for line in err.strip("\n").split("\r")[1:]]


def test_the_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with _run.progress(True) as bar:
        bar("Gram matrix", 1.0, 0.25)
        bar("Cholesky", 0.25, 2.0)
        bar("Cholesky", 0.005, 0.5)  # again, from its beginning
    lines = drawn(capsys.readouterr().err)
    assert lines[1] == "Cholesky                 [#######-----------------------]  25%    2.0 s, 6 s left"
    assert lines[2] == "Cholesky                 [------------------------------]   0%    0.5 s"
    assert lines[3:] == ["Gram matrix: 0.2 s, Cholesky: 2.5 s"]
    with pytest.raises(KeyboardInterrupt), _run.progress(True) as bar:
        bar("Gram", 0.25, 600)
        raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith(" 25%  600.0 s, 30 min left\n")


def test_the_bar_never_wraps(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    with _run.progress(True) as bar:
        bar("a stage with a name that is long", 0.5, 1.0)
    assert max(map(len, drawn(capsys.readouterr().err))) == 39


def test_the_bar_in_a_notebook_is_redrawn(monkeypatch, capsys):
    stream = type("OutStream", (), {"__module__": "ipykernel.iostream", "isatty": lambda self: False})()
    assert _run._redraws(stream)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not _run._redraws(sys.stderr)


def test_a_log_gets_few_lines(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "dumb")
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(_run.time, "monotonic", lambda: next(clock))
    with _run.progress(1) as bar:
        for i in range(8):  # ten seconds each, two stages in turn
            bar(("Gram matrix", "descent")[i % 2], 0.5, 3.0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) <= 5 and lines[-2:] == ["Gram matrix: 12.0 s", "descent: 12.0 s"]
    assert all(line.endswith(": 50%, 3.0 s, 3 s left") for line in lines[:-2]) and len(lines) > 2


def test_gram_memory_is_huge_pages_and_used_again(rng):
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"):
        pytest.skip("no huge pages on this system")
    X = rng.normal(size=(1500, 3))
    K = mercer.gram(X, kernel="gaussian")
    first = K.ctypes.data
    assert first % (2 << 20) == 0
    del K
    assert mercer.gram(X, kernel="gaussian").ctypes.data == first


def test_a_view_keeps_the_gram_matrix_alive(rng):
    X = rng.normal(size=(600, 3))
    K = mercer.gram(X, kernel="gaussian(1)")
    row = K[7].copy()
    view = K[7]
    del K
    for _ in range(3):
        mercer.gram(X, kernel="linear")
    np.testing.assert_array_equal(view, row)


def test_nothing_is_kept_when_samples_and_models_die(rng):
    from mercer import _data

    X = rng.normal(size=(300, 4))
    before = sys.getrefcount(X)
    S = _data.samples(X)
    model = _mercer.fit_kernel_ridge(S, np.ones((300, 1)), _mercer.gaussian(1.0), np.ones(1), None, False, np.empty(0), None, _mercer.KernelRidgeSolver.auto, 1e-10, False)
    assert sys.getrefcount(X) > before
    view = model.samples.arrays()
    del S, model
    assert sys.getrefcount(X) > before  # the view still looks into X
    del view
    assert sys.getrefcount(X) == before
