"""Many runs at once, of agents and tasks that a stranger wrote: whatever one of them raises, the others are made."""

import re

import pytest

from ludus.errors import ServiceError
from ludus.sandbox.leftovers import identity
from ludus.sandbox.removal import remove_tree
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import ScriptedTaskAgent, play_episode
from ludus.tasks.agents.batch import planned_runs, run_jobs
from ludus.tasks.agents.result import find_results
from ludus.tools import Call
from ludus.trajectory import Run
from tests.attacks.canaries import remove_tree as remove_by_system
from tests.sandbox.test_removal import dig
from tests.tasks.conftest import SOLVE, TASK

SOLVED = Call("shell", {"command": f'python3 -c "{SOLVE}" > answer.json'})


class Unspeakable(Exception):
    """An error that cannot even be shown."""

    def __str__(self):
        raise ValueError

    __repr__ = __str__


FAILURES = {
    "key": KeyError("plan"),
    "exit": SystemExit(1),
    "end": EOFError(),
    "file": FileNotFoundError(2, "No such file", "weights.pt"),
    "deep": RecursionError("maximum recursion depth exceeded"),
    "unspeakable": Unspeakable(),
    "server": ServiceError("model mine: expected an answer, got HTTP 500"),
}
ENDS = {
    "key": ("agent_failed", r"KeyError\('plan'\) \(.*test_batch.py, line \d+, in act\)"),
    "exit": ("agent_failed", r"SystemExit\(1\) \(.*in act\)"),
    "end": ("agent_failed", r"EOFError\(\) \(.*in act\)"),
    "file": ("agent_failed", r"FileNotFoundError: .*weights.pt"),
    "deep": ("agent_failed", r"RecursionError\(.*in act\)"),
    "unspeakable": ("agent_failed", r"a Unspeakable \(.*in act\)"),
    "begin": ("agent_failed", r"KeyError\('prompt'\) \(.*in begin\)"),
    "events": ("agent_failed", r"ZeroDivisionError\(.*in events\)"),
    "constructor": ("agent_failed", r"TypeError\('no such model'\) \(.*in __init__\)"),
    "nothing": ("invalid_action", r"InvalidAction: .*action: expected .*got None"),
    "server": ("infrastructure_failed", r"ServiceError: .*HTTP 500"),
}


class Stranger(ScriptedTaskAgent):
    """An agent that fails as its name says, most of them after their first call."""

    def __init__(self, name):
        super().__init__([Call("shell", {"command": "echo begun > begun"})], name=name)
        if name == "constructor":
            raise TypeError("no such model")

    def begin(self, description, space):
        super().begin(description, space)
        if self.name == "begin":
            raise KeyError("prompt")

    def act(self, observation):
        if self._next and self.name in FAILURES:
            raise FAILURES[self.name]
        return None if self._next and self.name == "nothing" else super().act(observation)

    def events(self):
        return 1 / 0 if self._next and self.name == "events" else ()


def make_agent(name, task, seed):
    """The honest worker, or a stranger."""
    return ScriptedTaskAgent([SOLVED], name=name) if name == "worker" else Stranger(name)


def test_whatever_a_strangers_agent_raises_is_its_own_result_and_stops_no_other_run(parity, tmp_path):
    jobs = planned_runs([find_task(parity)], [*ENDS, "worker"], [0], tmp_path / "runs")
    *broken, whole = run_jobs(jobs, make_agent, workers=4)
    assert whole.value == 1.0
    for (name, (outcome, reason)), result in zip(ENDS.items(), broken, strict=True):
        assert (result.agent, result.outcome, result.normalised) == (name, outcome, 0.0), result.reason
        assert re.search(reason, result.reason), result.reason
        assert result.steps == (0 if name in ("begin", "constructor") else 1)
    # What an agent did counts and stays; what a server did is taken up again, where it was left.
    assert {one.agent for one in find_results([tmp_path / "runs"])} == {*ENDS, "worker"} - {"constructor", "server"}
    last = list(Run.open(tmp_path / "runs" / "Parity-v0" / "key" / "0" / "run.ludus").events())[-1]
    assert (last.kind, last.value.type) == ("failure", "KeyError")
    [job] = [one for one in jobs if one.agent == "server"]
    [again] = run_jobs([job], lambda *given: make_agent("worker", *given[1:]))
    assert (again.outcome, again.steps) == ("success", 3)


def test_whatever_a_task_raises_is_no_result_of_the_agents_and_stops_no_other_run(parity, tmp_path, monkeypatch):
    failures = [UnicodeDecodeError("utf8", b"x", 0, 1, "no text"), RecursionError(), OSError(28, "disk full")]

    def describe(self):
        if self.np_random_seed < len(failures):
            raise failures[self.np_random_seed]
        return "say which are even"

    monkeypatch.setattr(TaskEnv, "describe", describe)
    results = run_jobs(planned_runs([find_task(parity)], ["worker"], range(4), tmp_path / "runs"), make_agent)
    assert [one.outcome for one in results] == ["environment_failed"] * 2 + ["infrastructure_failed", "success"]
    assert re.search(r"UnicodeDecodeError\(.*line \d+, in describe\)", results[0].reason)
    assert len(find_results([tmp_path / "runs"])) == 1


def test_a_result_that_is_damaged_stops_no_other_run_and_is_left_as_it_is(parity, tmp_path):
    jobs = planned_runs([find_task(parity)], ["worker"], [0, 1], tmp_path / "runs")
    jobs[0].place.mkdir(parents=True)
    (jobs[0].place / "result.json").write_text("{")
    damaged, whole = run_jobs(jobs, make_agent)
    assert (damaged.outcome, whole.outcome) == ("environment_failed", "success")
    assert "expected the result of a run" in damaged.reason
    assert (jobs[0].place / "result.json").read_text() == "{"


@pytest.mark.parametrize("error", [OSError(32, "Broken pipe"), KeyError("board"), KeyboardInterrupt()], ids=repr)
def test_a_watcher_that_raises_ends_all_runs_and_is_no_result_of_one(parity, tmp_path, error):
    def watch(progress):
        if progress.state == "step":
            raise error

    jobs = planned_runs([find_task(parity)], ["worker"], range(2), tmp_path / "runs")
    with pytest.raises(type(error)) as raised:
        run_jobs(jobs, make_agent, workers=1, watch=watch)
    assert raised.value is error
    assert not jobs[1].place.exists()
    assert [one.value for one in run_jobs(jobs, make_agent)] == [1.0] * 2


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where temporary folders are made, and runs may be kept; pytest could not remove what is deep in it."""
    (tmp_path / "place").mkdir()
    monkeypatch.setattr("ludus.sandbox.leftovers._base", lambda: str(tmp_path / "place"))
    yield tmp_path / "place"
    remove_by_system(str(tmp_path / "place"))


def test_folders_deeper_than_python_can_walk_neither_break_a_run_nor_stay(parity, place):
    boot, namespace, pid, started = identity().split(".")
    dig(place / f"ludus-home-{boot}.{namespace}.{pid}.{int(started) + 1}-left")  # by a process that was killed
    parity.joinpath("task.yaml").write_text(TASK + "artifacts: ['**/*.txt']\n")
    deep = "import os\nfor _ in range(1200): os.mkdir('d'); os.chdir('d')"
    task, calls = find_task(parity), [Call("shell", {"command": f'python3 -c "{deep}"'}), SOLVED]
    with TaskEnv(task) as env:
        episode = play_episode(env, ScriptedTaskAgent(calls), 0)
    assert (episode.outcome, episode.total) == ("success", 1.0)
    [job] = planned_runs([task], ["deep"], [0], place / "runs")
    [result] = run_jobs([job], lambda *given: ScriptedTaskAgent(calls, name="deep"))
    assert (result.outcome, result.value) == ("success", 1.0), result.reason
    assert (job.place / "artifacts" / "answer.json").is_file()
    remove_tree(place / "runs")
    assert list(place.iterdir()) == []
