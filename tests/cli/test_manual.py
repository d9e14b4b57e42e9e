"""The manual page: valid roff, with every command and option."""
# SPDX-License-Identifier: BSD-3-Clause
import re
import shutil
import subprocess

import pytest


@pytest.fixture
def page(mercer):
    return mercer("man").out


def test_groff_has_no_warnings(page):
    if shutil.which("groff") is None:
        pytest.skip("groff is not here")
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=page.encode(), capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()


def test_man_shows_it_without_warnings(page, tmp_path):
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("man is not here")
    (tmp_path / "mercer.1").write_text(page)
    done = subprocess.run(["man", "-l", "--warnings", "./mercer.1"], capture_output=True, cwd=tmp_path, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "90", "PAGER": "cat"})
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()
    text = re.sub(".\b", "", done.stdout.decode())
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "SHARED OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
        assert f"\n{heading}\n" in text
    assert "mercer fit krr train.csv --target price --out model.mercer" in text  # to be copied as it stands


def test_it_has_every_command_and_option(mercer, page):
    plain = page.replace("\\-", "-")
    for command in ("learn", "predict", "compare", "gram"):
        assert f".SS mercer {command}\n" in plain
        for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", mercer(command, "--help").out, re.M):
            assert f"\\fB{option}\\fR" in plain, (command, option)
    assert ".SS mercer fit linear-svc\n" in plain and ".SS mercer weights shift\n" in plain


def test_the_page_as_json(mercer, page):
    assert mercer("man", "--json").json == {"page": page}
