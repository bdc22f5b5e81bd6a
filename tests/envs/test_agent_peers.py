"""smolagents' executor and transformers' tokenizers themselves, in an environment of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.full, pytest.mark.no_cover, pytest.mark.xdist_group("agents")]
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600


@pytest.fixture(scope="module")
def told():
    subprocess.run(["sh", ROOT / "scripts/agent_peers.sh", sys.executable], check=True, timeout=1800)

    def run(name):
        command = [ROOT / "build/peers/agents/bin/python", ROOT / "tests/envs/agent_peers.py", name]
        quiet = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=quiet)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_smolagents_carries_cells_out_within_our_limits(told):
    found = told("smolagents")
    quiet, printed, value, refused, failed, no_python, root, endless, kept = found["cells"]
    assert (quiet[:3], printed[:3], value[:3], root[:3]) == (
        ["", "", 0], ["21\n", "", 0], ["40\n", "", 0], ["2.0\n", "", 0],
    )  # fmt: skip
    assert "Import of os is not allowed" in refused[1]
    assert "ZeroDivisionError" in failed[1]
    assert no_python[1].startswith("SyntaxError")
    assert (endless[2:], kept[0]) == ([124, "time"], "20\n")
    assert found["won"]


def test_a_conversation_has_the_tokens_of_transformers_own_template(told):
    found = told("transformers")
    assert found["ours"] == found["theirs"]
    assert found["said"] == {"role": "assistant", "content": "Which light?"}
    assert found["marks in text"] == 0
