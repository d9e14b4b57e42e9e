"""How results look at the prompt and in a notebook."""
# SPDX-License-Identifier: BSD-3-Clause
import re

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import _shown
from mercer.kernels import Gaussian

HOSTILE = "</script><b>&"


@pytest.fixture(scope="module")
def results():
    """One of each result, on columns whose names are hostile."""
    X, y = mercer.datasets.moons(60, random_state=0)
    table = pd.DataFrame(X, columns=[HOSTILE, "north"])
    A, B = table[y == 0], table[y == 1]
    witness = mercer.witness(A, B)
    x, z = mercer.datasets.noisy_circle(60, random_state=0)
    steps = np.repeat([0.0, 5.0], 30) + 0.1 * np.sin(np.arange(60))
    monitor = mercer.DriftMonitor(X, window=10, n_simulations=2000, random_state=0)
    return {
        "test": mercer.two_sample_test(A, B, n_permutations=19, random_state=0),
        "aggregated": mercer.mmd_aggregated_test(X[y == 0], X[y == 1], n_permutations=19, random_state=0),
        "k samples": mercer.k_sample_test({HOSTILE: A, "b": B, "c": A}, n_permutations=19, random_state=0),
        "change": mercer.change_point_test(steps, n_permutations=19, random_state=0),
        "changes": mercer.change_points(steps),
        "mmd": mercer.mmd(A, B),
        "hsic": mercer.hsic(x, z),
        "level": mercer.level_check(A, B, n_permutations=19, repetitions=10, random_state=0),
        "power": mercer.two_sample_power(A, B, n=40),
        "witness": witness,
        "columns": witness.columns(n_permutations=19, random_state=0),
        "points": witness.telling_points(2),
        "grid": witness.grid(columns=[0, 1], points=5),
        "coreset": mercer.herd(X, 5),
        "mixture": mercer.mixture_weights(X, [X[y == 0], X[y == 1]]),
        "embedding": mercer.mean_embedding(table),
        "bound": mercer.mean_embedding(X, "gaussian(1)").bound(),
        "function": mercer.RKHSFunction(Gaussian(1).on(HOSTILE), table, y.astype(float)),
        "learned": mercer.learn_kernel(X, y.astype(float), "gaussian(1)"),
        "score": mercer.score_kernel(X, y.astype(float), "gaussian(1)", alpha=0.1),
        "choice": mercer.choose_k(X, range(2, 4), kernel="linear", n_references=0, random_state=0),
        "preimages": mercer.preimages("gaussian(1)", X, np.eye(60)[:3]),
        "check": mercer.check_gram(Gaussian(1)(X)),
        "kernel check": mercer.check_kernel("gaussian(1)", X),
        "repair": mercer.repair_gram([[1.0, 2.0], [2.0, 1.0]]),
        "bochner": mercer.check_bochner("gaussian(1)"),
        "monitor": monitor,
        "update": monitor.update(X[:5]),
        "kernel": Gaussian(2).on(HOSTILE) + 1,
    }


def test_every_result_has_a_page_that_is_balanced_and_escaped(results):
    for name, result in results.items():
        page = result._repr_html_()
        assert page.startswith("<div>") and page.endswith("</div>"), name
        opened = re.findall(r"<(\w+)", page)
        assert sorted(opened) == sorted(re.findall(r"</(\w+)>", page)), name
        assert set(opened) <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}, name
        assert "<b>" not in page and "</script>" not in page, name
    assert "&lt;/script&gt;&lt;b&gt;&amp;" in results["columns"]._repr_html_() and "&lt;/script&gt;" in results["kernel"]._repr_html_()


def test_every_result_is_one_short_line_at_the_prompt(results):
    for name, result in results.items():
        if name in ("check", "kernel check", "bochner"):  # a verdict with its evidence
            assert len(repr(result)) < 2000
            continue
        assert "\n" not in repr(result) and 0 < len(repr(result)) < 400, (name, repr(result))
        assert "object at 0x" not in repr(result) + str(result), name


def test_tables_are_tables(results):
    page = results["aggregated"]._repr_html_()
    assert page.count("<tr>") > len(results["aggregated"].table) and "correction" in page
    assert "<div>5 more rows</div>" in _shown.html("many", table=[{"row": i} for i in range(25)])
    assert results["columns"]._repr_html_().count("north") == 1
    assert str(results["changes"]) and results["changes"].sentence in results["changes"]._repr_html_()


def test_numbers_stay_numbers(results):
    assert repr(results["mmd"]) == repr(float(results["mmd"])) and repr(results["hsic"]) == repr(float(results["hsic"]))
    assert results["mmd"].sentence.split(":")[0].replace("<", "&lt;")[:10] in results["mmd"]._repr_html_()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.23456789, "1.23457"),
        (np.float32(0.5), "0.5"),
        (np.int64(3), "3"),
        (True, "True"),
        (None, "None"),
        (np.arange(3), "[0, 1, 2]"),
        (np.linspace(0, 1, 100), "array of shape (100,), from 0 to 1"),
        (np.array([[np.nan, 2.0]]), "array of shape (1, 2), from 2 to 2"),
        (np.array([]), "[]"),
        (np.zeros((0, 2)), "array of shape (0, 2)"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, ... (9 in all)]"),
        ({"a": 1.0}, "{a: 1}"),
        ("x" * 500, "x" * 117 + "..."),
        (np.bool_(False), "False"),
    ],
)
def test_values_in_few_words(value, said):
    assert _shown.short(value) == said


def test_a_kernel_tells_its_properties_and_numbers():
    page = (2 * Gaussian(3))._repr_html_()
    assert "2*gaussian(3)" in page and "psd" in page and "gaussian.length_scale" in page
    assert "auto" in Gaussian("auto")._repr_html_()
