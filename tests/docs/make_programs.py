"""Writes the C++ of every page as one source file: a function for each block, and a main that runs the one it is told to.

    python3 tests/docs/make_programs.py build/release/docs_programs.cpp

One file, because most of the time of compiling a block goes into the headers, which they share.
"""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from blocks import PAGES, ROOT, Block, blocks_of  # noqa: E402

INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
MAIN = re.compile(r"\bint main\(\)")
COMMON = {"#include <cstdio>", "#include <cstring>", "#include <exception>", "#include <mercer/mercer.hpp>"}
DISPATCH = """
int main(int count, char** words) try {
  for (const auto& [name, run] : programs) {
    if (count == 2 && std::strcmp(words[1], name) == 0) {
      run();
      return 0;
    }
  }
  std::fprintf(stderr, "there is no such block\\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\\n", error.what());
  return 1;
}
"""


def function_of(block: Block, index: int) -> str:
    """The block as `block_<index>::run`. Lines stay where they are, so that the compiler's messages name the page and its line."""
    code = INCLUDE.sub("", block.code)
    setup = INCLUDE.sub("", block.setup).strip()
    where = f'#line {block.line} "{block.page.relative_to(ROOT)}"\n'
    if MAIN.search(code):
        body = f"{setup}\n{where}{MAIN.sub('static void run()', code, count=1)}"
    else:
        body = f"static void run() {{\n{setup}\n{where}{code}}}\n"
    return f"namespace block_{index} {{\n{body}}}\n"


def source(blocks: list[Block]) -> str:
    includes = sorted(COMMON.union(*(INCLUDE.findall(block.code + block.setup) for block in blocks)))
    functions = [function_of(block, index) for index, block in enumerate(blocks)]
    table = "".join(f'  {{"{block.name}", block_{index}::run}},\n' for index, block in enumerate(blocks))
    head = "// Made by tests/docs/make_programs.py from the pages of the documentation.\n"
    return head + "\n".join([*includes, "", *functions, f"const struct {{ const char* name; void (*run)(); }} programs[] = {{\n{table}}};", DISPATCH])


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(source([block for page in PAGES for block in blocks_of(page) if block.language == "cpp"]))
