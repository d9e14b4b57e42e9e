"""docs/kernels.md lists the kernels and operations as the tool does."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import os
import subprocess
import sys

from blocks import ROOT
from run_pages import BUILD

SCRIPT = ROOT / "tools" / "make_catalogue.py"
spec = importlib.util.spec_from_file_location("make_catalogue", SCRIPT)
make_catalogue = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_catalogue)


def test_the_page_is_up_to_date():
    environment = os.environ | {"MERCER_TOOL": str(BUILD / "bin" / "mercer")}
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_cells_survive_the_table():
    kernel = {"name": "a_b", "formula": "|x|", "parameters": [{"name": "l", "default": "1", "range": "> 0"}], "note": "k*l | m", "source": "K"}
    text = make_catalogue.catalogue([kernel | dict.fromkeys(make_catalogue.VERDICTS, "yes")])
    assert '| <code>a_b</code> | <code class="wrap">&#124;x&#124;</code> | <code>l = 1</code> &gt; 0 | k&#42;l &#124; m; K |' in text
    assert "| <code>a_b</code> | yes | yes | yes | yes | yes | yes |" in text
