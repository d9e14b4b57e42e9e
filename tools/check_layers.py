#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every #include follows the arrows between layers.

    tools/check_layers.py [ROOT]

Prints `file:line: message` for each include that goes against them; exit 0 none, 1 some, 2 wrong use. HACKING.md tells the layers.
"""

import re
import sys
from pathlib import Path

# What the code of a layer may include, besides itself and what is outside the project.
BELOW_GRAM = {"core", "data", "simd", "linalg", "objects", "kernels", "solvers"}
BELOW_MODELS = BELOW_GRAM | {"gram"}
ARROWS = {
    "core": set(),
    "data": {"core"},
    "simd": {"core"},
    "linalg": {"core"},
    "objects": {"core", "data", "linalg"},  # features and values of strings and graphs; no kernel's tree
    "kernels": {"core", "data", "simd", "objects"},
    "solvers": {"core", "simd", "linalg"},  # never data, never kernels: solvers see operators
    "gram": BELOW_GRAM,
    "models": BELOW_MODELS,
    "stats": BELOW_MODELS,
    "persist": BELOW_MODELS | {"models", "stats"},
    # `learn` answers with a model ready to be saved (SavedModel), so select stands on persist; never the other way round.
    "select": BELOW_MODELS | {"models", "stats", "persist"},
    "report": {"core", "data", "select"},  # what a page shows comes through the results of select
}

# The layer of each public header: it obeys that layer's arrows, and including it counts as an arrow to that layer.
PUBLIC = {
    "error.hpp": "core",
    "matrix.hpp": "core",
    "nearest_word.hpp": "core",
    "random.hpp": "core",
    "run.hpp": "core",
    "unfinished_files.hpp": "core",
    "version.hpp": "core",
    "chunked_file.hpp": "data",
    "chunks.hpp": "data",
    "dataset.hpp": "data",
    "folds.hpp": "data",
    "labels.hpp": "data",
    "metrics.hpp": "data",
    "objects.hpp": "data",
    "samples.hpp": "data",
    "scaling.hpp": "data",
    "simulate.hpp": "data",
    "table.hpp": "data",
    "linear_operator.hpp": "linalg",
    "normal_sums.hpp": "linalg",
    "kernels.hpp": "kernels",
    "diagnosis.hpp": "gram",
    "gram.hpp": "gram",
    "random_features.hpp": "gram",
    "rkhs_function.hpp": "gram",
    "gaussian_process.hpp": "models",
    "kernel_learning.hpp": "models",
    "kernel_logistic.hpp": "models",
    "falkon.hpp": "models",
    "kernel_ridge.hpp": "models",
    "random_feature_ridge.hpp": "models",
    "kernel_ridge_cv.hpp": "models",
    "prediction_intervals.hpp": "models",
    "losses.hpp": "solvers",
    "representer.hpp": "models",
    "nystrom.hpp": "models",
    "svm.hpp": "models",
    "structured_svm.hpp": "models",
    "ridge.hpp": "models",
    "model_file.hpp": "persist",
    "learn.hpp": "select",
    "report.hpp": "report",
    "linear_svc.hpp": "models",
    "kernel_sgd.hpp": "models",
    "kernel_mean.hpp": "models",
    "libsvm_model.hpp": "persist",
    "svm_cv.hpp": "models",
    "exploration_report.hpp": "report",
    "test_report.hpp": "report",
    "series_report.hpp": "report",
    "figure.hpp": "report",
    "gallery_report.hpp": "report",
    "preimage.hpp": "models",
    "kernel_pca.hpp": "models",
    "pca.hpp": "models",
    "kernel_kmeans.hpp": "models",
    "spectral_clustering.hpp": "models",
    "cluster_quality.hpp": "models",
    "matrix_function.hpp": "linalg",
    "kernel_map.hpp": "models",
    "tensor_sketch.hpp": "gram",
    "explicit_maps.hpp": "gram",
    "exchange.hpp": "stats",
    "test_result.hpp": "stats",
    "coresets.hpp": "stats",
    "mean_matching.hpp": "stats",
    "mixture_weights.hpp": "stats",
    "two_sample.hpp": "stats",
    "independence.hpp": "stats",
    "change_points.hpp": "stats",
    "drift.hpp": "stats",
    "mean_embedding.hpp": "stats",
    "witness.hpp": "stats",
    "aggregated_tests.hpp": "stats",
    "conditional_independence.hpp": "stats",
    "goodness_of_fit.hpp": "stats",
    "k_sample.hpp": "stats",
}
EVERYTHING = "mercer.hpp"  # includes all public headers, for users: nothing in src/ or include/ may include it

# The fronts stand on the public headers alone.
FRONTS = ["cli", "python/bindings", "bench", "examples"]
# What a front may use of another: the tool runs the experiments, which are examples.
BORROWED = {"cli": {"examples/gallery/gallery.hpp"}}
SHARED_FOLDERS = ["examples"]  # where quoted includes of a front may look besides its own folder

SOURCE = {".cpp", ".hpp", ".h", ".cc", ".hh", ".inl", ".ipp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def includes(path):
    """(line number, quoted?, target) of each include of a file; those inside comments do not count."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = BLOCK_COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCE and p.is_file())


class Checker:
    def __init__(self, root):
        self.root = root.resolve()
        self.problems = []

    def report(self, path, line, message):
        self.problems.append(f"{path.relative_to(self.root)}:{line}: {message}")

    def locate(self, path, quoted, target):
        """What an include names: ("public", header), ("layer", layer), ("local", path) or None for the world outside."""
        beside = (path.parent / target).resolve()
        if quoted and beside.is_file() and beside.is_relative_to(self.root):
            parts = beside.relative_to(self.root).parts
            if parts[:2] == ("include", "mercer"):
                return "public", "/".join(parts[2:])
            return ("layer", parts[1]) if parts[0] == "src" and len(parts) > 2 else ("local", beside)
        first, _, rest = target.partition("/")
        if first == "mercer" and rest:
            return "public", rest
        if first in ARROWS and rest and (quoted or (self.root / "src" / target).is_file()):
            return "layer", first
        for folder in SHARED_FOLDERS:
            if (self.root / folder / target).is_file():
                return "local", self.root / folder / target
        return None

    def check_layer(self, path, layer, is_public):
        for line, quoted, target in includes(path):
            kind, name = self.locate(path, quoted, target) or (None, None)
            if kind == "public" and name == EVERYTHING:
                self.report(path, line, f"mercer/{EVERYTHING} is for users; include the headers that are needed")
            elif kind == "public" and name not in PUBLIC:
                self.report(path, line, f"mercer/{name} is not in the table of tools/check_layers.py; add it with its layer")
            elif kind == "layer" and is_public:
                self.report(path, line, f"a public header may not include {target}: it is not installed")
            elif kind == "local" and not name.is_relative_to(self.root / "src"):
                self.report(path, line, f"{layer} may not include {target}: it belongs to no layer")
            elif kind in ("public", "layer"):
                to = PUBLIC[name] if kind == "public" else name
                if to != layer and to not in ARROWS[layer]:
                    allowed = ", ".join(sorted(ARROWS[layer])) or "nothing else"
                    self.report(path, line, f"{layer} may not include {to} ({target}); it may include {allowed}")

    def check_front(self, path, front):
        for line, quoted, target in includes(path):
            kind, name = self.locate(path, quoted, target) or (None, None)
            if kind == "layer":
                self.report(path, line, f"{front} may include only mercer/ headers, not {target}")
            elif kind == "local" and not name.is_relative_to(self.root / front) and name.relative_to(self.root).as_posix() not in BORROWED.get(front, ()):
                self.report(path, line, f"{front} may include only mercer/ headers and its own files, not {target}")
            elif kind == "public" and name != EVERYTHING and name not in PUBLIC:
                self.report(path, line, f"mercer/{name} is not in the table of tools/check_layers.py")

    def run(self):
        public = self.root / "include" / "mercer"
        for path in sources(public):
            name = path.relative_to(public).as_posix()
            if name in PUBLIC:
                self.check_layer(path, PUBLIC[name], True)
            elif name != EVERYTHING:
                self.report(path, 1, "this header is not in the table of tools/check_layers.py; add it with its layer")
        for name in PUBLIC:
            if not (public / name).is_file():
                self.report(public / name, 1, "in the table of tools/check_layers.py, but there is no such header")
        for path in sources(self.root / "src"):
            layer = path.relative_to(self.root / "src").parts[0]
            if layer in ARROWS:
                self.check_layer(path, layer, False)
            else:
                self.report(path, 1, f"src/{layer} is not a layer; the layers are {', '.join(ARROWS)}")
        for front in FRONTS:
            for path in sources(self.root / front):
                self.check_front(path, front)
        return self.problems


def main(arguments):
    if len(arguments) > 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not (root / "include" / "mercer").is_dir():
        print(f"{root} has no include/mercer: name the root of the project", file=sys.stderr)
        return 2
    problems = Checker(root).run()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
