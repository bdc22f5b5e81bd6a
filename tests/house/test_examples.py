"""Examples: one screen each, and they run."""

import sys
from pathlib import Path

import pytest

from tests.house.offenders import none_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(ROOT.joinpath("examples").glob("*.py"))

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])


def test_there_are_examples():
    assert EXAMPLES


def test_an_example_fits_on_one_screen():
    none_of((path.name for path in EXAMPLES if len(read(path).splitlines()) > 40), "an example has at most 40 lines")


def test_an_example_says_what_it_shows():
    none_of((path.name for path in EXAMPLES if not read(path).startswith('"""')), "an example begins with a docstring")


def read(path: Path) -> str:
    return path.read_text(encoding="utf8")


@every_example
def test_an_example_runs_and_prints_something(path, run):
    assert run(sys.executable, "-W", "error", path).stdout.strip()
