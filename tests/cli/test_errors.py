"""Errors say what, what was got, what was wanted and what to do; the exit status is as documented on every path."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess

import pytest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "a.csv", "b.csv", "--null", "permutaton"],
         "--null: must be permutation|binned|wild|gamma|pearson|spectral|normal|bound, got permutaton, did you mean permutation? (mercer compare --help)"),
        (["fit", "krr", "a.csv", "--precision", "flot32"], "--precision: must be float32|float64, got flot32, did you mean float32?"),
        (["fit", "krr", "a.csv", "--scale", "STANDARD"], "got STANDARD, did you mean standard?"),
        (["fit", "krr", "a.csv", "--scale", "xyz"], "--scale: must be standard|min-max|none, got xyz (mercer fit krr --help)"),
        (["fit", "krr", "a.csv", "--learn-kernel", "los"], "got los, did you mean loo?"),
        (["learn", "a.csv", "--model", "kr"], 'there is no model "kr", did you mean krr?'),
        (["compare", "a.csv", "b.csv", "--kernal", "linear"], "mercer compare has no option --kernal, did you mean --kernel? (mercer compare --help)"),
        (["gram", "a.csv", "--kernel", "gausian(2)"], "did you mean gaussian?"),
        (["--vers"], "mercer has no option --vers, did you mean --version? (mercer --help)"),
        (["embed", "kcpa", "a.csv"], 'there is no method "kcpa", did you mean kpca?'),
        (["fit", "krr"], "mercer fit krr: DATA is required: CSV, TSV"),
        (["predict", "m.mercer"], "mercer predict: DATA is required: CSV, TSV"),
        (["weights", "squash", "a.csv"], "is required: Rows wanted"),
        (["fit", "krr", "a.csv", "--alpha"], "--alpha needs a value, NUMBER, and nothing follows it (mercer fit krr --help)"),
        (["fit", "krr", "a.csv", "--alpha", "1", "--lambda", "1"], " cannot go together; leave out one of them"),
        (["fit", "krr", "a.csv", "--alpha", "1e999"], "--alpha: must be a number >= 0, got 1e999"),
        (["convert", "a.csv", "o.csv", "--to", "cvs"], "got cvs, did you mean csv?"),
    ],
)
def test_wrong_words_get_the_right_ones(mercer, words, message):
    assert message in mercer.fails(2, *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "krr", "trian.csv"], "trian.csv: cannot be read: No such file or directory, did you mean train.csv?"),
        (["fit", "krr", "sub/trian.csv"], "sub/trian.csv: cannot be read: No such file or directory, did you mean sub/train.csv?"),
        (["fit", "krr", "xyz/train.csv"], "xyz/train.csv: cannot be read: No such file or directory; there is no folder xyz"),
        (["fit", "krr", "waves"], "waves: cannot be read: No such file or directory, did you mean builtin:waves?"),
        (["fit", "falkon", "trian.csv", "--in-parts"], "did you mean train.csv?"),
        (["fit", "krr", "train.csv", "--gram", "trian.csv"], "did you mean train.csv?"),
        (["predict", "modle.mercer", "train.csv"], "modle.mercer: cannot be read: No such file or directory, did you mean model.mercer?"),
        (["score", "modle.mercer", "train.csv"], "did you mean model.mercer?"),
        (["info", "modle.mercer"], "did you mean model.mercer?"),
        (["embed", "apply", "modle.mercer", "train.csv"], "did you mean model.mercer?"),
        (["cluster", "apply", "modle.mercer", "train.csv"], "did you mean model.mercer?"),
        (["convert", "trian.csv", "o.csv"], "did you mean train.csv?"),
        (["fit", "krr", "train.csv", "--target", "X2y"], 'train.csv: has no column "X2y"'),
        (["fit", "krr", "train.csv", "--target", "Price"], 'has no column "Price" to be the target, did you mean price?'),
        (["fit", "krr", "train.csv", "--drop", "weigth"], "did you mean weight?"),
        (["fit", "krr", "train.csv", "--sample-weight", "weigth"], 'has no column "weigth" for --sample-weight, did you mean weight?; it has weight, age and price'),
        (["learn", "train.csv", "--groups", "weigth"], "did you mean weight?"),
        (["fit", "krr", "train.csv", "--text", "weigth"], "did you mean weight?"),
        (["changes", "train.csv", "--columns", "weigth"], "did you mean weight?"),
        (["depend", "train.csv", "--x", "weigth", "--y", "age"], "did you mean weight?"),
        (["compare", "train.csv", "--by", "weigth"], "did you mean weight?"),
        (["convert", "train.csv", "o.csv", "--drop", "weigth"], "did you mean weight?"),
        (["fit", "krr", "train.csv", "--kernel", 'gaussian(1).on("weigth")'], "did you mean"),
    ],
)
def test_names_that_are_nearly_right(mercer, tmp_path, words, message):
    (tmp_path / "train.csv").write_text("weight,age,price\n" + "".join(f"{i},{i * i % 7},{i}.5\n" for i in range(8)))
    (tmp_path / "model.mercer").write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "train.csv").write_text("x,y\n1,2\n")
    assert message in mercer.fails(1, *words)


# ---- exit status

READERS = [["fit", "krr"], ["learn"], ["embed", "pca"], ["cluster", "kmeans", "-k", "2"], ["gram"], ["changes"], ["weights", "thin"], ["depend", "--all"],
           ["compare", "--to", "normal"]]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_files_that_are_none_are_status_1(mercer, tmp_path, words):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "folder").mkdir()
    assert "empty.csv" in mercer.fails(1, *words, "empty.csv")
    assert "folder" in mercer.fails(1, *words, "folder")


@pytest.mark.parametrize("command", [["info"], ["predict", "-m"], ["score", "-m"], ["embed", "apply", "-m"], ["cluster", "apply", "-m"]], ids=" ".join)
def test_models_that_are_none_are_status_1(mercer, table, tmp_path, command):
    words = [word for word in command if word != "-m"]
    rest = [table] if "-m" in command else []
    (tmp_path / "empty.mercer").write_text("")
    (tmp_path / "folder").mkdir()
    assert "empty.mercer" in mercer.fails(1, *words, "empty.mercer", *rest)
    assert "folder" in mercer.fails(1, *words, "folder", *rest)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_status_1(mercer, table):
    table.chmod(0)
    assert "Permission denied" in mercer.fails(1, "fit", "krr", table)


WRITERS = [
    (["fit", "krr", "train.csv"], "--out"),
    (["learn", "train.csv", "--model", "ridge"], "--out"),
    (["learn", "train.csv", "--model", "ridge"], "--report"),
    (["predict", "model.mercer", "train.csv"], "--out"),
    (["embed", "pca", "train.csv"], "--out"),
    (["embed", "pca", "train.csv"], "--model"),
    (["embed", "pca", "train.csv"], "--report"),
    (["embed", "pca", "train.csv"], "--denoise"),
    (["embed", "apply", "map.mercer", "train.csv"], "--out"),
    (["cluster", "kmeans", "train.csv", "-k", "2"], "--out"),
    (["cluster", "kmeans", "train.csv", "-k", "2"], "--model"),
    (["cluster", "spectral", "train.csv", "-k", "2"], "--report"),
    (["compare", "train.csv", "train.csv"], "--witness"),
    (["compare", "train.csv", "train.csv"], "--report"),
    (["depend", "train.csv", "--x", "x1", "--y", "y"], "--report"),
    (["weights", "shift", "train.csv", "train.csv"], "--out"),
    (["weights", "thin", "train.csv"], "--out"),
    (["weights", "thin", "train.csv"], "--report"),
    (["weights", "mixture", "train.csv", "--components", "train.csv"], "--out"),
    (["changes", "train.csv"], "--out"),
    (["changes", "train.csv"], "--report"),
    (["drift", "train.csv", "train.csv", "--run-length", "50"], "--out"),
    (["drift", "train.csv", "train.csv", "--run-length", "50"], "--report"),
    (["gram", "train.csv"], "--out"),
    (["convert", "train.csv"], ""),
]


@pytest.mark.parametrize(("words", "option"), WRITERS, ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_outputs_that_cannot_be_written_are_status_1(mercer, table, tmp_path, words, option):
    if "model.mercer" in words:
        mercer("fit", "krr", table, "--out", "model.mercer")
    if "map.mercer" in words:
        mercer("embed", "pca", table, "--model", "map.mercer")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    for place, why in (("/dev/full", "No space left on device"), ("none/file.csv", "the folder none does not exist"), ("folder", "it is a directory")):
        result = mercer.run(*words, *([option] if option else []), place)
        assert result.status == 1, (place, result.out, result.err)
        assert result.err.splitlines()[-1].startswith(f"mercer: {place}: cannot be written") and why in result.err
        assert sorted(tmp_path.iterdir()) == before, "a failed command left a file"


@pytest.mark.parametrize("words", [["kernels"], ["man"], ["completion", "zsh"], ["convert", "train.csv", "-"], ["gram", "train.csv", "--out", "-"], ["--help"],
                                   ["kernels", "--json"], ["--version"]], ids=" ".join)
def test_a_full_disk_behind_standard_output_is_status_1(mercer, table, tmp_path, words):
    done = subprocess.run(["bash", "-c", '"$@" >/dev/full', "bash", mercer.path, *words], capture_output=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == "mercer: standard output: cannot be written: No space left on device"


def test_no_memory_is_status_1(mercer, table):
    assert "--memory" in mercer.fails(1, "fit", "krr", table, "--memory", "1K")
