"""What is compared with a library that is not installed here says so, and lets the benchmarks after it run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("file", "missing"), [("finrl_peer.py", "PYTHON="), ("sumo_peer.py", "PYTHON="), ("open_peers.py", "FOLDER")]
)
def test_without_the_other_library_nothing_is_measured_and_nothing_fails(file, missing):
    given = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    done = subprocess.run([sys.executable, str(FOLDER / file)], env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"not measured: expected {missing}")
    assert done.stdout.count("\n") == 1
