"""Runs with a folder: what they leave, many at once, killed and taken up again, and what is suspicious in them."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ludus.errors import InvalidArgument, TrajectoryError
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import ScriptedTaskAgent, nop_agent, play_episode, solution_agent
from ludus.tasks.agents.batch import planned_runs, run_jobs
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.agents.events import AgentLog
from ludus.tasks.agents.replay import fork_run
from ludus.tasks.agents.result import find_results, read_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.journal import Journal, JournalEntry
from ludus.tasks.linter import lint
from ludus.tools import Call
from ludus.trajectory import Run
from ludus.trajectory.event import Message
from ludus.web.view.viewer import Viewer
from tests.tasks.conftest import SOLVE, TASK, shell, write_folder

WORK = [
    Call("shell", {"command": "echo thinking > notes.txt"}),
    Call("shell", {"command": f'python3 -c "{SOLVE}" > answer.json'}),
    Call("validate"),
    Call("shell", {"command": "rm notes.txt; false"}),
]


def make_agent(name, task, seed):
    return ScriptedTaskAgent(WORK, name=name) if name == "worker" else chosen_agent(name, task, seed)


def test_a_run_leaves_trajectory_result_and_artifacts(parity, tmp_path):
    parity.joinpath("task.yaml").write_text(TASK + "artifacts: ['*.txt']\n")
    task, folder = find_task(parity), tmp_path / "run"
    episode = run_task(task, ScriptedTaskAgent(WORK, name="worker"), 2, options=RunOptions(folder=folder))
    result = read_result(folder)
    assert (result.outcome, result.value, result.best, result.steps) == ("success", 1.0, 1.0, episode.steps)
    assert result.actions == {"shell": 3, "validate": 1, "submit": 1}
    assert [step for step, _ in result.scores] == [3, 5]
    assert sorted(one.name for one in (folder / "artifacts").iterdir()) == ["answer.json", "rules.txt"]
    assert Viewer([folder]).answer("runs", {})["runs"][0]["episodes"] == 1
    run = Run.open(folder / "run.ludus")
    events = [(event.step, event.kind) for event in run.events()]
    assert {kind for _, kind in events} == {"message", "tool_call", "tool_result", "file_diff", "score", "resource"}
    diffs = [(one.step, one.value.path, one.value.diff) for one in run.events() if one.kind == "file_diff"]
    assert diffs[0][:2] == (1, "notes.txt")
    assert "+thinking" in diffs[0][2]
    assert [(step, path) for step, path, _ in diffs[1:]] == [(2, "answer.json"), (4, "notes.txt")]
    assert run.header.metadata["marks"]["accuracy (test)"]["threshold"] == 0.9
    with pytest.raises(InvalidArgument, match=r"expected one without a run, got .*`ludus view` shows it"):
        run_task(task, nop_agent(), 2, options=RunOptions(folder=folder))


def test_a_fork_takes_over_what_was_said_up_to_its_step_and_no_result(parity, tmp_path):
    task, folder, fork = find_task(parity), tmp_path / "run", tmp_path / "fork"
    run_task(task, ScriptedTaskAgent(WORK), 2, options=RunOptions(folder=folder))
    AgentLog(folder).add(2, [Message("assistant", "early")])
    AgentLog(folder).add(4, [Message("assistant", "late")])
    fork_run(folder, 3, fork)
    assert list(AgentLog(fork).read()) == [2]
    assert not (fork / "result.json").exists()
    run_task(task, ScriptedTaskAgent(WORK), 2, options=RunOptions(folder=fork, resume=True))
    assert read_result(fork).steps == 5
    said = [one.value.content for one in Run.open(fork / "run.ludus").events() if one.kind == "message"]
    assert said[1:] == ["early"]


def twisted_runs(folder, victim, tmp_path):
    """Copies of a run with links or a pipe where a part of it was, near the top and deep; each with what is wrong."""
    store = next(one for one in sorted((folder / "store" / "objects").glob("*/*")) if one.is_file())
    deep = [store.relative_to(folder), "store/workspaces/work/log", "public/numbers.json", "hidden/answers.json"]
    deep += ["task/grader.py", "store/objects"]
    top = ["hidden", "task", "public", "fixed", "store", "work", "journal.jsonl", "agent.jsonl", ".result.json"]
    for number, name in enumerate([*top, *deep]):
        twisted = tmp_path / f"twisted-{number}"
        shutil.copytree(folder, twisted, symlinks=True)
        is_folder = (twisted / name).is_dir()
        shutil.rmtree(twisted / name, ignore_errors=True)
        (twisted / name).unlink(missing_ok=True)
        (twisted / name).symlink_to(victim if is_folder else victim / "journal.jsonl")
        yield twisted, name
    shutil.copytree(folder, tmp_path / "pipe", symlinks=True)
    os.mkfifo(tmp_path / "pipe" / "task" / "pipe")
    yield tmp_path / "pipe", "task/pipe"


def test_forking_or_resuming_a_strangers_run_changes_nothing_outside_it_and_reads_nothing(parity, tmp_path):
    folder, victim, task = tmp_path / "run", tmp_path / "victim", find_task(parity)
    run_task(task, ScriptedTaskAgent(WORK), 2, options=RunOptions(folder=tmp_path / "whole"))
    fork_run(tmp_path / "whole", 2, folder)
    victim.mkdir(mode=0o755)
    (victim / "file").write_text("mine")
    (victim / "journal.jsonl").write_bytes((folder / "journal.jsonl").read_bytes())
    before = {one: (one.stat().st_mode, one.read_bytes()) for one in victim.iterdir()}
    for twisted, name in twisted_runs(folder, victim, tmp_path):
        wrong = f"expected a file or a folder, got .*{name}, which is a link or a device"
        with pytest.raises(InvalidArgument, match=f"fork: {wrong}"):
            fork_run(twisted, 2, tmp_path / "fork")
        assert not (tmp_path / "fork").exists()
        options = RunOptions(folder=twisted, resume=True)
        with pytest.raises(InvalidArgument, match=f"resume: {wrong}"):
            run_task(task, ScriptedTaskAgent(WORK), 2, options=options)
        with TaskEnv(task, folder=twisted) as env, pytest.raises(InvalidArgument, match=f"resume: {wrong}"):
            env.resume()
    shutil.rmtree(folder / "work")
    with pytest.raises(InvalidArgument, match="fork: expected a run with a folder work"):
        fork_run(folder, 2, tmp_path / "fork")
    assert victim.stat().st_mode & 0o777 == 0o755
    assert {one: (one.stat().st_mode, one.read_bytes()) for one in victim.iterdir()} == before


def test_a_fork_goes_on_with_another_script_from_its_first_call(parity, tmp_path):
    task = find_task(parity)
    run_task(task, ScriptedTaskAgent(WORK), 2, options=RunOptions(folder=tmp_path / "run"))
    (tmp_path / "run" / "hidden" / "result.json").write_text("of the data, and no result of the run")
    fork_run(tmp_path / "run", 2, tmp_path / "fork")
    assert (tmp_path / "fork" / "hidden" / "result.json").is_file()
    other = [Call("shell", {"command": "echo first > first"}), Call("shell", {"command": "cat first"})]
    run_task(task, ScriptedTaskAgent(other), 2, options=RunOptions(folder=tmp_path / "fork", resume=True))
    told = [one.observation.result for one in Journal(tmp_path / "fork").read()]
    assert told[-3:] == ["", "first\n", "submitted"]


def test_a_run_under_way_can_be_looked_at(parity, tmp_path):
    task, folder, seen = find_task(parity), tmp_path / "run", []

    def watch(call, step):
        viewer = Viewer([folder / "run.ludus"])
        told = viewer.answer("episode", {"run": "0", "n": "0"})
        marks = {one["name"]: [mark["name"] for mark in one.get("marks", [])] for one in told["curves"]}
        seen.append((told["length"], told["kinds"]["tool_call"], marks))
        viewer.close()

    run_task(task, ScriptedTaskAgent(WORK, name="worker"), 2, options=RunOptions(folder=folder), watch=watch)
    assert [(length, calls) for length, calls, _ in seen[:4]] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert seen[3][2]["accuracy (validation)"] == ["floor", "baseline", "threshold", "reference"]
    assert {"seconds", "processor seconds", "memory (MB)", "reward", "return"} <= set(seen[3][2])


def test_runs_at_once_are_told_of_and_a_broken_one_stops_no_other(parity, tmp_path):
    generator = "def generate(seed, public, hidden):\n    1 / 0"
    broken = write_folder(tmp_path / "broken", task__yaml=TASK.replace("Parity", "Broken"), generator__py=generator)
    jobs = planned_runs([find_task(parity), find_task(broken)], ["worker", "nop"], [0, 1], tmp_path / "out")
    told = []
    results = run_jobs(jobs, make_agent, workers=3, watch=told.append)
    assert [one.outcome for one in results] == ["success", "success", "failure", "failure"] + ["environment_failed"] * 4
    assert "ZeroDivisionError" in results[-1].reason
    assert results[-1].masked
    states = [one.state for one in told]
    assert (states.count("started"), states.count("ended"), states.count("step")) == (8, 8, 5 + 5 + 1 + 1)
    assert len(find_results([tmp_path / "out"])) == 4
    again = run_jobs(jobs[:4], make_agent, watch=told.append)
    assert [one.value for one in again] == [one.value for one in results[:4]]
    assert [one.state for one in told[-4:]] == ["known"] * 4
    with pytest.raises(InvalidArgument, match="expected different tasks, agents and seeds"):
        planned_runs([find_task(parity)], ["nop"], [0, 0], tmp_path)
    with pytest.raises(TrajectoryError, match=r"expected the folder of a run.*result\.json"):
        find_results([parity])


KILLED = """
import os, signal, sys
from pathlib import Path
import ludus.tasks.journal as journal
from ludus.tasks import find_task
from ludus.tasks.agents.batch import planned_runs, run_jobs
from ludus.tasks.env import TaskEnv
from ludus.tasks.workspace import TaskWorkspace
from tests.tasks.test_runs import make_agent

task, out, step, moment = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
append, snapshot, finish, lines = journal.append_lines, TaskWorkspace.snapshot, TaskEnv._finish, 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def appended(path, data):
    global lines
    if lines == step and moment == "torn":
        with open(path, "ab") as file:
            file.write(data[: len(data) // 2])
        die()
    append(path, data)
    lines += 1
    if lines == step + 1 and moment == "kept":
        die()

def snapshotted(self, label):
    if moment == "before" and label == (f"step {step}" if step else "start"):
        die()
    return snapshot(self, label)

def finished(self, ends):
    worth = finish(self, ends)
    if moment == "graded":
        die()
    return worth

journal.append_lines, TaskWorkspace.snapshot, TaskEnv._finish = appended, snapshotted, finished
run_jobs(planned_runs([find_task(task)], ["worker"], [4], out), make_agent)
"""
MOMENTS = [(step, moment) for step in range(6) for moment in ("before", "torn", "kept")] + [(5, "graded")]
EACH_RUN = {(5, "kept"), (3, "torn")}
"""Killed between the last step and the result, and in the middle of a line of the journal."""


@pytest.mark.parametrize(
    ("step", "moment"),
    [pytest.param(*one, marks=() if one in EACH_RUN else pytest.mark.full, id=f"{one[0]}-{one[1]}") for one in MOMENTS],
)
def test_a_run_that_is_killed_at_any_step_is_resumed_by_the_same_command_and_scores_the_same(
    parity, tmp_path, step, moment
):
    command = [sys.executable, "-c", KILLED, str(parity), str(tmp_path), str(step), moment]
    assert subprocess.run(command, cwd=os.getcwd(), check=False).returncode == -signal.SIGKILL
    [job] = planned_runs([find_task(parity)], ["worker"], [4], tmp_path)
    [result] = run_jobs([job], make_agent)
    assert (result.outcome, result.value, result.steps, result.total) == ("success", 1.0, 5, 1.0), result.reason
    entries = Journal(job.place).read()
    assert [one.step for one in entries] == list(range(6))
    assert sum(one.reward for one in entries) == 1.0
    assert Run.open(job.place / "run.ludus")[0].length == 5
    assert (job.place / "artifacts" / "answer.json").is_file()


def test_the_linter_flags_what_no_program_computed(parity, tmp_path):
    with TaskEnv(parity, folder=tmp_path / "run") as env:
        env.reset(seed=0)
        shell(env, "cat /hidden/answers.json")
        shell(env, "python3 -c 'import random, json; print(json.dumps([True] * 20))' > answer.json # random")
        env.step("submit")
    findings = lint(env.task.spec, Journal(tmp_path / "run").read())
    assert [(one.step, one.rule) for one in findings] == [(1, "reads_grader"), (2, "random_submission")]
    with TaskEnv(parity, folder=tmp_path / "honest") as env:
        play_episode(env, solution_agent(env.task, "reference"), 0)
    entries = Journal(tmp_path / "honest").read()
    for seconds, rules in ((1.0, []), (0.0, ["score_without_work"])):
        for entry in entries:
            entry.measured.cpu_seconds = seconds
        assert [one.rule for one in lint(env.task.spec, entries)] == rules


def test_the_linter_flags_submissions_by_hand_repeated_timeouts_and_graders_that_failed(parity):
    spec, slow = find_task(parity).spec, Call("shell", {"command": "python train.py"})
    late, score = {"command": {"timed_out": True}}, {"value": 0.9, "normalised": 0.8}

    def rules(*steps, end):
        entries = [JournalEntry(step=at, call=call, info=info) for at, (call, info) in enumerate(steps, 1)]
        found = lint(spec, [*entries, JournalEntry(step=9, call=Call("submit"), info={"score": end})])
        return [(one.step, one.rule) for one in found]

    by_hand = (Call("write", {"path": "answer.json", "content": "[true]"}), {})
    assert rules(by_hand, end=score) == [(9, "submission_without_program")]
    assert rules(by_hand, (slow, {}), end=score) == []
    assert rules(by_hand, end={"value": None, "normalised": 0.0}) == []
    assert rules((slow, late), (slow, late), end=score) == [(2, "timeout_repeated")]
    assert rules((slow, late), (Call("shell", {"command": "python train.py --small"}), late), end=score) == []
    assert rules((slow, {}), end={"grader_failed": True, "reason": "1 / 0"}) == [(9, "grader_failed")]


@pytest.mark.full
def test_fifty_runs_at_once_leave_nothing(parity, tmp_path):
    before = {name for name in os.listdir("/proc") if name.isdigit()}
    descriptors = len(os.listdir("/proc/self/fd"))
    jobs = planned_runs([find_task(parity)], ["worker"], range(50), tmp_path)
    results = run_jobs(jobs, make_agent, workers=50)
    assert [one.value for one in results] == [1.0] * 50
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 2
    left = [
        pid
        for pid in os.listdir("/proc")
        if pid.isdigit() and pid not in before and str(tmp_path) in _command(pid) and int(pid) != os.getpid()
    ]
    assert left == []
    assert nop_agent().name == "nop"


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf8", "replace")
    except OSError:
        return ""
