"""TRL itself, in an environment of its own: steps of GRPO on a tiny random model, and its schemas of our tools."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from tests.interop.open_twelve import TWELVE

pytestmark = [pytest.mark.full, pytest.mark.no_cover, pytest.mark.xdist_group("trl")]
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600


@pytest.fixture(scope="module")
def run():
    subprocess.run(["sh", ROOT / "scripts/trl_peers.sh", sys.executable], check=True, timeout=1800)

    def told(*arguments):
        command = [ROOT / "build/peers/trl/bin/python", ROOT / "tests/interop/trl_peers.py", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env={"PYTHONPATH": str(ROOT)}
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return told


def test_transformers_makes_a_schema_of_every_tool_of_the_twelve(run):
    with ludus.serve(*TWELVE, port=0, block=False) as server:
        told = run("schemas", server.url, *TWELVE)
    assert set(told) == set(TWELVE)
    for name, (began, functions) in told.items():
        assert began, name
        for one in functions:
            assert one["description"], name
            assert all(argument["description"] for argument in one["parameters"]["properties"].values()), name


def test_grpo_trains_on_ours(run, tmp_path):
    told = run("train", tmp_path)
    assert all(len(one["logs"]) == 2 for one in told.values())
    assert all(math.isfinite(log["loss"]) for one in told.values() for log in one["logs"])
    git, echo, board = (told[f"open/{name}-v0"] for name in ("Git", "Echo", "Connect4"))
    assert (git["seen"], echo["seen"], board["seen"]) == ([2] * 4, [1] * 4, [1] * 4)
    assert all(log["tools/call_frequency"] == 2 for log in git["logs"])
    assert all(log["tools/failure_frequency"] == 0 for log in git["logs"])
    # Each of a group said more than the last: the mean of 0.5, 1, 1.5 and 2.
    assert all(log["rewards/Echo/mean"] == pytest.approx(1.25) for log in echo["logs"])
    assert echo["moved"]
    # A column that is none is told to the model as an error, and the episode goes on.
    assert all(log["tools/failure_frequency"] == 0.5 for log in board["logs"])
