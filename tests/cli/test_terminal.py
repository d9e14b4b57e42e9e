"""What a person at a terminal sees: the progress bar, colours; and that nobody else sees either."""
# SPDX-License-Identifier: BSD-3-Clause
import fcntl
import os
import re
import struct
import subprocess
import termios
import threading
import time

import pytest

pty = pytest.importorskip("pty")
ERASE = "\r\x1b[K"


@pytest.fixture
def at_terminal(mercer, tmp_path):
    """Runs the tool with standard error (or all it writes) on a terminal of some width; returns status and what stood on it."""

    def run(*words, columns=80, out=False, **variables):
        primary, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE")}
        process = subprocess.Popen([mercer.path, *map(str, words)], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=secondary,
                                   stdout=secondary if out else subprocess.DEVNULL, env={**clean, "TERM": "xterm", **variables})
        os.close(secondary)
        shown = b""
        while True:
            try:
                part = os.read(primary, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(primary)
        return process.wait(60), shown.decode().replace("\r\n", "\n")

    return run


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "many.csv"
    path.write_text("a,b,y\n" + "".join(f"{i * 7919 % 5000 / 1000},{i % 13},{i % 101}.5\n" for i in range(5000)))
    return path


def bars(shown):
    """What each redrawing of the bar showed."""
    return [part for part in shown.split(ERASE) if "%" in part]


@pytest.fixture(scope="module")
def job(many_rows):
    return ["fit", "krr", many_rows, "--threads", "1", "--solver", "cholesky"]


def test_the_bar_tells_stage_share_time_and_what_is_left(at_terminal, job):
    status, shown = at_terminal(*job)
    assert status == 0
    lines = bars(shown)
    shape = re.compile(r"^(Gram matrix|Cholesky|[A-Za-z ]+) +\[#*\.*\] +\d+ %  \d+\.\d s(, \d+ s left)?$")
    assert len(lines) > 3 and all(shape.match(line) for line in lines), lines
    assert all(len(line) < 80 for line in lines)
    assert shown.endswith(ERASE), "the bar was not erased"
    for line in lines:  # a forecast waits until there is something to go by
        seconds = float(re.search(r"(\d+\.\d) s", line)[1])
        assert "left" not in line or seconds >= 1


def test_a_long_stage_tells_what_is_left(at_terminal, many_rows):
    status, shown = at_terminal("compare", many_rows, many_rows, "--null", "permutation", "--permutations", "4000", "--threads", "1")
    assert status == 0
    assert any(re.search(r" %  \d+\.\d s, \d+ s left$", line) for line in bars(shown)), bars(shown)[-3:]


@pytest.mark.parametrize("columns", [60, 40, 25, 12, 4])
def test_the_bar_fits_a_narrow_terminal(at_terminal, job, columns):
    status, shown = at_terminal(*job, columns=columns)
    assert status == 0
    lines = [part for part in shown.split(ERASE) if part and "about" not in part]
    assert lines
    assert all(len(line) < columns for line in lines), lines


def test_a_dumb_terminal_gets_no_bar_and_no_colours(at_terminal, job):
    status, shown = at_terminal(*job, TERM="dumb")
    assert status == 0 and "\x1b" not in shown and "%" not in shown
    assert "\x1b" not in at_terminal("kernels", "gausian", TERM="dumb")[1]


def test_reading_has_a_bar_too(at_terminal, tmp_path):
    os.mkfifo(tmp_path / "slow.csv")

    def feed():
        with open(tmp_path / "slow.csv", "w") as out:
            out.write("a,b\n")
            for i in range(12):
                out.write(f"{i},2\n" * 1000)
                out.flush()
                time.sleep(0.06)

    writer = threading.Thread(target=feed)
    writer.start()
    status, shown = at_terminal("convert", "slow.csv", "fast.npy")
    writer.join()
    assert status == 0
    assert any(line.startswith("reading ") for line in bars(shown)), shown


def test_errors_are_coloured_on_a_terminal_alone(at_terminal, mercer):
    status, shown = at_terminal("kernels", "gausian")
    assert status == 2
    assert shown == '\x1b[1;31mmercer:\x1b[0m there is no kernel "gausian", \x1b[1;36mdid you mean gaussian?\x1b[0m; mercer kernels lists them\n'
    assert mercer.fails(2, "kernels", "gausian") == 'there is no kernel "gausian", did you mean gaussian?; mercer kernels lists them'


def test_headings_and_verdicts_are_bold_on_a_terminal_alone(at_terminal, mercer, table):
    assert "\x1b[1m  kernel " in at_terminal("kernels", out=True)[1]
    assert "\x1b[1mExamples:\x1b[0m" in at_terminal("learn", "--help", out=True)[1]
    shown = at_terminal("depend", table, "--x", "x1", "--y", "y", out=True)[1]
    assert "\x1b[1mx1 and y depend" in shown or "\x1b[1mNo dependence" in shown, shown
    for words in (["kernels"], ["learn", "--help"], ["depend", table, "--x", "x1", "--y", "y"]):
        assert "\x1b" not in mercer(*words).out


def test_variables_turn_colours_on_and_off(at_terminal, mercer, tmp_path):
    assert "\x1b[1" not in at_terminal("kernels", "gausian", NO_COLOR="1")[1]
    assert "\x1b[1" in at_terminal("kernels", "gausian", NO_COLOR="")[1]  # empty is as if it were not there
    for value, expected in (("1", True), ("0", False)):
        done = subprocess.run([mercer.path, "kernels", "gausian"], capture_output=True, cwd=tmp_path, env={**os.environ, "CLICOLOR_FORCE": value})
        assert (b"\x1b[1;31m" in done.stderr) == expected
    both = {**os.environ, "CLICOLOR_FORCE": "1", "NO_COLOR": "1"}
    assert b"\x1b" not in subprocess.run([mercer.path, "kernels", "gausian"], capture_output=True, cwd=tmp_path, env=both).stderr


def test_json_is_never_coloured(at_terminal, mercer, tmp_path):
    assert "\x1b" not in at_terminal("kernels", "--json", out=True)[1]
    forced = {**os.environ, "CLICOLOR_FORCE": "1"}
    done = subprocess.run([mercer.path, "kernels", "--json"], capture_output=True, cwd=tmp_path, env=forced)
    assert done.stdout.startswith(b"{") and b"\x1b" not in done.stdout


def test_names_cannot_steer_the_terminal(mercer, tmp_path):
    (tmp_path / "a.csv").write_text("x\x1b[31m,y\n1,2\n2,3\n3,5\n")
    message = mercer.fails(1, "fit", "krr", "a.csv", "--target", "z\x1b[2J")
    assert "\x1b" not in message and "has no column" in message
