"""`TaskEnv`: a research task as an environment: tool calls in a sandboxed workspace, and a score out of its reach."""

import shutil
import time
from pathlib import Path
from typing import ClassVar, TypedDict

import msgspec
import numpy as np

from ludus.core import Info, Outcome, Step
from ludus.core.snapshot import Memo
from ludus.errors import EnvError, InvalidAction, LimitExceeded, ResetNeeded, SnapshotError
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.sandbox import Backend, Change, ShellState
from ludus.sandbox.leftovers import private_folder
from ludus.sandbox.removal import remove_tree
from ludus.seeding import Seed
from ludus.tasks.actions import call_in
from ludus.tasks.budget import Budget
from ludus.tasks.folder import Task, find_task
from ludus.tasks.grading import Grader, TaskData, TaskScore
from ludus.tasks.hooks import finite, given
from ludus.tasks.journal import Journal, JournalEntry
from ludus.tasks.ladder import Ladder
from ludus.tasks.memory import MEMORY, keep_memory, read_memory
from ludus.tasks.picture import task_picture
from ludus.tasks.run_folder import check_run_folder
from ludus.tasks.sandboxes import keep_from_agent, link_interpreter
from ludus.tasks.spec import TaskSpec
from ludus.tasks.step_usage import StepUsage
from ludus.tasks.toolset import TaskTools
from ludus.tasks.variables import applied, setting
from ludus.tasks.workspace import TaskWorkspace
from ludus.tools import Call, Calls, ToolError, ToolOutcome
from ludus.tools.outcome import failed, succeeded

__all__ = ["TaskEnv", "TaskState"]

MAX_DIFF_CHARS = 20_000
"""Characters of a diff in the state."""
BESIDE = ("run.ludus", "result.json")
"""What a runner may put into a run's folder before the run begins."""


class TaskState(msgspec.Struct):
    """What is shown of an episode.

    >>> TaskState(task="TabularRegression-v0").step
    0
    """

    task: str = ""
    step: int = 0
    best_validation: float = 0.0
    """Normalised, as coarse as the agent was shown."""
    diff: str = ""
    """What the last step changed in the workspace, line by line where it is text."""
    submitted: bool = False
    score: float | None = None
    """Of the hidden split, once the episode has ended."""


class TaskEnvState(TypedDict):
    """Where an episode of a task is, for snapshots."""

    attributes: object
    work: str
    """The id of the workspace's snapshot."""
    shell: ShellState | None
    base: str


class TaskEnv(Drawn, TaskTools):
    """A task: reset gives its description and the workspace, actions are tool calls, the end is a score.

    `task` is the name of a shipped task, a folder or file of one, or a `TaskSpec`; `backend` the sandbox to work in.
    `memory` is a text file that lasts from run to run: the agent finds it as `memory.md`, and may change it.
    The reward of `validate` is what it adds to the normalised score, in steps of the task's resolution; that of
    `submit` is the rest, so that an episode's return is its normalised score less its costs.

    >>> with TaskEnv("tabular_regression") as env:
    ...     observation, info = env.reset(seed=0)
    ...     step = env.call("shell", command="ls")
    >>> print(step.observation.result)
    README.md
    data
    """

    metadata = Drawn.metadata | {"render_fps": 2}
    snapshot_shared: ClassVar[tuple[str, ...]] = ("_place", "_data", "_window", "_calls", "_held", "task")
    config: ClassVar[str | Path | TaskSpec | None] = None
    """What a subclass is about, where its constructor is given nothing."""

    def __init__(
        self,
        task: str | Path | TaskSpec | Task | None = None,
        *,
        folder: str | Path | None = None,
        backend: str | Backend | None = None,
        memory: str | Path | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._calls = Calls(self.tools)
        self.task = find_task(self.config if task is None else task, check=False)
        self.task.check(grader=type(self).evaluate is TaskEnv.evaluate)  # a subclass may score by itself
        self.render_mode = render_mode
        self.state: TaskState | None = None
        self.folder, self._backend = None if folder is None else Path(folder), backend
        self.memory = None if memory is None else Path(memory)
        self._place: TaskWorkspace | None = None
        self._held: set[Path] = set()
        """Folders of episodes that snapshots were taken of: they stay until `close`, for a restore after a reset."""
        self._data: TaskData | None = None
        self._spec = self.task.spec
        self._seed = 0
        self._clear()

    def _clear(self) -> None:
        self._budget, self._ladder = Budget.of(self._spec), Ladder(self._spec.evaluation.resolution)
        self._score: TaskScore | None = None
        self._scores: list[Info] = []
        self._shown: list[tuple[str, str]] = []
        self._command: Info = {}
        self._submitted = False
        self._snapshot: str | None = None
        self._previous: str | None = None
        """The snapshot before that."""
        self.measured = StepUsage()
        """What the last step took by the clock; not in infos, which are the same for the same seed."""
        self.last: JournalEntry | None = None
        """The last step, as journals have it."""

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Info | None = None) -> tuple[ToolOutcome, Info]:
        """Make a new workspace, with data of this seed; the observation says what is asked and what is there."""
        super().reset(seed=seed, options=options)
        self._under_way = False
        self._drop()
        self._seed = int(self.np_random.integers(np.iinfo(np.int64).max))
        self._spec = applied(self.task.spec)
        self._clear()
        self._place = TaskWorkspace(self._spec, self.task.folder, self._base(), backend=self._backend)
        try:
            self._data = self._place.begin(
                self._seed, {} if self.memory is None else {MEMORY: read_memory(self.memory)}
            )
            self._snapshot = self._place.snapshot("start")
        except BaseException:
            self._drop()
            raise
        self._budget = Budget.of(self._spec)
        self.state = TaskState(task=self._spec.id)
        self._under_way = True
        observation = ToolOutcome("", given(self.describe(), str, "describe: expected text"))
        self._shown = [("", observation.result)]
        guarantees = msgspec.to_builtins(self._place.guarantees)
        info = {**self._info(), "guarantees": guarantees, "grading": self._place.grading, "data": self._data.checksum}
        self._note(JournalEntry(step=0, seed=self.np_random_seed, observation=observation, info=info))
        return observation, info

    def step(self, action: Call | str) -> Step[ToolOutcome]:
        """Carry a call out; text is parsed to one, and what is none costs a forfeit."""
        if not self._under_way or self.state is None:
            raise ResetNeeded("step: expected reset() first, got no episode under way")
        call = Call("text", {"message": action}) if isinstance(action, str) else action
        self.action_space.check(call, "action", InvalidAction)
        self._command, self.measured = {}, StepUsage()
        begun, before = time.monotonic(), self._ladder.best
        self._budget.steps += 1
        observation = self._observed(call)
        self._remember(call, observation)
        ends = self._ends()
        reward = finite(self.get_reward(call, observation)) + self._ladder.best - before
        if ends is not None:
            reward += self._finish(ends)
        step = self._step_result(observation, reward - self._spec.cost, ends)
        self.measured.step_seconds, self.measured.seconds = time.monotonic() - begun, self._budget.seconds
        self._note(
            JournalEntry(
                step=self._budget.steps,
                call=call,
                observation=observation,
                reward=step.reward,
                terminated=step.terminated,
                truncated=step.truncated,
                info=step.info,
            )
        )
        return step

    def _note(self, entry: JournalEntry) -> None:
        """Keep a step with what it takes to go on from it, in the journal where there is a folder."""
        if self._place is None:
            return
        session = self._place.session
        entry.measured, self.last = self.measured, entry
        entry.data_seed, entry.checksum = self._seed, "" if self._data is None else self._data.checksum
        entry.snapshot, entry.shell = self._snapshot, None if session is None else session.state
        self._budget.pause()
        entry.budget, entry.best, entry.scores = self._budget, self._ladder.best, self._scores
        if self.folder is not None:
            self._journal.add(entry)

    @property
    def _journal(self) -> Journal:
        return Journal(self._placed().base)

    def resume(self) -> list[JournalEntry]:
        """Take up the episode that the folder holds, after its last whole step; its entries so far.

        What the agent ran in the background is gone; files, shell and budgets are as that step left them.
        """
        if self.folder is None:
            raise EnvError("resume: expected an environment with a folder, got one without; pass folder=")
        base = self.folder.resolve()
        entries = Journal(base).read()
        check_run_folder(base, "resume")
        self._drop()
        self._spec = applied(self.task.spec)
        self._clear()
        place = TaskWorkspace(self._spec, self.task.folder, base, backend=self._backend)
        last = entries[-1]
        if last.ended:
            raise EnvError(f"resume: expected an episode under way, got one that ended at step {last.step}")
        self._place, self._seed = place, last.data_seed
        self._data = TaskData(place.base / "public", place.base / "hidden", last.data_seed, last.checksum)
        self._budget = self._budget if last.budget is None else last.budget.taken_up(self._spec)
        self._ladder.best, self._scores = last.best, last.scores
        kept = next((one for one in reversed(entries) if one.snapshot is not None), None)
        if kept is None or kept.snapshot is None:
            raise EnvError("resume: expected a step with a snapshot, got none")
        place.restore(kept.snapshot, last.shell)
        self._snapshot = kept.snapshot
        self.state = TaskState(task=self._spec.id, step=last.step, best_validation=last.best)
        self._shown = [("", entries[0].observation.result)]
        self._under_way = True
        return entries

    def _observed(self, call: Call) -> ToolOutcome:
        try:
            call = self._meant(call)
        except ToolError as error:
            self._budget.forfeits += 1
            return failed(call.tool, error)
        self._budget.forfeits = 0
        tool = self.tools[call.tool]
        try:
            return succeeded(call.tool, self._carry_out(tool, tool.arguments(call.arguments)), tool.returns)
        except self.told as error:
            return failed(call.tool, error)

    def _meant(self, call: Call) -> Call:
        """The call itself, or the one that its text means."""
        if call.tool != "text":
            return call
        meant = call_in(str(call.arguments["message"]), self._calls)
        if meant.tool == "text":
            raise ToolError("expected a call in the text, got text in it again")
        return meant

    def _remember(self, call: Call, observation: ToolOutcome) -> None:
        """Keep the workspace as the step left it, and what was seen for the picture."""
        arguments = " ".join(str(one) for one in call.arguments.values())
        self._shown = [*self._shown[-12:], (f"{call.tool} {arguments}"[:2000], observation.result or observation.error)]
        place = self._placed()
        self._previous = self._snapshot or self._previous
        if place.session is not None:
            place.measure(self.measured)
        try:
            self._snapshot = place.snapshot(f"step {self._budget.steps}")
        except LimitExceeded as error:
            self._snapshot = None
            observation.error = (
                f"{observation.error}\nthe workspace is beyond its limits: {error}; remove files".strip()
            )
        except SnapshotError as error:
            self._snapshot = None
            self._command["snapshot_error"] = str(error)

    def _ends(self) -> Outcome | None:
        if self._submitted or self.is_done():
            return Outcome.SUCCESS
        return self._budget.exhausted()

    def _finish(self, ends: Outcome) -> float:
        """Kill what the agent runs, and score what is there; the part of the reward that was not given yet."""
        place = self._placed()
        place.stop()
        if self.memory is not None:
            keep_memory(self.memory, place.work)
        self._score = given(
            self.evaluate(self._spec.evaluation.hidden_split), TaskScore, "evaluate: expected a TaskScore"
        )
        self._keep_score(self._score)
        self._under_way = False
        return self._score.normalised - self._ladder.best

    def _step_result(self, observation: ToolOutcome, reward: float, ends: Outcome | None) -> Step[ToolOutcome]:
        state = self.state or TaskState()
        state.step, state.best_validation = self._budget.steps, self._ladder.best
        state.diff = "\n".join(one.text or f"{one.path}: {one.size}" for one in self.changes)[:MAX_DIFF_CHARS]
        info = self._info()
        if ends is None or self._score is None:
            return Step(observation, reward, False, False, info)
        state.submitted, state.score = self._submitted, self._score.value
        reached = self._score.reached and not self._score.failed
        outcome = (Outcome.SUCCESS if reached else Outcome.FAILURE) if ends is Outcome.SUCCESS else ends
        info["score"] = self._score.unmeasured(self._spec.evaluation)
        info["facts"] = {"won": reached, "score": self._score.value, "normalised": self._score.normalised}
        return Step.ending(observation, outcome, reward, info)

    def _info(self) -> Info:
        holds = {} if self._place is None else self._place.holds
        info: Info = {"usage": self._budget.used() | holds, "budget": self._budget.left()}
        if self._snapshot is not None:
            info["snapshot"] = self._snapshot
        if self._command:
            info["command"] = self._command
        return info

    def close(self) -> None:
        """Kill what runs, and remove the workspace unless a folder was given for it."""
        self._under_way = False
        self._drop()
        while self._held:
            base = self._held.pop()
            if base != self._kept:
                remove_tree(base)
        super().close()

    # --- what a subclass may change ---

    def describe(self) -> str:
        """The first observation: what is asked, what is there, what may be used."""
        place, spec = self._placed(), self._spec
        files = [one for one in sorted(place.work.rglob("*")) if one.is_file()]
        data = [one for one in sorted((place.base / "public").rglob("*")) if one.is_file()]
        names = [str(one.relative_to(place.work)) for one in files]
        names += [f"{spec.data.folder}/{one.relative_to(place.base / 'public')} (read-only)" for one in data]
        submission = ", ".join(one.path for one in spec.submission)
        return (
            f"# {spec.name}\n\n{spec.description.strip()}\n\n"
            f"Workspace: /work\nFiles:\n" + "".join(f"  {name}\n" for name in names[:100]) + f"\n"
            f"To hand in: {submission}\nScore: {spec.evaluation.metric}, {spec.evaluation.direction_known}\n"
            f"{self._budget.text()}\n"
        )

    def get_reward(self, action: Call, result: ToolOutcome) -> float:
        """What a step is worth beside the score, which is added by itself; nothing by default."""
        del action, result
        return 0.0

    def is_done(self) -> bool:
        """Whether the task is over without a `submit`; never by default."""
        return False

    def evaluate(self, split: str) -> TaskScore:
        """Score the workspace on a split, where nothing of the agent's can reach."""
        if self._data is None or self.task.folder is None:
            return TaskScore(split=split, reason="the task has no grader")
        grader = Grader(self._spec, self.task.folder, self._data, backend=self._backend)
        return grader.grade(self._placed().work, split)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The files that the last step changed, small texts line by line."""
        return () if self._place is None else self._place.changes(self._previous, self._snapshot)

    def draw(self) -> Canvas:
        """Scores so far, budgets, and the last calls with what they gave."""
        return task_picture(self._spec, self._budget, self._scores, self._shown)

    def get_choices(self) -> list[Choice]:
        """What a person does most, as a page of play offers it; all tools are in its form."""
        command = {"tool": "shell", "arguments": {"command": "{text}"}}
        plain = [
            choice(name.capitalize(), {"tool": name, "arguments": {}}) for name in ("validate", "budget", "submit")
        ]
        return [choice("Run", command, ask="A command of the shell", lines=3), *plain]

    # --- what tools use ---

    def _placed(self) -> TaskWorkspace:
        if self._place is None:
            raise ResetNeeded("task: expected reset() first, got no workspace")
        return self._place

    def _validated(self) -> TaskScore:
        """Score the public split, within the budget."""
        self._budget.validations += 1
        place = self._placed()
        with place.shell.paused():  # jobs change nothing while files are read
            score = given(
                self.evaluate(self._spec.evaluation.public_split), TaskScore, "evaluate: expected a TaskScore"
            )
        self._ladder.update(score.normalised)
        self._keep_score(score)
        return score

    def _keep_score(self, score: TaskScore) -> None:
        self.measured.grading_seconds += score.seconds
        kept: Info = msgspec.to_builtins(score)
        self._scores = [*self._scores, kept | {"step": self._budget.steps}]

    # --- places ---

    def _base(self) -> Path:
        if self.folder is not None:
            if self.folder.exists() and any(one.name not in BESIDE for one in self.folder.iterdir()):
                raise EnvError(f"folder: expected one that is empty or not there, got {self.folder}")
            return self.folder.resolve()
        chosen = setting("workspace_path").value
        if not chosen:
            return Path(private_folder("task"))
        base = Path(chosen).resolve() / f"{self._spec.id}-{self._seed:016x}"
        remove_tree(base)
        return base

    def _drop(self) -> None:
        if self._place is not None:
            if self.folder is None and self._place.base not in self._held:
                self._place.remove()
            else:
                self._place.close()
            self._place = None

    @property
    def _kept(self) -> Path | None:
        """The folder that the caller chose, which stays."""
        return None if self.folder is None else self.folder.resolve()

    # --- snapshots ---

    def _capture(self, memo: Memo) -> TaskEnvState:
        place = self._placed()
        self._budget.pause()
        kept = place.snapshot("snapshot")
        self._held.add(place.base)
        shell = None if place.session is None else place.session.state
        return {"attributes": super()._capture(memo), "work": kept, "shell": shell, "base": str(place.base)}

    def _reinstate(self, state: TaskEnvState, memo: Memo) -> None:
        super()._reinstate(state["attributes"], memo)
        self._budget.began = Budget.of(self._spec).began
        base, shell = Path(state["base"]), state["shell"]
        place = self._place
        if place is None or place.base != base:
            place = self._moved(base)
        place.restore(state["work"], shell or ShellState(cwd="/work"), base / "store")
        if not self._under_way:
            place.stop()

    def _moved(self, base: Path) -> TaskWorkspace:
        """A workspace with the data of another environment's episode, for a state that is taken over from it."""
        if not (base / "store").is_dir():
            raise SnapshotError(f"restore: expected the workspace of the snapshot to be there, got no {base}")
        self._drop()
        place = TaskWorkspace(self._spec, self.task.folder, self._base(), backend=self._backend)
        for name in ("public", "hidden", "fixed", "empty", "task"):
            shutil.copytree(base / name, place.base / name)
        link_interpreter(place.base / "bin")
        for name in ("hidden", "task"):
            keep_from_agent(place.base / name)
        place.adopt()
        self._place = place
        self._data = TaskData(place.base / "public", place.base / "hidden", self._seed, "")
        return place
