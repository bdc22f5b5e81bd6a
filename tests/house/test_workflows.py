"""What runs in the forge's name is pinned to the byte, and may do no more than it has to."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
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


def commands(name):
    """What a workflow runs, and whose actions it uses."""
    [path] = [one for one in WORKFLOWS if one.stem == name]
    jobs = yaml.safe_load(path.read_text(encoding="utf8"))["jobs"].values()
    return [step.get("run") or step["uses"].partition("@")[0] for job in jobs for step in job["steps"]]


def test_a_release_says_what_is_in_it_and_who_built_it():
    """A bill of materials in CycloneDX beside the packages, before the provenance of all of them is attested."""
    done = commands("release")
    [bill] = [place for place, one in enumerate(done) if "scripts/sbom.sh" in one]
    assert done[bill].endswith("dist/ludus-rl.cdx.json")
    assert "cyclonedx" in (ROOT / "scripts" / "sbom.sh").read_text(encoding="utf8").lower()
    assert bill < done.index("actions/attest-build-provenance") < done.index("actions/upload-artifact")
    assert "make test-full" in done[:bill]


def test_each_change_is_tried_with_the_lowest_versions_that_are_allowed(monkeypatch):
    """Each direct requirement at its lower bound, as `--resolution lowest-direct` would choose it."""
    assert "make lowest" in commands("test")
    assert "scripts/lowest.py" in (ROOT / "Makefile").read_text(encoding="utf8")
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from lowest import lowest  # found by the line above

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    pins = dict(one.split("==") for one in lowest(project, ()))
    bounds = dict(
        one.partition(";")[0].strip().split(">=") for one in project["project"]["dependencies"] if ";" not in one
    )
    assert {name: bound.partition(",")[0] for name, bound in bounds.items()}.items() <= pins.items()


def test_there_are_workflows():
    assert {path.stem for path in WORKFLOWS} == {"docs", "release", "test"}
