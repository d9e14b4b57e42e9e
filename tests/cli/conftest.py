"""Runs the built tool as people do: a subprocess, its exit status, what it printed where.

The tool is $MERCER_TOOL, else build/release/bin/mercer.
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("MERCER_TOOL", ROOT / "build" / "release" / "bin" / "mercer"))


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    @property
    def json(self):
        return json.loads(self.out)


class Tool:
    """mercer(*words) must succeed; mercer.fails(status, *words) must fail and returns the message."""

    path = str(TOOL)

    def __init__(self, folder):
        self.folder = folder

    def run(self, *words, stdin=b""):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        command = [self.path, *map(str, words)]
        return Result(subprocess.run(command, input=stdin, capture_output=True, cwd=self.folder, timeout=60))

    def __call__(self, *words, stdin=b""):
        result = self.run(*words, stdin=stdin)
        assert result.status == 0, result.err
        return result

    def fails(self, status, *words, stdin=b""):
        before = sorted(self.folder.iterdir())
        result = self.run(*words, stdin=stdin)
        assert result.status == status, (result.status, result.out, result.err)
        assert result.err.startswith("mercer: "), result.err
        assert result.out == "" or (status == 1 and result.out.startswith(("The target is ", "Column ")))  # said before the work begins
        assert sorted(self.folder.iterdir()) == before, "a failed command left a file"
        return result.err[len("mercer: "):].rstrip("\n")


@pytest.fixture(scope="session", autouse=True)
def tool_is_built():
    assert TOOL.exists(), f"{TOOL} is not built: make build"


@pytest.fixture
def mercer(tmp_path):
    return Tool(tmp_path)


@pytest.fixture
def table(tmp_path):
    """A small regression table: y = x1^2 - x2 with a bit of structure."""
    lines = ["x1,x2,y"]
    for i in range(40):
        a, b = (i * 7 % 40) / 10 - 2, (i * 3 % 40) / 8
        lines.append(f"{a},{b},{a * a - b + 0.01 * (i % 3)}")
    path = tmp_path / "train.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def flowers(tmp_path):
    """Three classes with words as labels, one text column, a column that identifies rows."""
    lines = ["id,size,colour,kind"]
    for i in range(30):
        kind = ["oak", "elm", "fir, blue"][i % 3]
        lines.append(f'row{i},{i % 3 + 0.01 * i},{"red" if i % 2 else "green"},"{kind}"')
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
