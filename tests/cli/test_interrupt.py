"""Ctrl-C in the middle of work: the tool ends within a second with status 130 and leaves nothing behind."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import subprocess
import time

import pytest


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "big.csv"
    with open(path, "w") as out:
        out.write("a,b,c,y\n")
        for i in range(9000):
            out.write(f"{i * 7919 % 9000 / 1000},{i * 104729 % 9000 / 1000},{i % 13},{i % 101}.5\n")
    return path


@pytest.fixture
def start(mercer, tmp_path):
    """Starts the tool; whatever the test does, no process outlives it."""
    started = []

    def run(*words):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen([mercer.path, *map(str, words)], cwd=tmp_path, **pipes))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


def wait_until_working(process, estimate):
    """The estimate comes right before the work; then a moment more."""
    line = process.stderr.readline().decode()
    assert estimate in line and "of memory" in line, line
    time.sleep(0.15)
    assert process.poll() is None, "the work was over before it could be interrupted"


@pytest.mark.parametrize(
    ("words", "estimate"),
    [
        (["fit", "krr", "--out", "m.mercer"], "kernel ridge on 9000 rows: about "),
        (["gram", "--check", "--out", "K.npy"], "Gram matrix of 9000 rows: about "),
        (["gram", "--repair", "clip", "--out", "K.npy"], "Gram matrix of 9000 rows: about "),
        (["learn", "--out", "m.mercer", "--report", "r.html"], "learning from 9000 rows: about "),
        (["compare", "BIG", "--report", "r.html"], "comparing 18000 rows: about "),
        (["depend", "--x", "a", "--y", "b", "--report", "r.html"], "testing 9000 rows: about "),
    ],
)
def test_ctrl_c_stops_within_a_second(start, big, tmp_path, words, estimate):
    process = start(*[big if word == "BIG" else word for word in words], big, "--threads", "1")
    wait_until_working(process, estimate)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - sent < 1
    assert process.returncode == 130
    assert err.decode() == "mercer: stopped\n"
    assert os.listdir(tmp_path) == []


def test_ctrl_c_while_writing_leaves_no_file(start, big, tmp_path):
    process = start("gram", big, "--out", "K.csv", "--threads", "1")  # about a gigabyte of text
    end = time.monotonic() + 60
    while not (names := os.listdir(tmp_path)) and time.monotonic() < end:
        time.sleep(0.01)
    assert len(names) == 1 and names[0].endswith(".part"), names
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - sent < 1
    assert os.listdir(tmp_path) == []


def test_ctrl_c_while_writing_to_standard_output(start, big):
    process = start("gram", big, "--out", "-", "--threads", "1")
    process.stdout.read(1000)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    process.stdout.close()
    assert process.wait(30) == 130
    assert time.monotonic() - sent < 1


def test_termination_is_status_143(start, big, tmp_path):
    process = start("fit", "krr", big, "--out", "m.mercer", "--threads", "1")
    wait_until_working(process, "kernel ridge")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    assert os.listdir(tmp_path) == []


def test_waiting_for_input_stops_at_once(start, tmp_path):
    process = start("fit", "krr", "-", "--out", "m.mercer")
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert time.monotonic() - sent < 1
    assert process.stderr.read().decode() == "mercer: stopped\n"
    assert os.listdir(tmp_path) == []


def seconds_used(process):
    """Processor time; None when it is over."""
    try:
        fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_busy(process, seconds=0.4):
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None and (seconds_used(process) or 0) < seconds:
        time.sleep(0.02)
    assert process.poll() is None, f"it was over before it could be interrupted: {process.communicate()}"


@pytest.fixture(scope="module")
def bigger(tmp_path_factory):
    """Enough rows for seconds of work in every command."""
    path = tmp_path_factory.mktemp("bigger") / "bigger.csv"
    with open(path, "w") as out:
        out.write("a,b,c,kind,y\n")
        for i in range(14000):
            out.write(f"{i * 7919 % 14000 / 1000},{i * 104729 % 14000 / 1000},{i % 13}.{i % 7},{'uv'[i * i % 11 % 2]},{i % 101}.5\n")
    return path


CLASSES = ["--target", "kind", "--drop", "y"]
NUMBERS = ["--drop", "kind"]


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "gp", "BIG", *NUMBERS, "--out", "m.mercer"],
        ["fit", "logistic", "BIG", *CLASSES, "--solver", "exact", "--out", "m.mercer"],
        ["fit", "falkon", "BIG", *NUMBERS, "--landmarks", "3000", "--out", "m.mercer"],
        ["fit", "rff", "BIG", *NUMBERS, "--components", "3000", "--out", "m.mercer"],
        ["fit", "svc", "BIG", *CLASSES, "--out", "m.mercer"],
        ["fit", "svr", "BIG", *NUMBERS, "--C", "100", "--out", "m.mercer"],
        ["fit", "sgd-svm", "BIG", *CLASSES, "--out", "m.mercer"],
        ["fit", "structured", "BIG", *CLASSES, "--kernel", "gaussian(auto)", "--out", "m.mercer"],
        ["embed", "kpca", "BIG", *NUMBERS, "--components", "20", "--out", "Z.csv", "--model", "m.mercer", "--report", "r.html"],
        ["embed", "nystrom", "BIG", *NUMBERS, "--components", "3000", "--out", "Z.csv"],
        ["embed", "ekm", "BIG", *NUMBERS, "--components", "3000", "--whiten", "--out", "Z.csv"],
        ["cluster", "kmeans", "BIG", *NUMBERS, "-k", "2-9", "--out", "l.csv", "--model", "m.mercer"],
        ["cluster", "spectral", "BIG", *NUMBERS, "-k", "2-9", "--out", "l.csv", "--report", "r.html"],
        ["weights", "shift", "BIG", "BIG", *NUMBERS, "--out", "w.csv", "--report", "r.html"],
        ["weights", "squash", "BIG", *NUMBERS, "-m", "2000", "--out", "few.csv"],
        ["changes", "BIG", *NUMBERS, "--out", "s.csv", "--report", "r.html"],
        ["drift", "BIG", "BIG", *NUMBERS, "--run-length", "100000", "--out", "s.csv"],
        ["depend", "BIG", "--all", "--permutations", "5000"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_command_stops_and_leaves_nothing(start, bigger, tmp_path, words):
    process = start(*[bigger if word == "BIG" else word for word in words], "--threads", "1")
    wait_until_busy(process)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - sent < 1.5
    assert process.returncode == 130, err.decode()
    assert err.decode().endswith("mercer: stopped\n")
    assert os.listdir(tmp_path) == []


def test_the_second_signal_ends_at_once_and_takes_the_file_along(start, big, tmp_path):
    process = start("gram", big, "--out", "K.csv", "--threads", "1")
    end = time.monotonic() + 60
    while not os.listdir(tmp_path) and time.monotonic() < end:
        time.sleep(0.01)
    # Both wait for a stopped process, so that the second comes before the work can have heard of the first.
    for sent in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        process.send_signal(sent)
    assert process.wait(10) in (130, 143)
    assert process.stderr.read().decode().endswith("mercer: stopped\n")
    assert os.listdir(tmp_path) == []


def test_a_terminal_that_closes_is_status_129(start, big, tmp_path):
    process = start("fit", "krr", big, "--out", "m.mercer", "--threads", "1")
    wait_until_working(process, "kernel ridge")
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) == 129
    assert os.listdir(tmp_path) == []


def test_ctrl_c_while_a_model_is_converted_leaves_no_file(start, mercer, tmp_path):
    """Whatever moment is hit: the file is whole or not there."""
    mercer("convert", "builtin:moons", "moons.csv")
    mercer("fit", "svc", "moons.csv", "--C", "1", "--out", "m.mercer")
    for delay in (0.0, 0.005, 0.01, 0.02, 0.04):
        process = start("convert", "m.mercer", "m.model")
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.wait(10)
        left = set(os.listdir(tmp_path)) - {"moons.csv", "m.mercer"}
        assert left in (set(), {"m.model"})
        if left:
            assert (tmp_path / "m.model").read_text().endswith("\n")
            (tmp_path / "m.model").unlink()
