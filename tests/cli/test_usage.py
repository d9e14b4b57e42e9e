"""Help, versions and every kind of wrong use."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess

import pytest

COMMANDS = ["learn", "fit", "predict", "score", "embed", "cluster", "gram", "kernels", "info", "convert"]


def test_version(mercer):
    assert mercer("--version").out == mercer("version").out == "mercer 0.1.0\n"


def test_help_is_a_word_too(mercer):
    assert mercer("help").out == mercer("help", "help").out == mercer("--help").out
    assert mercer("help", "fit", "krr").out == mercer("fit", "krr", "--help").out


def test_help_lists_every_command(mercer):
    text = mercer("--help").out
    for command in COMMANDS:
        assert f"\n  {command} " in text
    assert "Examples:" in text


@pytest.mark.parametrize("words", [[c] for c in COMMANDS] + [["fit", "krr"], ["fit", "ridge"]] + [["embed", m] for m in ("pca", "kpca", "nystrom", "rff", "ekm", "apply")] + [["cluster", m] for m in ("kmeans", "spectral", "apply")])
def test_every_command_has_help_with_examples(mercer, words):
    result = mercer(*words, "--help")
    assert "Examples:\n  mercer " + words[0] in result.out or "| mercer" in result.out
    if words not in (["fit"], ["embed"], ["cluster"]):
        assert "--json" in result.out
    assert result.err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "mercer needs a command: learn, fit, predict, score, embed, cluster, "),
        (["lern"], 'there is no command "lern", did you mean learn?; there are '
                   "learn, fit, predict, score, embed, cluster, "),
        (["xyzzy"], 'there is no command "xyzzy"; there are '),
        (["--frobnicate"], "mercer has no option --frobnicate (mercer --help)"),
        (["fit"], "mercer fit needs a model: krr, gp, ridge, rff, logistic, representer, falkon, sgd-svm, mean, svc, nu-svc, svr, nu-svr, "
                  "one-class, linear-svc, structured (mercer fit --help)"),
        (["fit", "kr", "t.csv"], 'there is no model "kr", did you mean krr?; there are krr, gp, ridge'),
        (["fit", "krr"], "DATA is required"),
        (["fit", "krr", "t.csv", "--alhpa", "1"], "mercer fit krr has no option --alhpa, did you mean --alpha? (mercer fit krr --help)"),
        (["fit", "krr", "t.csv", "--alhpa=1"], "mercer fit krr has no option --alhpa, did you mean --alpha?"),
        (["fit", "krr", "t.csv", "--degree", "2"], "mercer fit krr has no option --degree"),
        (["fit", "krr", "t.csv", "u.csv"], 'mercer fit krr does not expect "u.csv"'),
        (["fit", "krr", "t.csv", "--alpha", "-1"], "--alpha: must be a number >= 0, got -1"),
        (["fit", "krr", "t.csv", "--alpha", "nan"], "--alpha: must be a number >= 0, got nan"),
        (["fit", "krr", "t.csv", "--alpha", "two"], "--alpha: must be a number >= 0, got two"),
        (["fit", "krr", "t.csv", "--alpha"], "--alpha"),
        (["fit", "krr", "t.csv", "--alpha", "1", "--lambda", "1"], "--lambda"),
        (["fit", "krr", "t.csv", "--precision", "float16"], "--precision: must be float32|float64, got float16"),
        (["fit", "krr", "t.csv", "--scale", "some"], "--scale: must be standard|min-max|none, got some"),
        (["fit", "krr", "t.csv", "--task", "guess"], "--task: must be auto|classify|regress, got guess"),
        (["fit", "krr", "t.csv", "--impute", "zero"], "--impute: must be mean|median, got zero"),
        (["fit", "krr", "t.csv", "--kernel", "gausian(2)"], "gaussian"),
        (["fit", "krr", "t.csv", "--kernel", "gaussian(-1)"], "--kernel"),
        (["fit", "krr", "t.csv", "--threads", "0"], "--threads: must be a whole number from 1 to 4096, got 0"),
        (["fit", "krr", "t.csv", "--threads", "2.5"], "--threads: must be a whole number from 1 to 4096, got 2.5"),
        (["fit", "krr", "t.csv", "--memory", "lots"], "--memory"),
        (["fit", "krr", "t.csv", "--memory", "0"], "--memory"),
        (["fit", "krr", "t.csv", "--seed", "-1"], "--seed: must be a whole number from 0"),
        (["fit", "krr", "t.csv", "--delimiter", "ab"], "--delimiter: must be one character"),
        (["fit", "krr", "t.csv", "--header", "--no-header"], "--no-header"),
        (["fit", "krr", "t.csv", "--format", "xls"], "--format: must be auto|csv|tsv|libsvm|npy|lines|fasta|jsonl|graphs|tu, got xls"),
        (["fit", "krr", "t.csv", "--out", "-"], "--out must name a file; - is not offered here"),
        (["fit", "ridge", "t.csv", "--degree", "0"], "--degree: must be a whole number from 1 to 100, got 0"),
        (["fit", "ridge", "t.csv", "--kernel", "linear"], "mercer fit ridge has no option --kernel"),
        (["predict", "m.mercer"], "DATA is required"),
        (["predict", "m.mercer", "t.csv", "--out", "-", "--json"], "--json and --out - both want standard output; choose one"),
        (["score"], "is required"),
        (["gram", "t.csv", "--kernel", ")"], "--kernel"),
        (["gram", "t.csv", "--out", "-", "--json"], "--out must name a file"),
        (["kernels", "gausian"], 'there is no kernel "gausian", did you mean gaussian?; mercer kernels lists them'),
        (["kernels", "xyzzy"], 'there is no kernel "xyzzy"; mercer kernels lists them'),
        (["info"], "MODELFILE is required"),
        (["convert", "t.csv"], "OUT is required"),
        (["convert", "t.csv", "o.csv", "--to", "xls"], "--to: must be csv|tsv|libsvm|npy"),
        (["learn", "t.csv", "--holdout", "1"], "--holdout: must be a number between 0 and 1, got 1"),
        (["learn", "t.csv", "--folds", "1"], "--folds: must be a whole number from 2 to 1000, got 1"),
        (["learn", "t.csv", "--budget", "never"], "--budget: must be a time > 0, like 90s, 2m or 1h, got never"),
        (["learn", "t.csv", "--model", "scv"], '--model: there is no model "scv", did you mean svc?; choose auto, svc, nu-svc'),
        (["learn", "t.csv", "--gram", "K.npy"], "mercer fit svc DATA --gram K.npy chooses C by cross-validation"),
        (["learn", "t.csv", "--test", "u.csv", "--holdout", "0.2"], "--holdout"),
        (["learn", "t.csv", "--out", "a.x", "--report", "a.x"], "--out and --report name the same file; give each its own"),
        (["learn", "-", "--test", "-"], "DATA and --test cannot both be standard input"),
    ],
)
def test_wrong_use_is_status_2(mercer, words, message):
    assert message in mercer.fails(2, *words)


@pytest.mark.parametrize("words", [["fit", "krr", "none.csv"], ["gram", "none.csv"], ["learn", "none.csv"], ["convert", "none.csv", "o.csv"]])
def test_missing_data_is_status_1(mercer, words):
    message = mercer.fails(1, *words)
    assert message.startswith("none.csv") and "No such file" in message


@pytest.mark.parametrize("command", ["predict", "score"])
def test_missing_model_is_status_1(mercer, table, command):
    assert mercer.fails(1, command, "none.mercer", table) == "none.mercer: cannot be read: No such file or directory"


def test_a_table_is_not_a_model(mercer, table):
    assert "train.csv: is not a model file" in mercer.fails(1, "info", table)


def test_unknown_builtin_names_the_others(mercer):
    message = mercer.fails(1, "gram", "builtin:mons")
    assert message.startswith('there is no built-in set "mons", did you mean moons?') and "waves" in message


def test_outputs_never_replace_inputs(mercer, table):
    before = table.read_bytes()
    for words in (["fit", "krr", table, "--out", table], ["convert", table, table], ["gram", table, "--out", "./train.csv"],
                  ["learn", table, "--report", table]):
        assert "is also an input and would be overwritten; name another file" in mercer.fails(2, *words)
    assert table.read_bytes() == before


def test_unwritable_output_fails_before_the_work(mercer, table):
    # The data do not even exist: the output is looked at first.
    assert mercer.fails(1, "fit", "krr", "none.csv", "--out", "no/model.mercer") == (
        "no/model.mercer: cannot be written: the folder no does not exist")
    (table.parent / "folder").mkdir()
    assert "it is a directory" in mercer.fails(1, "learn", "none.csv", "--out", "folder")
    assert mercer.fails(1, "convert", "none.csv", "train.csv/x.csv") == "train.csv/x.csv: cannot be written: Not a directory"


def test_reader_that_stops_early_is_no_failure(mercer, tmp_path):
    command = f"'{mercer.path}' convert builtin:regression - | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=tmp_path, timeout=60)
    lines = done.stdout.decode().split()
    assert lines[0].startswith("x1,x2,") and lines[-1] == "0", done.stderr


def test_closed_or_full_stdout_is_an_error(mercer, tmp_path):
    for redirect in (">&-", ">/dev/full"):
        done = subprocess.run(["bash", "-c", f"'{mercer.path}' kernels {redirect}"], capture_output=True, cwd=tmp_path, timeout=60)
        assert done.returncode == 1
        assert done.stderr.decode().startswith("mercer: standard output: cannot be written")


def test_no_colour_and_no_bar_without_a_terminal(mercer, table):
    result = mercer("fit", "krr", table)
    assert "\033" not in result.out + result.err
    assert result.err == ""


def test_bar_on_a_terminal_is_erased(mercer, tmp_path):
    pty = pytest.importorskip("pty")
    lines = ["x,y"] + [f"{i * 37 % 3500 / 100},{i % 17}.5" for i in range(3500)]
    (tmp_path / "big.csv").write_text("\n".join(lines) + "\n")
    primary, secondary = pty.openpty()
    process = subprocess.Popen([mercer.path, "fit", "krr", "big.csv", "--threads", "1", "--solver", "cholesky"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=secondary,
                               env={**os.environ, "TERM": "xterm"})
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
    out = process.stdout.read().decode()
    assert process.wait(60) == 0
    assert "Cholesky" in out
    assert b"#" in shown and b"%" in shown
    assert shown.endswith(b"\r\x1b[K")
