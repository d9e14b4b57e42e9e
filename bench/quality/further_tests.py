"""The levels that tests of conditional independence, of goodness of fit and of several samples really hold, and their power.

    .venv/bin/python bench/quality/further_tests.py conditional [--sets 200]     tables of docs/conditional-independence.md
    .venv/bin/python bench/quality/further_tests.py fit [--sets 1000]            table of docs/goodness-of-fit.md
    .venv/bin/python bench/quality/further_tests.py samples [--sets 1000]        table of docs/k-sample.md
"""
# SPDX-License-Identifier: BSD-3-Clause
import argparse

import numpy as np

import mercer


def relation(kind: str, n: int, width: int, strength: float, rng: np.random.Generator):
    """X and Y that depend on Z; strength 0: on nothing else in common."""
    Z = rng.normal(size=(n, width))
    e, f = rng.normal(size=(2, n, 1))
    z = Z.sum(axis=1, keepdims=True) / np.sqrt(width)
    if kind == "post-nonlinear":
        return np.tanh(z + 0.7 * e), (0.8 * z + 0.7 * f + strength * e) ** 3 / 3, Z
    if kind == "waves":
        return np.cos(2 * z) + 0.5 * e, np.sin(2 * z) + 0.5 * f + strength * e, Z
    if kind == "linear":
        return z + 0.5 * e, z + 0.5 * f + strength * e, Z
    if kind == "unequal noise":
        return z + 0.5 * np.abs(z) * e, z**2 + 0.5 * f + strength * e, Z
    if kind == "sum of tanh":
        g = np.tanh(Z).sum(axis=1, keepdims=True)
        return g + 0.5 * e, g + 0.5 * f + strength * e, Z
    if kind == "same wave":
        g = np.sin(2 * Z[:, :1])
        return g + 0.5 * e, g + 0.5 * f + strength * e, Z
    raise ValueError(kind)


def rate(sets: int, test) -> float:
    return sum(test(np.random.default_rng(i), i).rejected for i in range(sets)) / sets


def conditional(sets: int) -> None:
    ways = {
        "kci, spectral, n = 100": (100, {"method": "kci"}),
        "kci, gamma, n = 100": (100, {"method": "kci", "null": "gamma"}),
        "the same, means kept": (100, {"method": "kci", "null": "gamma", "remove_means": False}),
        "randomized, n = 300": (300, {"method": "randomized"}),
        "randomized, n = 1000": (1000, {"method": "randomized"}),
    }
    kinds = [("post-nonlinear", 1), ("waves", 1), ("unequal noise", 1), ("post-nonlinear", 3), ("linear", 5), ("linear", 10)]
    kinds += [("sum of tanh", 5), ("same wave", 3), ("same wave", 5)]
    for strength in (0.0, 0.3):
        print(f"\n| X and Y of Z, strength {strength} | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
        for kind, width in kinds if strength == 0 else kinds[:5]:
            cells = []
            for n, options in ways.values():

                def one(rng, i, n=n, options=options, kind=kind, width=width, strength=strength):
                    data = relation(kind, n, width, strength, rng)
                    return mercer.conditional_independence_test(*data, n_draws=199, random_state=i, n_jobs=1, **options)

                cells.append(rate(sets, one))
            print(f"| {kind}, {width} column{'s' if width > 1 else ''} | " + " | ".join(f"{c:.3f}" for c in cells) + " |", flush=True)


def fit(sets: int) -> None:
    two = mercer.NormalMixture([1, 1], [[-2, -2], [2, 2]], [1.0, 0.25])
    plain = lambda X: mercer.Normal(X.mean(axis=0), np.cov(X.T, bias=True))  # noqa: E731
    students = lambda rng, n: rng.standard_t(5, size=(n, 2))  # noqa: E731
    rows = [
        ("N(0, I), 2 columns", "a given normal", lambda rng, n: rng.normal(size=(n, 2)), lambda X: mercer.Normal([0, 0], 1.0)),
        ("mixture of two, 2 columns", "the same mixture", lambda rng, n: two.sample(n, rng), lambda X: two),
        ("N(0, I), 2 columns", "a normal fitted to X, taken as given (wrong)", lambda rng, n: rng.normal(size=(n, 2)), plain),
        ("N(0, I), 2 columns", '"normal"', lambda rng, n: rng.normal(size=(n, 2)), lambda X: "normal"),
        ("Student's t of 5, 2 columns", '"normal"', students, lambda X: "normal"),
        ("exponential, 1 column", '"normal"', lambda rng, n: rng.exponential(size=(n, 1)), lambda X: "normal"),
        ("uniform, 1 column", '"normal"', lambda rng, n: rng.uniform(size=(n, 1)), lambda X: "normal"),
        ("N(0.3, I), 2 columns", "N(0, I)", lambda rng, n: rng.normal(0.3, 1, size=(n, 2)), lambda X: mercer.Normal([0, 0], 1.0)),
    ]
    print("| X from | model | n = 30 | n = 100 |\n|---|---|---|---|")
    for name, model_name, draw, model in rows:
        cells = []
        for n in (30, 100):

            def one(rng, i, n=n, draw=draw, model=model):
                X = draw(rng, n)
                return mercer.goodness_of_fit_test(X, model(X), n_draws=199, random_state=i)

            cells.append(rate(sets, one))
        print(f"| {name} | {model_name} | " + " | ".join(f"{c:.3f}" for c in cells) + " |", flush=True)


def samples(sets: int) -> None:
    print("| samples | rejected | some pair falsely rejected (Holm) |\n|---|---|---|")
    cases = [("3 of N(0, I), 2 columns, sizes 8, 12, 20", [0, 0, 0]), ("the same, the third moved by 0.7", [0, 0, 0.7])]
    for name, shifts in cases:
        rejected = wrong = 0
        for i in range(sets):
            rng = np.random.default_rng(i)
            result = mercer.k_sample_test(
                [rng.normal(s, 1, size=(n, 2)) for s, n in zip(shifts, (8, 12, 20), strict=True)], n_permutations=199, random_state=i
            )
            rejected += result.rejected
            wrong += any(p["rejected"] and shifts[p["first"]] == shifts[p["second"]] for p in result.pairs)
        print(f"| {name} | {rejected / sets:.3f} | {wrong / sets:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["conditional", "fit", "samples"])
    parser.add_argument("--sets", type=int, default=0, help="simulated data sets for each figure")
    arguments = parser.parse_args()
    {"conditional": conditional, "fit": fit, "samples": samples}[arguments.what](
        arguments.sets or (200 if arguments.what == "conditional" else 1000)
    )


if __name__ == "__main__":
    main()
