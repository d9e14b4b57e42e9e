"""mercer fit svc, nu-svc, svr, nu-svr, one-class and linear-svc; the options and model files of LIBSVM.

Where svm-train and svm-predict are installed, they are the oracle: the same data and options, models exchanged both ways.
"""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import io
import re
import shutil
import subprocess
import time

import numpy as np
import pytest

needs_libsvm = pytest.mark.skipif(
    shutil.which("svm-train") is None or shutil.which("svm-predict") is None, reason="svm-train and svm-predict are not installed"
)


def blobs(classes, n=90, seed=0):
    random = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    X = np.round(random.normal(size=(n, 3)) + 1.3 * np.eye(3)[labels], 4)  # svm-train keeps eight digits of support vectors
    return X, labels


def write_csv(folder, name, X, y, target="kind"):
    lines = [",".join([f"x{j + 1}" for j in range(X.shape[1])] + [target])]
    lines += [",".join([repr(float(v)) for v in row] + [str(label)]) for row, label in zip(X, y, strict=True)]
    (folder / name).write_text("\n".join(lines) + "\n")


def write_svm(folder, name, X, y):
    rows = [" ".join([str(label)] + [f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)]) for row, label in zip(X, y, strict=True)]
    (folder / name).write_text("\n".join(rows) + "\n")


def table(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def numbers(text, name):
    return np.array([float(v) for v in table(text)[name]])


@pytest.fixture
def kinds(tmp_path):
    X, labels = blobs(3)
    write_csv(tmp_path, "kinds.csv", X, ["red green blue".split()[k] for k in labels])
    return X, labels


@pytest.fixture
def curve(tmp_path):
    X = np.linspace(0, 6, 80)[:, None]
    y = np.sin(X[:, 0]) + 0.05 * np.cos(37 * X[:, 0])
    write_csv(tmp_path, "curve.csv", X, y, "y")
    return X, y


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("word", ["svc", "nu-svc", "linear-svc"])
def test_classifiers_fit_predict_score_and_tell(mercer, word):
    said = mercer("fit", word, "kinds.csv", "--out", "m.mercer")
    assert "The model is m.mercer." in said.out
    fitted = mercer("fit", word, "kinds.csv", "--json").json
    assert fitted["classes"] == ["blue", "green", "red"]
    assert fitted["train"]["accuracy"] > 0.7
    assert mercer("score", "m.mercer", "kinds.csv", "--json").json["accuracy"] == fitted["train"]["accuracy"]
    guess = table(mercer("predict", "m.mercer", "kinds.csv").out)["prediction"]
    truth = table((mercer.folder / "kinds.csv").read_text())["kind"]
    assert np.mean(np.array(guess) == np.array(truth)) == fitted["train"]["accuracy"]
    assert fitted["model"] == word
    told = mercer("info", "m.mercer").out
    assert re.search(rf"^ *model +{word}, ", told, re.MULTILINE)
    assert re.search(r"^ *nu +0.5$" if word == "nu-svc" else rf"^ *C +{fitted['C']:g}$", told, re.MULTILINE)
    assert mercer("info", "m.mercer", "--json").json["kind"] == word


@pytest.mark.usefixtures("kinds")
def test_c_is_chosen_and_said_unless_given(mercer):
    chosen = mercer("fit", "svc", "kinds.csv", "--json").json
    tried = chosen["choice"]["tried"]
    assert len(tried) == 12
    best = max(row["accuracy"] for row in tried)
    assert next(row for row in tried if row["accuracy"] == best)["C"] == chosen["C"]
    assert f"gaussian({chosen['choice']['length_scale']:.6g}"[:12] in chosen["kernel"]
    assert "in 5-fold cross-validation on 90 rows; --C says another" in mercer("fit", "svc", "kinds.csv").out
    with_kernel = mercer("fit", "svc", "kinds.csv", "--kernel", "linear", "--json").json
    assert len(with_kernel["choice"]["tried"]) == 4
    for words in (["--C", "2"], ["--lambda", "0.01"], ["--hard-margin"]):
        assert "choice" not in mercer("fit", "svc", "kinds.csv", *words, "--json").json
    assert mercer("fit", "svc", "kinds.csv", "--lambda", "0.01", "--json").json["C"] == pytest.approx(1 / (2 * 90 * 0.01))
    assert "choice" in mercer("fit", "linear-svc", "kinds.csv", "--json").json
    assert "choice" not in mercer("fit", "linear-svc", "kinds.csv", "--C", "1", "--json").json


def test_a_time_limit_holds_for_the_whole_command(mercer):
    X, labels = blobs(3, 3000, seed=2)
    write_csv(mercer.folder, "many.csv", X, labels)
    began = time.monotonic()
    fitted = mercer("fit", "svc", "many.csv", "--task", "classify", "--time-limit", "1e-6", "--json", "--out", "m.mercer").json
    assert time.monotonic() - began < 10
    assert fitted["choice"] == {"searched": False, "C": 1}
    assert fitted["summary"]["status"] == "time limit"
    assert len(table(mercer("predict", "m.mercer", "many.csv").out)["prediction"]) == 3000
    assert "too little time to choose C" in mercer("fit", "svc", "many.csv", "--task", "classify", "--time-limit", "1e-6").out
    assert mercer("fit", "svc", "many.csv", "--task", "classify", "--time-limit", "600", "--json").json["choice"]["searched"]


def test_the_choice_is_that_of_cross_validation(mercer, kinds):
    svm, selection = pytest.importorskip("sklearn.svm"), pytest.importorskip("sklearn.model_selection")
    X, labels = kinds
    chosen = mercer("fit", "svc", "kinds.csv", "--scale", "none", "--json").json["choice"]
    best = max(row["accuracy"] for row in chosen["tried"])
    twin = svm.SVC(C=chosen["C"], gamma=1 / (2 * chosen["length_scale"] ** 2))
    for seed in range(3):  # the folds are others, so the scores are near
        folds = selection.StratifiedKFold(5, shuffle=True, random_state=seed)
        assert abs(selection.cross_val_score(twin, X, labels, cv=folds).mean() - best) < 0.08


def test_linear_svc_of_few_rows(mercer):
    rows = [(1, "a"), (2, "a"), (3, "a"), (10, "b"), (11, "b"), (12, "b")]
    text = lambda some: "x,y\n" + "".join(f"{x},{y}\n" for x, y in some)  # noqa: E731
    fitted = mercer("fit", "linear-svc", "-", "--json", stdin=text(rows)).json
    assert fitted["choice"]["folds"] == 3
    assert fitted["train"]["accuracy"] == 1
    assert mercer("fit", "linear-svc", "-", "--json", stdin=text(rows[:5])).json["choice"]["folds"] == 2
    said = mercer("fit", "linear-svc", "-", stdin=text(rows[:4])).out
    assert "too few rows (of some class) to choose C by cross-validation: it is 1" in said
    weighted = "x,y,w\n" + "".join(f"{x},{y},{w}\n" for (x, y), w in zip(rows, (1, 1, 0, 1, 1, 0), strict=True))
    assert mercer("fit", "linear-svc", "-", "--target", "y", "--sample-weight", "w", "--json", stdin=weighted).json["choice"]["folds"] == 2
    assert "penalised" in mercer("fit", "linear-svc", "--help").out


def test_too_few_rows_to_choose_c(mercer):
    out = mercer("fit", "svc", "-", stdin="x,y\n1,a\n2,b\n3,b\n").out
    assert "too few rows (of some class) to choose C by cross-validation: it is 1" in out


def test_the_answer_is_that_of_scikit_learn(mercer, kinds):
    svm = pytest.importorskip("sklearn.svm")
    X, labels = kinds
    words = np.array("red green blue".split())[labels]
    mercer("fit", "svc", "kinds.csv", "--scale", "none", "--kernel", "gaussian(1)", "--C", "2", "--tol", "1e-8",
           "--class-weight", "balanced", "--out", "m.mercer")
    twin = svm.SVC(C=2, gamma=0.5, tol=1e-8, class_weight="balanced").fit(X, words)
    out = mercer("predict", "m.mercer", "kinds.csv", "--scores").out
    assert table(out)["prediction"] == list(twin.predict(X))
    scores = np.column_stack([numbers(out, f"score_{c}") for c in twin.classes_])
    np.testing.assert_allclose(scores, twin.decision_function(X), atol=1e-6)
    mercer("fit", "svc", "kinds.csv", "--multi-class", "ovr", "--C", "2", "--out", "m.mercer")
    assert mercer("score", "m.mercer", "kinds.csv", "--json").json["accuracy"] > 0.7


def test_probabilities(mercer, kinds):
    mercer("fit", "svc", "kinds.csv", "--C", "1", "--probability", "--out", "m.mercer")
    out = mercer("predict", "m.mercer", "kinds.csv", "--proba").out
    p = np.column_stack([numbers(out, f"probability_{c}") for c in ("blue", "green", "red")])
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert table(out)["prediction"] == ["blue green red".split()[k] for k in p.argmax(axis=1)]
    mercer("fit", "svc", "kinds.csv", "--C", "1", "--out", "m.mercer")
    assert "fit svc --probability" in mercer.fails(2, "predict", "m.mercer", "kinds.csv", "--proba")


@pytest.mark.parametrize("word", ["svr", "nu-svr"])
def test_regression(mercer, curve, word):
    fitted = mercer("fit", word, "curve.csv", "--json", "--out", "m.mercer").json
    assert fitted["train"]["r2"] > 0.9
    assert fitted["choice"]["searched"]
    assert mercer("score", "m.mercer", "curve.csv", "--json").json["r2"] == pytest.approx(fitted["train"]["r2"])
    told = mercer("info", "m.mercer").out
    assert "epsilon" in told
    assert re.search(rf"^ *C +{fitted['C']:g}$", told, re.MULTILINE)
    assert ("nu" in fitted) == (re.search(r"^ *nu +0.5$", told, re.MULTILINE) is not None) == (word == "nu-svr")
    assert fitted["model"] == word


def test_svr_is_that_of_scikit_learn(mercer, curve):
    svm = pytest.importorskip("sklearn.svm")
    X, y = curve
    mercer("fit", "svr", "curve.csv", "--scale", "none", "--kernel", "gaussian(1)", "--C", "3", "--epsilon", "0.02", "--tol", "1e-8",
           "--out", "m.mercer")
    twin = svm.SVR(C=3, gamma=0.5, epsilon=0.02, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(numbers(mercer("predict", "m.mercer", "curve.csv").out, "prediction"), twin.predict(X), atol=1e-6)


def test_one_class(mercer, kinds):
    X, _ = kinds
    np.savetxt(mercer.folder / "plain.csv", X, delimiter=",", header="a,b,c", comments="")
    fitted = mercer("fit", "one-class", "plain.csv", "--nu", "0.1", "--out", "m.mercer", "--json").json
    assert fitted["target"] is None
    assert fitted["task"] == "one-class"
    assert fitted["features"] == 3
    assert fitted["train"]["inside"] >= 0.85
    out = mercer("predict", "m.mercer", "plain.csv", "--scores").out
    inside, score = numbers(out, "prediction"), numbers(out, "score")
    assert set(inside) == {1, -1}
    assert np.array_equal(inside == 1, score > 0)
    assert mercer("fit", "one-class", "kinds.csv", "--target", "kind", "--json").json["features"] == 3  # the target is no feature
    write_csv(mercer.folder, "known.csv", X, inside.astype(int), "inside")
    (mercer.folder / "known.csv").write_text((mercer.folder / "known.csv").read_text().replace("x1,x2,x3", "a,b,c"))
    assert mercer("score", "m.mercer", "known.csv", "--target", "inside", "--json").json["accuracy"] == 1
    assert "which has no target" in mercer.fails(2, "score", "m.mercer", "plain.csv")


@pytest.mark.usefixtures("kinds", "curve")
@pytest.mark.parametrize(
    ("status", "words", "message"),
    [
        (1, ["svc", "curve.csv"], "is taken for numbers (fit svr"),
        (1, ["linear-svc", "curve.csv"], "is taken for numbers (fit svr"),
        (1, ["svr", "kinds.csv"], "kind"),
        (1, ["svr", "kinds.csv", "--task", "classify"], "is taken for classes (fit svc"),
        (2, ["svc", "kinds.csv", "--C", "0"], "--C: must be a number > 0, got 0"),
        (2, ["svc", "kinds.csv", "--C", "1", "--lambda", "1"], "--lambda"),
        (2, ["svc", "kinds.csv", "--C", "1", "--hard-margin"], "--hard-margin"),
        (2, ["svc", "kinds.csv", "--nu", "0.1"], "has no option --nu"),
        (2, ["nu-svc", "kinds.csv", "--nu", "2"], "--nu: must be a number > 0 and at most 1, got 2"),
        (1, ["svc", "-", "--C", "1"], "only one class"),
        (2, ["svc", "kinds.csv", "--libsvm", "-c 1", "--C", "1"], "--libsvm"),
        (2, ["svc", "kinds.csv", "--libsvm", "-c 1 -y 3"], "--libsvm: svm-train has no option -y; there are -s -t"),
        (2, ["svc", "kinds.csv", "--libsvm", "-c"], "--libsvm: -c must be a number > 0, got nothing"),
        (2, ["svc", "kinds.csv", "--libsvm", "-c -1"], "--libsvm: -c must be a number > 0, got -1"),
        (2, ["svc", "kinds.csv", "--libsvm", "-s 5"], "--libsvm: -s must be a whole number from 0 to 4, got 5"),
        (2, ["svc", "kinds.csv", "--libsvm", "-t 4"], "--libsvm: -t 4"),
        (2, ["svc", "kinds.csv", "--libsvm", "-s 3 -b 1"], "--libsvm: -b 1 is for classes"),
        (2, ["svc", "kinds.csv", "--libsvm", "-wx 1"], "--libsvm: -wx names no label"),
        (1, ["svc", "kinds.csv", "--libsvm", "-w7 1"], "-w7 names a label that the data do not have"),
        (2, ["svc", "kinds.csv", "--libsvm", "-v 5", "--out", "m"], "-v makes no model"),
    ],
)
def test_wrong_use(mercer, status, words, message):
    assert message in mercer.fails(status, "fit", *words, stdin="x,y\n1,a\n2,a\n")


def test_convert_between_models(mercer, kinds):
    X, labels = kinds
    write_csv(mercer.folder, "n.csv", X, labels)
    mercer("fit", "svc", "n.csv", "--C", "1", "--out", "scaled.mercer")
    assert "--scale none" in mercer.fails(1, "convert", "scaled.mercer", "m.model")
    mercer("fit", "svc", "n.csv", "--C", "1", "--scale", "none", "--out", "a.mercer")
    assert mercer("convert", "a.mercer", "a.model", "--json").json["to"] == "libsvm model"
    mercer("convert", "a.model", "b.mercer")
    write_svm(mercer.folder, "n.svm", X, labels)
    wanted = numbers(mercer("predict", "a.mercer", "n.csv", "--scores").out, "score_2")
    for model, data in (("a.model", "n.csv"), ("a.model", "n.svm"), ("b.mercer", "n.svm")):
        np.testing.assert_allclose(numbers(mercer("predict", model, data, "--scores").out, "score_2"), wanted, atol=1e-12)
    assert mercer("score", "a.model", "n.csv", "--target", "kind", "--json").json["accuracy"] > 0.7
    assert "a LIBSVM model" in mercer("info", "a.model").out
    assert mercer("info", "a.model", "--json").json["format"] == "libsvm"
    text = (mercer.folder / "a.model").read_text()
    (mercer.folder / "cut.model").write_text(text[: len(text) // 2])
    assert "cut short" in mercer.fails(1, "predict", "cut.model", "n.svm") or "lacks" in mercer.fails(1, "predict", "cut.model", "n.svm")
    mercer("fit", "svc", "kinds.csv", "--C", "1", "--scale", "none", "--out", "words.mercer")
    assert 'the class "blue" is none' in mercer.fails(1, "convert", "words.mercer", "m.model")


def svm_tool(folder, *words):
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def their_numbers(folder, name):
    return np.loadtxt(folder / name, skiprows=1 if (folder / name).read_text().startswith("labels") else 0, ndmin=2)


def test_libsvm_cross_validation(mercer):
    X, labels = blobs(2)
    write_svm(mercer.folder, "d.svm", X, labels)
    assert mercer("fit", "svc", "d.svm", "--libsvm", "-v 5 -q").out.splitlines()[-1].startswith("Cross Validation Accuracy = ")
    assert mercer("fit", "svc", "d.svm", "--libsvm", "-v 5", "--json").json["accuracy"] > 0.6
    lines = mercer("fit", "svc", "d.svm", "--libsvm", "-s 3 -v 5").out.splitlines()
    assert lines[-2].startswith("Cross Validation Mean squared error = ")
    assert lines[-1].startswith("Cross Validation Squared correlation coefficient = ")


CASES = [
    (2, "-c 2 -g 0.4", "c_svc"),
    (2, "-t 0 -c 0.5 -w1 3", "c_svc"),
    (3, "-t 1 -d 2 -g 0.1 -r 1", "c_svc"),  # small kernel values: svm-train solves with them in float32
    (3, "-s 1 -n 0.3", "nu_svc"),
    (2, "-t 3 -g 0.05 -r -0.1", "c_svc"),
    (3, "-s 3 -p 0.05", "epsilon_svr"),
    (3, "-s 4 -n 0.4 -c 2", "nu_svr"),
    (2, "-s 2 -n 0.2", "one_class"),
]


@needs_libsvm
@pytest.mark.parametrize(("classes", "options", "kind"), CASES)
def test_models_go_both_ways(mercer, classes, options, kind):
    """Values of the decision functions: svm-predict prints regression values; signs and labels for the others."""
    folder = mercer.folder
    X, labels = blobs(classes, seed=3)
    y = labels if "svr" not in kind else labels + 0.3 * X[:, 0]
    write_svm(folder, "d.svm", X, y)
    svm_tool(folder, "svm-train", "-q", "-e", "1e-8", *options.split(), "d.svm", "theirs.model")
    mercer("fit", "svc", "d.svm", "--libsvm", f"{options} -e 1e-8", "--out", "ours.mercer")
    mercer("convert", "ours.mercer", "ours.model")
    svm_tool(folder, "svm-predict", "d.svm", "theirs.model", "theirs.txt")
    svm_tool(folder, "svm-predict", "d.svm", "ours.model", "ours.txt")
    theirs, ours = their_numbers(folder, "theirs.txt")[:, 0], their_numbers(folder, "ours.txt")[:, 0]
    for answer in (ours, numbers(mercer("predict", "theirs.model", "d.svm").out, "prediction"),
                   numbers(mercer("predict", "ours.mercer", "d.svm").out, "prediction")):
        if "svr" in kind:
            np.testing.assert_allclose(answer, theirs, atol=2e-5)  # svm-predict prints six digits
        else:
            settled = np.ones(len(theirs), dtype=bool)
            if kind == "one_class":  # free support vectors lie on the boundary: rounding decides
                settled = np.abs(numbers(mercer("predict", "ours.mercer", "d.svm", "--scores").out, "score")) > 1e-6
            assert np.array_equal(answer[settled], theirs[settled])
    if "svr" not in kind:  # the decision values of the two models, both read here
        mine = mercer("predict", "ours.model", "d.svm", "--scores").out
        other = mercer("predict", "theirs.model", "d.svm", "--scores").out
        names = [name for name in table(mine) if name.startswith("score")]
        flip = {name: 1.0 for name in names}
        if classes == 2 and kind != "one_class":  # their positive class is the first of the data, ours the larger label
            their_name = next(name for name in table(other) if name.startswith("score"))
            flip = {names[0]: 1.0 if their_name == names[0] else -1.0}
        for name in names:
            there = name if name in table(other) else next(n for n in table(other) if n.startswith("score"))
            np.testing.assert_allclose(numbers(mine, name), flip[name] * numbers(other, there), atol=1e-6)


@needs_libsvm
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_go_both_ways(mercer, classes):
    folder = mercer.folder
    X, labels = blobs(classes, seed=5)
    write_svm(folder, "d.svm", X, labels)
    svm_tool(folder, "svm-train", "-q", "-b", "1", "d.svm", "theirs.model")
    mercer("fit", "svc", "d.svm", "--libsvm", "-b 1", "--out", "ours.mercer")
    mercer("convert", "ours.mercer", "ours.model")
    for model in ("theirs.model", "ours.model"):
        svm_tool(folder, "svm-predict", "-b", "1", "d.svm", model, "p.txt")
        order = (folder / "p.txt").read_text().split("\n", 1)[0].split()[1:]
        theirs = their_numbers(folder, "p.txt")[:, 1:]
        out = mercer("predict", model, "d.svm", "--proba").out
        ours = np.column_stack([numbers(out, f"probability_{c}") for c in order])
        # Two classes are exact to the six digits printed. Pairs are coupled there by sweeps that stop at 0.005 / classes, here by solving.
        np.testing.assert_allclose(ours, theirs, atol=2e-6 if classes == 2 else 5e-3)
