"""Completion: the scripts that the tool writes, driven in real shells."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import select
import shutil
import subprocess
import time

import pytest

pty = pytest.importorskip("pty")


@pytest.fixture
def folder(tmp_path):
    for name in ("train.csv", "test file.csv", "model.mercer"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.csv").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.fixture
def bash(mercer, folder):
    """The words that bash offers for a line that ends at the cursor, by its own breaking of words."""
    script = mercer("completion", "bash").out

    def complete(line):
        broken = [piece for piece in re.split(r"([:=])|\s+", line) if piece]  # as COMP_WORDBREAKS has it; no quotes in these
        if line.endswith(" "):
            broken.append("")
        current = "" if broken[-1] in (":", "=") else broken[-1]
        words = " ".join(f"'{word}'" for word in broken)
        program = (f"{script}\nCOMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); COMP_CWORD={len(broken) - 1}\n"
                   f"_mercer mercer '{current}' ''\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, cwd=folder, timeout=20)
        assert done.stderr == b"", done.stderr.decode()
        return sorted(word for word in done.stdout.decode().split("\n") if word)

    return complete


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mercer le", ["learn"]),
        ("mercer fit kr", ["krr"]),
        ("mercer embed ", ["apply", "ekm", "kpca", "nystrom", "pca", "rff"]),
        ("mercer fit krr --alp", ["--alpha", "--alphas"]),
        ("mercer fit krr train.csv --tas", ["--task"]),
        ("mercer fit krr train.csv --task ", ["auto", "classify", "regress"]),
        ("mercer fit krr train.csv --task=cl", ["classify"]),
        ("mercer compare a.csv b.csv --null perm", ["permutation"]),
        ("mercer fit krr --kernel lapl", ["laplacian"]),
        ("mercer fit krr --kernel=gaus", ["gaussian"]),
        ("mercer kernels per", ["periodic"]),
        ("mercer learn builtin:wa", ["waves"]),  # bash keeps builtin: as a word of its own
        ("mercer learn builtin:", None),
        ("mercer learn tr", ["train.csv"]),
        ("mercer learn --seed 3 tr", ["train.csv"]),
        ("mercer predict mod", ["model.mercer"]),
        ("mercer predict model.mercer sub/", ["sub/inner.csv"]),
        ("mercer fit krr train.csv --out mo", ["model.mercer"]),
        ("mercer gram train.csv --table glove=tr", ["train.csv"]),
        ("mercer completion ", ["bash", "zsh"]),
        ("mercer fit krr train.csv --alpha ", []),
        ("mercer convert train.csv out.svm --to lib", ["libsvm"]),
    ],
)
def test_bash_offers(bash, mercer, line, words):
    offered = bash(line)
    if words is None:
        assert {"waves", "moons"} <= set(offered)
        return
    assert offered == words


def test_every_option_of_every_command_is_offered(bash, mercer):
    for command in ("learn", "fit svc", "weights shift", "drift"):
        help_text = mercer(*command.split(), "--help").out
        known = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.M))
        assert known and known <= set(bash(f"mercer {command} --"))


def at_prompt(shell, environment, keys, folder):
    """Types keys at an interactive shell; returns what stood on its terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(shell[0], shell, {**os.environ, "TERM": "xterm", "PS1": "$ ", **environment})
    shown = b""
    try:
        for key, wanted in keys:
            os.write(fd, key.encode())
            end = time.monotonic() + 10
            while time.monotonic() < end and wanted.encode() not in shown:
                if select.select([fd], [], [], 0.2)[0]:
                    try:
                        shown = re.sub(rb"\a|\x1b\[[0-9;?]*[A-Za-z]", b"", shown + os.read(fd, 4096))  # no bells, no colours
                    except OSError:
                        break
            assert wanted.encode() in shown, shown.decode(errors="replace")
            if key.endswith("\n"):
                shown = b""
    finally:
        os.close(fd)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def test_bash_at_the_prompt(mercer, folder):
    (folder / "script").write_text(mercer("completion", "bash").out)
    keys = [
        ("source ./script; echo re''ady\n", "ready"),
        ("mercer lea\t", "mercer learn "),
        ("bui\t", "builtin:"),
        ("wav\t", "builtin:waves "),
        ("--kernel 'gaussian(2) + lap\t", "gaussian(2) + laplacian"),
        ("(1)' --task=cla\t", "--task=classify "),
        ("--out sub/in\t", "sub/inner.csv "),
    ]
    at_prompt(["bash", "--norc", "--noprofile", "-i"], {"INPUTRC": "/dev/null"}, keys, folder)


def test_zsh_accepts_the_script(mercer, folder):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")
    (folder / "_mercer").write_text(mercer("completion", "zsh").out)
    done = subprocess.run(["zsh", "-f", "-n", "_mercer"], capture_output=True, cwd=folder, timeout=20)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()


def test_zsh_at_the_prompt(mercer, folder):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")
    (folder / "_mercer").write_text(mercer("completion", "zsh").out)
    keys = [
        ("PS1='$ '; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; echo re''ady\n", "ready"),
        ("mercer lea\t", "learn "),
        ("builtin:wav\t", "builtin:waves"),
        (" --kernel gaus\t", "gaussian"),
        (" --task=cla\t", "classify"),
        (" --hold\t", "--holdout"),
        ("\x15mercer fit kr\t", "krr "),
        ("tra\t", "train.csv"),
        ("\x15mercer fi\t", "mercer fit "),
    ]
    at_prompt(["zsh", "-f", "-i"], {}, keys, folder)


def test_the_script_as_json(mercer):
    answer = mercer("completion", "zsh", "--json").json
    assert answer["shell"] == "zsh" and answer["script"] == mercer("completion", "zsh").out
    assert "SHELL: must be bash|zsh, got fish" in mercer.fails(2, "completion", "fish")
