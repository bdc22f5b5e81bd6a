"""Examples: one screen each, and they run."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(ROOT.joinpath("examples").glob("*.py"))

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])


def test_there_are_examples():
    assert EXAMPLES


@every_example
def test_an_example_fits_on_one_screen(path):
    assert len(path.read_text(encoding="utf8").splitlines()) <= 40


@every_example
def test_an_example_says_what_it_shows(path):
    assert path.read_text(encoding="utf8").startswith('"""')


@every_example
def test_an_example_runs_and_prints_something(path, run):
    assert run(sys.executable, "-W", "error", path).stdout.strip()
