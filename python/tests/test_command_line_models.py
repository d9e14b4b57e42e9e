"""Models that the command line fitted, in Python: their scaling, categories and labels come along."""
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mercer

TOOL = Path(mercer.__file__).parents[2] / "bin" / "mercer"  # the build tree has the package and the tool side by side
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the command line tool is not built beside this package")


def tool(*words):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def table(rng, tmp_path):
    frame = pd.DataFrame({"a": rng.normal(50, 10, 80), "b": rng.normal(size=80), "colour": rng.choice(["red", "green"], 80)})
    frame["y"] = 0.1 * frame.a + frame.b + (frame.colour == "red")
    frame["kind"] = np.where(frame.y > frame.y.median(), "high", "low")
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def command_line_answers(tmp_path):
    tool("predict", tmp_path / "m.mercer", tmp_path / "t.csv", "--out", tmp_path / "p.csv")
    return pd.read_csv(tmp_path / "p.csv").iloc[:, 0].to_numpy()


def test_scaled_regression(table, tmp_path):
    tool("fit", "krr", tmp_path / "t.csv", "--target", "y", "--drop", "colour,kind", "--kernel", "gaussian(2)", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert isinstance(model, mercer.TableModel) and model.kind == "krr" and model.target == "y"
    assert list(model.feature_names_in_) == ["a", "b"] and model.classes_ is None
    expected = command_line_answers(tmp_path)
    np.testing.assert_allclose(model.predict(table), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict(table[["b", "a"]]), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict(table[["a", "b"]].to_numpy()), expected, rtol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(table), model.predict(table))
    assert model.score(table, table.y) > 0.5
    scaled = (table[["a", "b"]] - table[["a", "b"]].mean()) / table[["a", "b"]].std(ddof=0)
    np.testing.assert_allclose(model.estimator.predict(scaled.to_numpy()), expected, rtol=1e-9)
    mercer.save(model, tmp_path / "again.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "again.mercer").predict(table), model.predict(table))
    with pytest.raises(ValueError, match='X has no column "b"; the model was fitted on a, b'):
        model.predict(table[["a"]])
    with pytest.raises(ValueError, match="X has 3 columns, the model was fitted on 2"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="NaN in row 0"):
        model.predict([[np.nan, 1.0]])


def test_categories_and_labels(table, tmp_path):
    tool("fit", "krr", tmp_path / "t.csv", "--target", "kind", "--drop", "y", "--one-hot", "--kernel", "gaussian(2)", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert list(model.classes_) == ["high", "low"]
    assert list(model.feature_names_in_) == ["a", "b", "colour"]
    np.testing.assert_array_equal(model.predict(table), command_line_answers(tmp_path))
    assert model.score(table, table.kind) > 0.9
    assert model.decision_function(table).shape == (80,)
    with pytest.raises(ValueError, match="colour"):
        model.predict(table[["a", "b"]])
    with pytest.warns(UserWarning, match=r'column colour has a word that the model never saw, "blue" \(X: row 1\), in 80 rows'):
        model.predict(table.assign(colour="blue"))


def test_one_class_against_the_rest(rng, tmp_path):
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    frame["y"] = np.where(frame.a > 0.5, 1, np.where(frame.b > 0, 2, 3))
    frame.to_csv(tmp_path / "t.csv", index=False)
    tool("learn", tmp_path / "t.csv", "--target", "y", "--positive", "1", "--model", "svc", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert model.classes_.tolist() == ["not 1", "1"]
    right = np.where(frame.y == 1, "1", "not 1") == model.predict(frame)
    assert model.score(frame, frame.y) == right.mean() > 0.8
    axes = mercer.plot.decision_boundary(model, frame[["a", "b"]], frame.y, points=7)
    shown = np.asarray(axes.collections[0].get_array()).reshape(7, 7)  # the region of the class stands where the model says so
    a, b = np.meshgrid(np.linspace(*axes.get_xlim(), 7), np.linspace(*axes.get_ylim(), 7))
    said = model.predict(pd.DataFrame({"a": a.ravel(), "b": b.ravel()})).reshape(7, 7) == "1"
    assert 0 < said.mean() < 1
    np.testing.assert_array_equal(shown == 1, said)


def test_unscaled_model_is_an_estimator_and_back(table, tmp_path):
    tool("fit", "ridge", tmp_path / "t.csv", "--target", "y", "--drop", "colour,kind", "--alpha", "0.5", "--scale", "none", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert isinstance(model, mercer.Ridge) and model.alpha == pytest.approx(0.5, rel=1e-6)
    np.testing.assert_allclose(model.predict(table[["a", "b"]]), command_line_answers(tmp_path), rtol=1e-12)
    mercer.save(mercer.Ridge(0.5).fit(table[["a", "b"]], table.y), tmp_path / "m.mercer")
    np.testing.assert_allclose(command_line_answers(tmp_path), model.predict(table[["a", "b"]]), rtol=1e-9)


def test_intervals_of_tables(table, tmp_path):
    numbers = ("fit", "krr", tmp_path / "t.csv", "--target", "y", "--kernel", "gaussian(2)", "--out", tmp_path / "m.mercer")
    for words in (
        (*numbers, "--drop", "colour,kind", "--intervals"),
        (*numbers, "--drop", "kind", "--one-hot", "--intervals"),
        ("fit", "gp", tmp_path / "t.csv", "--target", "y", "--drop", "colour,kind", "--out", tmp_path / "m.mercer"),
    ):
        tool(*words)
        tool("predict", tmp_path / "m.mercer", tmp_path / "t.csv", "--interval", 0.9, "--out", tmp_path / "p.csv")
        expected = pd.read_csv(tmp_path / "p.csv")
        f, ends = mercer.load(tmp_path / "m.mercer").predict(table, interval=0.9)
        np.testing.assert_allclose(f, expected.prediction, rtol=1e-9)
        np.testing.assert_allclose(ends, expected[["lower", "upper"]], rtol=1e-9)
    tool(*numbers, "--drop", "colour,kind")
    with pytest.raises(ValueError, match="saved without what intervals need"):
        mercer.load(tmp_path / "m.mercer").predict(table, interval=0.9)
    tool("fit", "krr", tmp_path / "t.csv", "--target", "kind", "--drop", "y,colour", "--out", tmp_path / "m.mercer")
    with pytest.raises(ValueError, match="intervals are for kernel ridge models and Gaussian processes of numbers"):
        mercer.load(tmp_path / "m.mercer").predict(table, interval=0.9)


@pytest.mark.parametrize("method", ["pca", "kpca", "nystrom", "rff", "ekm"])
def test_maps(table, tmp_path, method):
    def embed(*words):
        tool("embed", method, tmp_path / "t.csv", "--target", "y", *words, "--out", tmp_path / "Z.csv", "--model", tmp_path / "m.mercer")
        return mercer.load(tmp_path / "m.mercer"), pd.read_csv(tmp_path / "Z.csv").iloc[:, :2].to_numpy()  # the target is kept beside them

    model, Z = embed("--drop", "colour,kind")
    assert isinstance(model, mercer.TableModel)
    np.testing.assert_allclose(model.predict(table), Z, atol=1e-9)
    numbers = table[["a", "b"]].to_numpy()
    np.testing.assert_allclose(model.predict(numbers), Z, atol=1e-9)
    with pytest.raises(NotImplementedError, match="no probabilities"):
        model.predict_proba(table)
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    np.testing.assert_allclose(model.estimator.transform(scaled), Z, atol=1e-9)
    model, Z = embed("--drop", "kind", "--one-hot")
    np.testing.assert_allclose(model.predict(table), Z, atol=1e-9)
    model, Z = embed("--drop", "colour,kind", "--scale", "none")  # nothing to be done to the columns
    np.testing.assert_allclose(model.transform(table[["a", "b"]]), Z, atol=1e-9)


def test_chains_know_their_sequences(rng, tmp_path):
    state = np.arange(120) // 3 % 3
    frame = pd.DataFrame(np.eye(3)[state] + 0.5 * rng.normal(size=(120, 3)), columns=["p", "q", "r"])
    frame["line"] = np.tile(np.arange(6), 20)  # rows of six sequences, mixed
    frame["tag"] = np.array(["ant", "bee", "cow"])[state]
    frame.to_csv(tmp_path / "t.csv", index=False)
    tool("fit", "structured", tmp_path / "t.csv", "--target", "tag", "--sequence", "line", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert isinstance(model, mercer.TableModel) and model.kind == "structured" and list(model.feature_names_in_) == ["p", "q", "r"]
    np.testing.assert_array_equal(model.predict(frame), command_line_answers(tmp_path))
    assert model.score(frame, frame.tag) == np.mean(command_line_answers(tmp_path) == frame.tag)
    with pytest.raises(ValueError, match='with the column "line", which tells the sequences apart'):
        model.predict(frame[["p", "q", "r"]])


@pytest.mark.parametrize(("words", "columns"), [(["krr"], ["a"]), (["krr"], ["a", "b"]), (["svc", "--target", "kind"], ["a", "b"])])
def test_they_are_drawn_in_the_units_of_the_table(table, tmp_path, words, columns):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    target = "kind" if "kind" in words else "y"
    table[[*columns, target]].to_csv(tmp_path / "t.csv", index=False)
    tool("fit", words[0], tmp_path / "t.csv", "--target", target, "--kernel", "gaussian(1)", "--out", tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert isinstance(model, mercer.TableModel)
    draw = mercer.plot.regression_curve if len(columns) == 1 else mercer.plot.decision_boundary
    ax = draw(model, table[columns], table[target])
    assert ax.get_xlabel() == "a" and ax.get_xlim()[0] > 0  # not scaled
    if target == "kind":
        assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["high", "low"]
    matplotlib.pyplot.close("all")
