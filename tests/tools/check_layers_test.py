# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_layers.py passes on this tree, and on a copy catches an include against each arrow, naming file and line.

    python3 tests/tools/check_layers_test.py
"""

import importlib.util
import itertools
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_layers.py"

spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
check_layers = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(check_layers)

# DESIGN's sentence, written out a second time and by hand: a slip in the script's table must not pass.
ALLOWED = {
    "core": "",
    "data": "core",
    "simd": "core",
    "linalg": "core",
    "kernels": "core data simd",
    "solvers": "core simd linalg",
    "gram": "core data linalg simd kernels solvers",
    "models": "core data linalg simd kernels solvers gram",
    "stats": "core data linalg simd kernels solvers gram",
    "persist": "core data linalg simd kernels solvers gram models stats",
    "select": "core data linalg simd kernels solvers gram models stats persist",
    "report": "core data select",
}
# One public header of each layer that has some.
HEADER = {
    "core": "run.hpp",
    "data": "samples.hpp",
    "linalg": "linear_operator.hpp",
    "kernels": "kernels.hpp",
    "gram": "gram.hpp",
    "models": "ridge.hpp",
    "persist": "model_file.hpp",
    "select": "learn.hpp",
    "report": "report.hpp",
}


def run(root):
    done = subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class RealTree(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(run(ROOT), (0, "", ""))

    def test_script_finds_its_own_tree(self):
        done = subprocess.run([sys.executable, str(SCRIPT)], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Copy(unittest.TestCase):
    PARTS = ["include", "src", "cli", "bench", "examples", "python/bindings"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        for part in self.PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))

    def tearDown(self):
        self.folder.cleanup()

    def problems(self):
        return check_layers.Checker(self.root).run()

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def after(self, path, text):
        """The problems with one more file, which is then taken away again."""
        self.write(path, text)
        found = self.problems()
        (self.root / path).unlink()
        return found


class CopiedTree(Copy):
    def test_copy_passes(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(run(self.root), (0, "", ""))

    def test_fronts_include_public_headers_only(self):
        for front in ["cli", "python/bindings", "bench/krr", "examples"]:
            good = '#include "mercer/mercer.hpp"\n#include <mercer/gram.hpp>\n#include <vector>\n#include "own.hpp"\n#include "CLI/CLI.hpp"\n'
            self.write(f"{front}/own.hpp", "")
            self.assertEqual(self.after(f"{front}/probe.cpp", good), [])
            for bad in ['"gram/tiling.hpp"', "<core/buffer.hpp>", '"../src/core/buffer.hpp"', '"../../src/core/buffer.hpp"']:
                target = (self.root / front / bad.strip('"')).resolve()
                if ".." in bad and not target.is_file():
                    continue  # the way up from another depth
                found = self.after(f"{front}/probe.cpp", f"\n\n#include {bad}\n")
                self.assertEqual(len(found), 1, f"{front} {bad}")
                self.assertTrue(found[0].startswith(f"{front}/probe.cpp:3: "), found)

    def test_the_tool_alone_borrows_the_gallery(self):
        for way in ['"gallery/gallery.hpp"', '"../examples/gallery/gallery.hpp"', "<gallery/gallery.hpp>"]:
            self.assertEqual(self.after("cli/probe.cpp", f"#include {way}\n"), [])
        for front in ["bench", "python/bindings"]:
            found = self.after(f"{front}/probe.cpp", '#include "gallery/gallery.hpp"\n')
            self.assertEqual(len(found), 1, found)
            self.assertIn(f"{front} may include only mercer/ headers and its own files, not gallery/gallery.hpp", found[0])
        self.write("examples/gallery/other.hpp", "")
        self.assertIn("not gallery/other.hpp", self.after("cli/probe.cpp", '#include "gallery/other.hpp"\n')[0])
        self.assertIn("src/data/probe.cpp:1: ", self.after("src/data/probe.cpp", '#include "gallery/gallery.hpp"\n')[0])

    def test_a_way_around_by_relative_path(self):
        found = self.after("src/data/probe.cpp", '#include "../gram/tiling.hpp"\n')
        self.assertEqual(len(found), 1)
        self.assertIn("data may not include gram", found[0])

    def test_exit_codes(self):
        self.write("src/solvers/probe.cpp", '#include "data/number.hpp"\n')
        code, out, _ = run(self.root)
        self.assertEqual((code, out), (1, "src/solvers/probe.cpp:1: solvers may not include data (data/number.hpp); it may include core, linalg, simd\n"))
        code, _, err = run(self.root / "src")
        self.assertEqual(code, 2)
        self.assertIn("name the root of the project", err)


class CopiedHeaders(Copy):
    """Hundreds of includes are tried, so only the headers are there."""

    PARTS = ["include"]

    def test_every_pair_of_layers_by_internal_header(self):
        for layer, to in itertools.product(ALLOWED, ALLOWED):
            found = self.after(f"src/{layer}/probe.cpp", f'// a comment\n#include "{to}/thing.hpp"\n')
            if to == layer or to in ALLOWED[layer].split():
                self.assertEqual(found, [], f"{layer} -> {to}")
            else:
                self.assertEqual(len(found), 1, f"{layer} -> {to}")
                self.assertTrue(found[0].startswith(f"src/{layer}/probe.cpp:2: {layer} may not include {to} "), found)

    def test_every_pair_of_layers_by_public_header(self):
        for layer, (to, header) in itertools.product(ALLOWED, HEADER.items()):
            for line in [f'#include "mercer/{header}"', f"#  include <mercer/{header}>"]:
                found = self.after(f"src/{layer}/probe.hpp", line + "\n")
                self.assertEqual(len(found), 0 if to == layer or to in ALLOWED[layer].split() else 1, f"{layer} -> {to}: {found}")

    def test_public_headers_obey_the_arrows_of_their_layer(self):
        for (layer, header), (to, other) in itertools.product(HEADER.items(), HEADER.items()):
            path = self.root / "include/mercer" / header
            before = path.read_text()
            path.write_text(before + f'#include "mercer/{other}"\n')
            found = self.problems()
            path.write_text(before)
            if to == layer or to in ALLOWED[layer].split():
                self.assertEqual(found, [], f"{header} -> {other}")
            else:
                line = before.count("\n") + 1
                self.assertEqual(len(found), 1, f"{header} -> {other}: {found}")
                self.assertTrue(found[0].startswith(f"include/mercer/{header}:{line}: "), found)

    def test_public_headers_include_nothing_internal(self):
        path = self.root / "include/mercer/run.hpp"
        path.write_text(path.read_text() + '#include "core/buffer.hpp"\n')
        self.assertIn("a public header may not include core/buffer.hpp: it is not installed", self.problems()[0])

    def test_comments_do_not_count(self):
        text = '// #include "gram/a.hpp"\n/* \n#include "gram/b.hpp"\n*/\nconst char* s = "#include \\"gram/c.hpp\\"";\n'
        self.assertEqual(self.after("src/data/probe.cpp", text), [])
        found = self.after("src/data/probe.cpp", text + '#include "gram/d.hpp"\n')
        self.assertTrue(found[0].startswith("src/data/probe.cpp:6: "), found)

    def test_umbrella_is_for_users(self):
        self.assertIn("mercer/mercer.hpp is for users", self.after("src/report/probe.cpp", '#include "mercer/mercer.hpp"\n')[0])

    def test_headers_and_folders_must_be_known(self):
        self.assertIn("add it with its layer", self.after("include/mercer/new.hpp", "")[0])
        self.assertIn("add it with its layer", self.after("src/core/probe.cpp", '#include "mercer/nowhere.hpp"\n')[0])
        self.assertIn("src/extras is not a layer", self.after("src/extras/probe.cpp", "")[0])
        (self.root / "include/mercer/report.hpp").unlink()
        self.assertIn("there is no such header", self.problems()[0])


if __name__ == "__main__":
    unittest.main()
