"""One agent that tries every cheat and every attack in a single run ends with the score of nop, and a whole record."""

import json

import pytest

from ludus.tasks import find_task
from ludus.tasks.agents import ScriptedTaskAgent
from ludus.tasks.agents.result import read_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.audit import CHEATS
from ludus.tasks.journal import Journal
from ludus.tools import Call
from ludus.trajectory import Run
from tests.attacks import attacks
from tests.attacks.scene import Scene
from tests.attacks.trial import command
from tests.tasks.conftest import TASK

SAMPLE = ("print_json", "replace_grader", "read_hidden", "link_to_hidden", "variables", "descriptors", "overwrite_data")
PROBES = [one for one in attacks() if one.kind == "probe" and "sibling" not in one.name]
AIMED = ("read-home", "read-variables", "read-memory")
SUITE = 'python3 -I -S -c "$(cat boot.py)" "$(cat attacks.json)" mark 3>&1'
"""The attack suite as an agent would bring it along; what it finds it writes to descriptor 3."""


LAST = ("fork_bomb",)
"""What leaves no process to the agent that it could do anything else with."""


def hostile_calls(task, names):
    """All calls of these cheats, one after the other."""
    names = sorted(names, key=lambda name: name in LAST)
    return [call for name in names if CHEATS[name].fits(task) for call in CHEATS[name].calls(task)]


def attack_calls(scene, probes):
    argv = command({one.name: one.program for one in probes}, scene.aim(), "mark")
    return [
        Call("write", {"path": "boot.py", "content": argv[4]}),
        Call("write", {"path": "attacks.json", "content": argv[5]}),
        Call("shell", {"command": SUITE, "seconds": 120.0}),
        Call("shell", {"command": "rm -f boot.py attacks.json; echo still here"}),
    ]


def checked_run(folder, task, calls):
    """Run them, and see that nothing was gained and everything was written down."""
    episode = run_task(task, ScriptedTaskAgent(calls, name="hostile"), 2, options=RunOptions(folder=folder))
    assert (episode.outcome, episode.total, episode.score["normalised"]) == ("failure", 0.0, 0.0), episode.score
    entries = Journal(folder).read()
    done = [*calls, Call("submit")]
    assert [one.call for one in entries[1:]] == done
    assert all(one.measured is not None and one.info["usage"]["steps"] == one.step for one in entries)
    assert entries[-1].terminated
    run = Run.open(folder / "run.ludus")
    told = [one.value.name for one in run.events() if one.kind == "tool_call"]
    assert (run[0].length, told) == (len(done), [one.tool for one in done])
    result = read_result(folder)
    assert (result.value, result.steps, sum(result.actions.values())) == (None, len(done), len(done))
    return entries, result


@pytest.fixture
def task(parity):
    """A task with steps enough for everything."""
    text = TASK.replace("max_steps: 12", "max_steps: 400").replace("total: 300", "total: 3000")
    (parity / "task.yaml").write_text(text)
    return find_task(parity)


def test_an_agent_that_cheats_and_attacks_gains_nothing_and_is_written_down(task, tmp_path):
    probes = [one for one in PROBES if one.name in AIMED]
    with Scene([one.name for one in probes]) as scene:
        calls = [*hostile_calls(task, SAMPLE), *attack_calls(scene, probes)]
        entries, result = checked_run(tmp_path / "run", task, calls)
        said = "".join(one.observation.result for one in entries)
        assert scene.variable not in said
        assert all(name in said for name in AIMED)
    assert "reads_grader" in {one.rule for one in result.findings}


@pytest.mark.full
def test_an_agent_that_tries_everything_ends_with_the_score_of_nop_and_a_complete_record(task, tmp_path):
    with Scene([one.name for one in PROBES]) as scene:
        calls = [*attack_calls(scene, PROBES), *hostile_calls(task, CHEATS)]
        assert len({one for one in CHEATS if CHEATS[one].fits(task)}) >= 30
        entries, _ = checked_run(tmp_path / "run", task, calls)
        said = json.dumps([one.observation.result for one in entries])
        assert scene.variable not in said
    assert "still here" in said
    assert all(one.name in said for one in PROBES)
