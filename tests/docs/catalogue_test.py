"""docs/kernels.md lists the kernels as the tool does; tools/make_catalogue.py writes either form of the tool's answer."""
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


def test_sentences():
    text = make_catalogue.catalogue([{"name": "linear", "formula": "|x|", "parameters": "none", "properties": "psd"}])
    assert text == "| kernel | formula | parameters | properties |\n| --- | --- | --- | --- |\n| <code>linear</code> | <code class=\"wrap\">&#124;x&#124;</code> | none | psd |\n"


def test_fields():
    scale = {"name": "length_scale", "default": 1, "range": "> 0", "meaning": "how far it sees"}
    kernel = {"name": "gaussian", "formula": "exp", "parameters": [scale], "properties": "", "universal": "yes", "psd": "yes", "smooth": "no"}
    text = make_catalogue.catalogue([kernel, {"name": "linear", "formula": "<x,y>", "parameters": []}])
    assert '| <code>gaussian</code> | <code class="wrap">exp</code> | <code>length_scale = 1</code> &gt; 0; how far it sees |' in text
    assert "| kernel | psd | universal | smooth |" in text
    assert "| <code>gaussian</code> | yes | yes | no |" in text
    assert "| <code>linear</code> | unknown | unknown | unknown |" in text
