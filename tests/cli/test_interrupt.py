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
