"""The README and the docs: every Python block on them runs."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.joinpath("docs").glob("*.md"))


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Line number and source of each block fenced as `python`; what is only for reading is fenced as `py`."""
    text = page.read_text(encoding="utf8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


README = python_blocks(ROOT / "README.md")


def test_the_readme_shows_its_first_example_before_line_20():
    line, _ = README[0]
    assert line < 20


@pytest.mark.parametrize(("line", "source"), README, ids=[f"README.md:{line}" for line, _ in README])
def test_each_block_of_the_readme_is_a_program(line, source, tmp_path, run):
    program = tmp_path / "program.py"
    program.write_text("\n" * line + source, encoding="utf8")
    run(sys.executable, "-W", "error", program)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_blocks_of_a_page_are_one_program(page, tmp_path, run):
    blocks = python_blocks(page)
    if blocks:
        program = tmp_path / "program.py"
        program.write_text("\n".join(source for _, source in blocks), encoding="utf8")
        run(sys.executable, "-W", "error", program)


def test_the_readme_writes_an_environment_in_25_lines_that_passes_its_own_check_command(tmp_path, run):
    command = re.search(r"^ludus check (\w+):(\w+)$", (ROOT / "README.md").read_text(encoding="utf8"), re.MULTILINE)
    assert command, "README.md shows no `ludus check module:Environment` command"
    module, name = command.groups()
    [source] = [source for _, source in README if f"class {name}(" in source]
    assert source.count("\n") <= 25
    (tmp_path / f"{module}.py").write_text(source, encoding="utf8")
    run(Path(sys.executable).with_name("ludus"), "check", f"{module}:{name}")
