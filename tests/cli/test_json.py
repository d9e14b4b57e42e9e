"""--json on every command: one object, of the keys that docs/command-line.md names."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import re

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs" / "command-line.md").read_text()
# Below these keys stand names that come from the data.
FREE = {"predictions", "embedding", "stages", "numbers", "quantiles"}
HEADER = {"encoder", "tensors", "options", "samples", "summary", "intervals"}  # of a model file: as info prints it
HEADINGS = {"completion": "Completion", "man": "Man page"}
ALSO = {"depend": "compare", "fit": "score"}  # the page says that these have the keys of others


def section(name):
    """The text of a section of the page, and of those whose keys it says it has too."""
    text = re.search(rf"^## {HEADINGS.get(name, name)}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]
    return text + section(ALSO[name]) if name in ALSO else text


def named_keys(name):
    return set(re.findall(r"`([a-z_0-9A-Z]+)`", section(name)))


def keys_in(value, free):
    if isinstance(value, list):
        return set().union(*(keys_in(one, free) for one in value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys_in(below, free) for key, below in value.items() if key not in free))


@pytest.fixture
def files(mercer, table, flowers, tmp_path):
    mercer("fit", "krr", table, "--out", "model.mercer", "--intervals")
    mercer("fit", "svc", flowers, "--one-hot", "--C", "1", "--out", "svc.mercer")
    mercer("fit", "svc", "builtin:moons", "--C", "1", "--scale", "none", "--out", "plain.mercer")
    mercer("convert", "builtin:blobs", "blobs.csv")
    mercer("embed", "pca", "blobs.csv", "--model", "map.mercer")
    mercer("cluster", "kmeans", "blobs.csv", "-k", "3", "--model", "clusters.mercer")
    mercer("gram", "blobs.csv", "--out", "K.npy")
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{i * 7 % 30},{i % 11}\n" for i in range(60)))
    (tmp_path / "b.csv").write_text("x,y\n" + "".join(f"{i * 7 % 30 + 9},{i % 11}\n" for i in range(60)))
    (tmp_path / "series.csv").write_text("t,v\n" + "".join(f"day{i},{(i % 5) + (20 if i > 40 else 0)}\n" for i in range(80)))
    (tmp_path / "words.csv").write_text("s,x,tag\n" + "".join(f"{i // 4},{i % 4},{'ab'[i % 2]}\n" for i in range(40)))


REGRESSION = [
    ["krr", "--alphas", "auto"], ["krr", "--learn-kernel", "--intervals"], ["ridge"], ["gp", "--no-optimize"], ["representer"], ["falkon", "--validation", "0.3"],
    ["rff", "--components", "20", "--validation", "0.3"], ["svr", "--C", "1"], ["nu-svr"], ["one-class"],
]
CLASSES = [["logistic"], ["sgd-svm"], ["mean"], ["svc"], ["nu-svc", "--nu", "0.1"], ["linear-svc"], ["structured"]]
COMMANDS = [
    *(["fit", *words[:1], "train.csv", *words[1:]] for words in REGRESSION),
    *(["fit", *words[:1], "flowers.csv", "--one-hot", *words[1:]] for words in CLASSES),
    ["fit", "structured", "words.csv", "--sequence", "s"],
    ["learn", "train.csv", "--model", "krr", "--explain", "--out", "l.mercer"],
    ["learn", "builtin:moons", "--model", "svc", "--explain", "--report", "l.html"],
    ["predict", "model.mercer", "train.csv", "--interval", "0.9"],
    ["predict", "model.mercer", "train.csv", "--out", "p.csv"],
    ["score", "model.mercer", "train.csv"],
    ["score", "svc.mercer", "flowers.csv"],
    ["embed", "pca", "blobs.csv", "--denoise", "d.csv"],
    ["embed", "kpca", "blobs.csv"],
    ["embed", "nystrom", "blobs.csv", "--out", "Z.csv"],
    ["embed", "rff", "blobs.csv"],
    ["embed", "ekm", "blobs.csv", "--report", "r.html"],
    ["embed", "apply", "map.mercer", "blobs.csv"],
    ["cluster", "kmeans", "blobs.csv", "-k", "2-4"],
    ["cluster", "spectral", "blobs.csv", "-k", "2-4"],
    ["cluster", "apply", "clusters.mercer", "blobs.csv"],
    ["compare", "a.csv", "b.csv", "--witness", "w.csv", "--columns-table", "--level-check", "--repetitions", "20", "--power"],
    ["compare", "a.csv", "b.csv", "--aggregate", "--json-null", "--permutations", "100"],
    ["compare", "a.csv", "b.csv", "train.csv", "--columns", "y"],
    ["compare", "a.csv", "--to", "normal"],
    ["depend", "a.csv", "--x", "x", "--y", "y"],
    ["depend", "a.csv", "--x", "x", "--y", "y", "--aggregate", "--permutations", "100"],
    ["depend", "train.csv", "--x", "x1", "--y", "y", "--z", "x2"],
    ["depend", "train.csv", "--joint", "x1,x2,y"],
    ["depend", "train.csv", "--all"],
    ["weights", "shift", "a.csv", "b.csv"],
    ["weights", "squash", "a.csv", "-m", "5"],
    ["weights", "herd", "a.csv", "-m", "5"],
    ["weights", "thin", "a.csv", "--out", "few.csv"],
    ["weights", "mixture", "a.csv", "--components", "a.csv", "b.csv"],
    ["changes", "series.csv", "--time", "t", "--permutations", "99"],
    ["drift", "a.csv", "b.csv", "--run-length", "100"],
    ["gram", "blobs.csv", "--check", "--alpha", "0.1", "--repair", "clip"],
    ["gram", "--gram", "K.npy", "--check"],
    ["kernels"],
    ["kernels", "gaussian"],
    ["info", "model.mercer"],
    ["info", "svc.mercer"],
    ["convert", "a.csv", "a.svm"],
    ["convert", "plain.mercer", "svc.model"],
    ["completion", "bash"],
    ["man"],
]


def test_every_command_is_here(mercer):
    named = set(re.findall(r"^  (\w[\w-]*)", mercer("--help").out.split("Subcommands:")[1].split("\nExamples")[0], re.M))
    elsewhere = {"gallery"}  # has tests of its own
    assert named - elsewhere == {words[0] for words in COMMANDS}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:3]))
def test_the_page_names_every_key(mercer, files, words):
    result = mercer(*words, "--json")
    answer = json.loads(result.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert isinstance(answer, dict) and "\x1b" not in result.out
    missing = keys_in(answer, FREE | HEADER if words[0] == "info" else FREE) - named_keys(words[0])
    assert not missing, f"docs/command-line.md, {words[0]}: does not name {sorted(missing)}"


def test_the_version_as_json(mercer):
    assert mercer("--version", "--json").json == mercer("version", "--json").json == {"name": "mercer", "version": "0.1.0"}


def test_an_error_stays_text_on_standard_error(mercer):
    for status, words in ((1, ["fit", "krr", "none.csv"]), (2, ["kernels", "gausian"]), (2, ["learn", "none.csv", "--folds", "0"])):
        result = mercer.run(*words, "--json")
        assert result.status == status and result.out == "" and result.err.startswith("mercer: ")
