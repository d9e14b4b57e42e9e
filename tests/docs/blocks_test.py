"""The runner of pages catches what it should: code that nothing runs, output that differs, output without a program."""
# SPDX-License-Identifier: BSD-3-Clause
import pytest
from blocks import blocks_of
from run_pages import Failed, as_promised, not_run, run_page


@pytest.fixture
def page(tmp_path):
    def write(text: str):
        path = tmp_path / "page.md"
        path.write_text(text)
        return path

    return write


def run(path):
    return [(got, as_promised(block, got)) for block, got in run_page(path)]


@pytest.mark.parametrize("fence", ["```\nx\n```\n", "```rust\nx\n```\n", "```text\nwritten by nobody\n```\n", "```json\n{}\n```\n", "  ```\n  x\n  ```\n"])
def test_a_block_that_nothing_runs(fence, page):
    with pytest.raises(Failed, match="nothing runs a block"):
        run(page(f"# Page\n\n{fence}"))


def test_output_belongs_to_the_block_right_before(page):
    assert run(page("```python\nprint(1)\n```\n```text\n1\n```\n")) == [("1\n", True)]
    assert run(page("```python\nprint(1)\n```\n\n```text\n2\n```\n")) == [("1\n", False)]
    assert run(page("```python\nprint(1)\n```\n")) == [("1\n", False)]
    assert run(page("```sh\necho 1.25 s\n```\n```text\n... s\n```\n")) == [("1.25 s\n", True)]
    with pytest.raises(Failed, match="nothing runs a block of text"):
        run(page("```python\nx = 1\n```\nWords.\n```text\n1\n```\n"))


def test_blocks_of_a_page_share_a_folder_and_names(page):
    text = "```sh\necho 7 > file\n```\n```python\nx = int(open('file').read())\n```\n```python\nprint(x)\n```\n```text\n7\n```\n"
    assert [good for _, good in run(page(text))] == [True, True, True]


def test_setup_is_that_of_its_own_block(page):
    text = "<!-- setup\nx = 1\n-->\n```python\nprint(x)\n```\n<!-- note -->\n<!-- setup\ny = 2\n-->\n```python\nprint(y)\n```\n```python\nz = 3\n```\n"
    assert [block.setup for block in blocks_of(page(text))] == ["x = 1\n", "y = 2\n", ""]


def test_failures_name_the_place(page):
    with pytest.raises(Failed, match=r"page.md:4 ended with status 3"):
        run(page("# Page\n\n```sh\nexit 3\n```\n"))


def test_only_listed_commands_are_left_out():
    assert not_run("make demo      # builds") and not_run("make demo") and not_run('export PATH="$PWD/bin:$PATH"')
    assert not not_run("make demonstration") and not not_run("mercer kernels") and not not_run("echo make demo")
