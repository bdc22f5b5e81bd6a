"""Other libraries' own code reads what we write and writes what we read; each in an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ludus.trajectory import Run, from_inspect

ROOT = Path(__file__).parents[2]
PEERS = Path(__file__).parent / "peers"
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def peers():
    subprocess.run(["sh", ROOT / "scripts/trajectory_peers.sh", sys.executable], check=True, timeout=1800)
    return ROOT / "build/peers"


def run(python, script, *arguments, folder):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MINARI_DATASETS_PATH": str(folder)}
    found = subprocess.run(
        [python, PEERS / script, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_minari_pandas_and_arrow_read_and_write_the_same_values(peers, tmp_path):
    assert run(peers / "formats/bin/python", "formats.py", folder=tmp_path).endswith("ok\n")


def test_datasets_of_strangers_read_nothing_else_start_nothing_and_wait_for_nobody(peers, tmp_path):
    assert run(peers / "formats/bin/python", "hostile_formats.py", folder=tmp_path).endswith("ok\n")


def test_torchs_data_loader_takes_steps_in_this_process_and_in_workers(peers, tmp_path):
    assert run(peers / "torch/bin/python", "torch_loader.py", folder=tmp_path).endswith("ok\n")


def test_a_log_that_inspect_has_just_written_is_read(peers, tmp_path):
    said = run(peers / "inspect/bin/python", "inspect_log.py", tmp_path / "logs", folder=tmp_path)
    assert said.startswith("success ")
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert from_inspect(log, tmp_path / "run.ludus") == 2
    assert [episode.total_reward for episode in Run.open(tmp_path / "run.ludus")] == [1.0, 0.0]
