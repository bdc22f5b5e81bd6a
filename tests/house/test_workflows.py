"""What runs in the forge's name is pinned to the byte, and may do no more than it has to."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted(Path(__file__).parents[2].glob(".github/workflows/*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash_and_rights_are_few(path):
    text = path.read_text(encoding="utf8")
    flow = yaml.safe_load(text)
    assert flow["permissions"] == {"contents": "read"}
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [one for one in used if not PINNED.fullmatch(one)] == []
    assert len(re.findall(r"uses: \S+@[0-9a-f]{40} # v\d", text)) == len(used)  # each says which version that is
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_there_are_workflows():
    assert {path.stem for path in WORKFLOWS} == {"docs", "release", "test"}
