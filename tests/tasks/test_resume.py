"""Runs that are killed, resumed, replayed and forked."""

import json
import os
import re
import signal
import subprocess
import sys

import msgspec
import pytest

from ludus.errors import EnvError, TrajectoryError
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import ScriptedTaskAgent, fork_run, play_episode, replay_run, resume_episode
from ludus.tasks.agents.replay import export_run
from ludus.tasks.journal import Journal, JournalEntry
from ludus.tasks.step_usage import unmeasured
from ludus.tools import Call
from ludus.trajectory import Run
from tests.tasks.conftest import SOLVE

COMMANDS = [
    "mkdir sub; cd sub; export WORD=hi",
    "echo $WORD > note; pwd",
    f'cd /work; python3 -c "{SOLVE}" > answer.json',
]
CALLS = [Call("shell", {"command": one}) for one in COMMANDS] + [Call("validate")]
COUNTED = "COUNT=$((COUNT + 1)); echo $COUNT $PWD >> /work/log; say $COUNT"
LONG = [
    Call("shell", {"command": "mkdir -p src/deep; cd src; export COUNT=0; say() { echo said $*; }; umask 027; set -u"}),
    *(Call("shell", {"command": COUNTED}) for _ in range(4)),
    Call("start", {"command": "echo $COUNT ticks; sleep 600"}),
    Call("poll", {"job": 1}),
    Call("shell", {"command": f"cd deep; {COUNTED}; pushd /work >/dev/null; alias more='{COUNTED}'"}),
    Call("write", {"path": "notes/plan.md", "content": "one\ntwo\n"}),
    Call("edit", {"path": "notes/plan.md", "old": "two", "new": "three"}),
    Call("shell", {"command": "more\ncat > made <<'EOF'\n$COUNT stays\nEOF"}),
    Call("shell", {"command": "sleep 600 & exit 3"}),
    Call("shell", {"command": f"echo $?; {COUNTED}; ln -s made link; chmod 600 made"}),
    Call("shell", {"command": "echo '[]' > answer.json; false"}),
    Call("validate"),
    Call("search", {"pattern": "three", "path": "notes"}),
    Call("read", {"path": "notes/plan.md"}),
    Call("list", {"path": "."}),
    Call("shell", {"command": f'{COUNTED}; cd /work; python3 -c "{SOLVE}" > answer.json'}),
    "not a call",
    Call("validate"),
    Call("kill", {"job": 1}),
    Call("budget"),
    Call("shell", {"command": f"rm -r notes; set -o noglob; {COUNTED}"}),
    Call("shell", {"command": "echo *; umask; alias more; type say; echo $-; cat log"}),
]
"""Whatever a run may do; what runs in the background ends with a process that is killed, and leaves no file."""
PLACES = ["/work/src"] * 4 + ["/work/src/deep"] + ["/work"] * 4
"""Where `COUNTED` was carried out."""
LISTS = {"few": CALLS, "many": LONG}
KILLED = """
import os, signal, sys
from pathlib import Path
from ludus.tasks import TaskEnv
from ludus.tasks.agents import ScriptedTaskAgent, play_episode, resume_episode
from ludus.tasks.journal import Journal
from tests.tasks.test_resume import LISTS

task, folder, step, moment, calls = sys.argv[1:]
add = Journal.add

def killed(self, entry):
    if entry.step == int(step) and moment == "carried out":
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, entry)
    if entry.step == int(step):
        os.kill(os.getpid(), signal.SIGKILL)

Journal.add = killed
env = TaskEnv(task, folder=folder)
if Path(folder, "journal.jsonl").exists():
    resume_episode(env, ScriptedTaskAgent(LISTS[calls]))
else:
    play_episode(env, ScriptedTaskAgent(LISTS[calls]), 4)
"""


def killed_run(task, folder, step, moment, calls="few"):
    """Begin a run, or go on with it, in a process that is killed when a step was carried out or written down."""
    argv = [sys.executable, "-c", KILLED, str(task), str(folder), str(step), moment, calls]
    assert subprocess.run(argv, cwd=os.getcwd(), check=False).returncode == -signal.SIGKILL


def checked_end(task, folder):
    """Go on to the end, which is that of a run nobody killed."""
    with TaskEnv(task, folder=folder) as env:
        episode = resume_episode(env, ScriptedTaskAgent(CALLS))
    assert (episode.steps, episode.outcome, episode.total) == (5, "success", 1.0)
    assert [one.step for one in Journal(folder).read()] == [0, 1, 2, 3, 4, 5]
    assert replay_run(find_task(task), folder) == []


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_score(parity, tmp_path):
    killed_run(parity, tmp_path / "run", 2, "written down")
    checked_end(parity, tmp_path / "run")


EACH = [(0, "written down"), *((step, one) for step in range(1, 5) for one in ("carried out", "written down"))]
"""Each moment by itself is a case of `test_runs.py`; here one run meets them all."""


@pytest.mark.full
def test_a_run_that_is_killed_twice_at_every_step_ends_with_the_same_score(parity, tmp_path):
    for step, moment in EACH:
        killed_run(parity, tmp_path / "run", step, moment)
        assert Journal(tmp_path / "run").read()[-1].step == (step if moment == "written down" else step - 1)
    checked_end(parity, tmp_path / "run")


@pytest.mark.full
def test_a_long_run_that_is_killed_at_every_step_ends_as_one_that_nobody_killed(parity, tmp_path):
    text = (parity / "task.yaml").read_text().replace("max_steps: 12", "max_steps: 40")
    (parity / "task.yaml").write_text(text)
    with TaskEnv(parity, folder=tmp_path / "whole") as env:
        whole = play_episode(env, ScriptedTaskAgent(LONG), 4)
    for step in range(len(LONG) + 1):
        moment = "written down" if step % 2 == 0 else "carried out"
        killed_run(parity, tmp_path / "run", step, moment, "many")
        assert Journal(tmp_path / "run").read()[-1].step == step - step % 2
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        episode = resume_episode(env, ScriptedTaskAgent(LONG))
    assert (episode.steps, episode.outcome, episode.total) == (len(LONG) + 1, "success", 1.0)
    assert (episode.steps, episode.total, episode.score) == (whole.steps, whole.total, whole.score)
    pairs = list(zip(*(Journal(tmp_path / name).read() for name in ("run", "whole")), strict=True))
    for one, other in pairs:
        assert (one.snapshot, one.reward) == (other.snapshot, other.reward), one.step
        assert (one.shell and one.shell.cwd) == (other.shell and other.shell.cwd), one.step
        told = [unmeasured(each.observation) for each in (one, other)]
        # Jobs end with a process that is killed; their numbers do not begin anew with the next.
        assert told[0].tool in ("poll", "kill") or told[0] == told[1], one.step
    last = pairs[-2][0].observation.result
    assert last.startswith("*\n0027\n")
    assert last.endswith("".join(f"{number} {place}\n" for number, place in enumerate(PLACES, 1)))


def test_a_run_is_replayed_with_a_report_forked_and_exported(parity, tmp_path):
    folder, calls = tmp_path / "run", [*CALLS[:2], Call("shell", {"command": "date +%N > time; cat time"}), *CALLS[2:]]
    with TaskEnv(parity, folder=folder) as env:
        play_episode(env, ScriptedTaskAgent(calls), 4)
        with pytest.raises(EnvError, match="got one that ended at step 6"):
            env.resume()
    differs = replay_run(find_task(parity), folder)
    assert {(one.step, one.what) for one in differs} >= {(3, "observation"), (3, "workspace")}
    assert all(one.what == "workspace" for one in differs if one.step != 3)
    fork_run(folder, 2, tmp_path / "fork")
    with TaskEnv(parity, folder=tmp_path / "fork") as env:
        env.resume()
        step = env.step(Call("shell", {"command": "echo $WORD; pwd; cat note; ls"}))
    assert step.observation.result == "hi\n/work/sub\nhi\nnote\n"
    export_run(find_task(parity), folder, tmp_path / "run.ludus")
    assert Run.open(tmp_path / "run.ludus")[0].actions[0].tool == "shell"


def test_what_tools_tell_of_the_clock_is_no_difference_and_all_else_is(parity, tmp_path):
    poll = {"job": 1, "seconds": 40.0}
    calls = [Call("start", {"command": "echo after 9.9 s, the end"}), Call("poll", poll), Call("budget"), "poll 1"]
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        play_episode(env, ScriptedTaskAgent(calls), 4)
    journal = tmp_path / "run" / "journal.jsonl"
    told = re.sub(r"after \d\.\d s, (\d)", r"after 77.7 s, \1", journal.read_text())
    journal.write_text(told.replace("time: 5 minutes of", "time: 4 minutes of"))
    assert told.count("after 77.7 s, 21 bytes printed") == 2
    assert replay_run(find_task(parity), tmp_path / "run") == []
    journal.write_text(journal.read_text().replace(r"printed\nafter 9.9", r"printed\nafter 9.8"))
    differs = replay_run(find_task(parity), tmp_path / "run")
    assert [(one.step, one.what) for one in differs] == [(2, "observation"), (4, "observation")]


def test_jobs_of_a_run_that_is_taken_up_again_have_numbers_of_their_own(parity, tmp_path):
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        env.reset(seed=4)
        first = env.call("start", command="sleep 600").info["command"]["job"]
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        env.resume()
        gone = env.call("poll", job=first)
        second = env.call("start", command="sleep 600").info["command"]["job"]
        assert f"job {second} running" in env.call("poll", job=second).observation.result
    assert second == first + 1
    assert f"expected the number of a job of this session, got {first}" in gone.observation.error


def test_the_budgets_of_a_run_that_is_taken_up_again_are_those_of_its_task(parity, tmp_path):
    folder = tmp_path / "run"
    with TaskEnv(parity, folder=folder) as env:
        env.reset(seed=4)
        env.call("shell", command="true")
        env.call("validate")
    entries = Journal(folder).read()
    last = entries[-1].budget
    last.max_steps, last.total_seconds, last.max_validations, last.max_forfeits = 10**6, 1e9, 10**6, 10**6

    def write(entry):
        lines = [msgspec.json.encode(one) for one in (*entries[:-1], entry)]
        (folder / "journal.jsonl").write_bytes(b"\n".join(lines) + b"\n")

    write(entries[-1])
    with TaskEnv(parity, folder=folder) as env:
        env.resume()
        assert env.call("validate").info["budget"] == {"steps": 12 - 3, "validations": 0, "forfeits": 3}
        assert "expected at most 2 validations, got one more" in env.call("validate").observation.error
        steps = [env.step("nothing that is a call") for _ in range(3)]
    assert [one.truncated for one in steps] == [False, False, True]
    for name in ("steps", "validations", "forfeits", "spent_before"):
        entry = msgspec.convert(msgspec.to_builtins(entries[-1]), JournalEntry)
        setattr(entry.budget, name, -5)
        write(entry)
        with (
            TaskEnv(parity, folder=folder) as env,
            pytest.raises(TrajectoryError, match=rf"line 3: expected a step.*>= 0.*budget\.{name}"),
        ):
            env.resume()


def test_a_fork_that_fails_on_the_way_leaves_nothing(parity, tmp_path):
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        play_episode(env, ScriptedTaskAgent(CALLS), 4)
    (tmp_path / "run" / "agent.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(TrajectoryError, match=r"agent.jsonl, line 1: expected an event"):
        fork_run(tmp_path / "run", 2, tmp_path / "fork")
    assert not (tmp_path / "fork").exists()


def test_a_journal_that_is_none_is_told(parity, tmp_path):
    with TaskEnv(parity, folder=tmp_path) as env, pytest.raises(TrajectoryError, match="expected the journal of a run"):
        env.resume()
    (tmp_path / "journal.jsonl").write_text(json.dumps({"stp": 1}) + "\n")
    with pytest.raises(TrajectoryError, match="line 1: expected a step"):
        Journal(tmp_path).read()


def test_a_line_that_was_cut_off_is_replaced_by_the_next(tmp_path):
    for at in range(3):
        Journal(tmp_path).add(JournalEntry(step=at))
        with open(tmp_path / "journal.jsonl", "ab") as file:
            file.write(b'{"step": 9, "call"')
    assert [one.step for one in Journal(tmp_path).read()] == [0, 1, 2]
