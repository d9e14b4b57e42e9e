"""Graphs of the block format: for each graph "n label", then n lines "tag m neighbour ..."."""
# SPDX-License-Identifier: BSD-3-Clause
import json


def read(file):
    """Dictionaries with n, edges (each once) and labels."""
    return json.loads(open(file).read())
