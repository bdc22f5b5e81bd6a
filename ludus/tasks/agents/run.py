"""A run: one agent on one task and one seed, recorded, kept in a folder, or neither; and grading of files by hand."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from ludus.errors import InvalidArgument
from ludus.sandbox import Backend
from ludus.sandbox.leftovers import temporary_folder
from ludus.seeding import np_random
from ludus.tasks.agents.agent import TaskAgent
from ludus.tasks.agents.episode import TaskEpisode, Watch, ended_episode, play_episode, resume_episode
from ludus.tasks.agents.events import task_metadata
from ludus.tasks.agents.replay import export_run
from ludus.tasks.agents.result import RESULT, journal_result, write_result
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import Task
from ludus.tasks.grading import Grader, TaskScore, make_data
from ludus.tasks.grading.submission import SubmissionError, read_inside
from ludus.tasks.journal import NAME as JOURNAL
from ludus.tasks.journal import Journal
from ludus.tasks.run_folder import check_run_folder, is_too_deep
from ludus.tasks.spec import TaskSpec
from ludus.trajectory import Recorder

__all__ = ["RECORD", "RunOptions", "grade_folder", "run_task"]

RECORD = "run.ludus"
ARTIFACTS = "artifacts"
MAX_ARTIFACT_BYTES = 64 << 20
"""Bytes of one file that is kept."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run leaves what happened.

    >>> RunOptions().folder is None
    True
    """

    record: Path | None = None
    """A new `.ludus` file; of a run with a folder, `run.ludus` in it unless another is named."""
    folder: Path | None = None
    """A folder that keeps workspace, snapshots, journal, trajectory, artifacts and result."""
    resume: bool = False
    """Go on with the run of the folder."""
    backend: str | Backend | None = None
    memory: Path | None = None
    """A text file that lasts from run to run."""

    def env(self, task: Task) -> TaskEnv:
        """The environment of a run."""
        return TaskEnv(task, folder=self.folder, backend=self.backend, memory=self.memory)


def run_task(
    task: Task,
    agent: TaskAgent,
    seed: int,
    *,
    options: RunOptions | None = None,
    watch: Watch | None = None,
) -> TaskEpisode:
    """Play an episode to its end, or from where a run was left."""
    options = RunOptions() if options is None else options
    folder = options.folder
    if options.resume and (folder is None or options.record is not None):
        raise InvalidArgument("resume: expected a folder and no record, got " + ("both" if folder else "none"))
    if folder is None:
        return _played(task, agent, seed, options.record, options, watch)
    if options.resume:
        episode = _resumed(task, agent, folder, options, watch)
        (folder / RECORD).unlink(missing_ok=True)
        export_run(task, folder, folder / RECORD, agent=agent.name)
    else:
        _check_unused(folder)
        folder.mkdir(parents=True, exist_ok=True)
        episode = _played(task, agent, seed, options.record or folder / RECORD, options, watch)
    keep_artifacts(task.spec, folder)
    write_result(journal_result(task.spec, folder, agent.name), folder)
    return episode


def _check_unused(folder: Path) -> None:
    if (folder / RECORD).exists() or (folder / JOURNAL).exists():
        ended = (folder / RESULT).is_file()
        more = "`ludus view` shows it" if ended else "--resume goes on with it"
        raise InvalidArgument(f"folder: expected one without a run, got {folder}; {more}, another --folder begins anew")


def _resumed(task: Task, agent: TaskAgent, folder: Path, options: RunOptions, watch: Watch | None) -> TaskEpisode:
    """To the end; a run that was killed between its last step and its result has been there already."""
    entries = Journal(folder).read()
    check_run_folder(folder, "resume")
    if entries[-1].ended and not (folder / RESULT).is_file():
        return ended_episode(entries, agent.name)
    with options.env(task) as env:
        return resume_episode(env, agent, watch=watch)


def _played(
    task: Task,
    agent: TaskAgent,
    seed: int,
    record: Path | None,
    options: RunOptions,
    watch: Watch | None,
) -> TaskEpisode:
    bare = options.env(task)
    if record is None:
        with bare as env:
            return play_episode(env, agent, seed, watch=watch)
    with Recorder(bare, record, "full", metadata=task_metadata(task.spec, agent.name, seed)) as env:
        return play_episode(env, agent, seed, watch=watch)


def keep_artifacts(spec: TaskSpec, folder: Path) -> list[str]:
    """Copy what a task wants kept, and what was handed in, out of an ended run's workspace; no link is followed."""
    work, kept = folder / "work", list[str]()
    patterns = (*spec.artifacts, *(one.path for one in spec.submission))
    for path in sorted({path for pattern in patterns for path in _matching(work, pattern)}):
        with contextlib.suppress(SubmissionError, OSError):
            data = read_inside(work, path, MAX_ARTIFACT_BYTES)
            target = folder / ARTIFACTS / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            kept.append(path)
    return kept


def _matching(work: Path, pattern: str) -> Iterator[str]:
    """Paths of a workspace; what may be at any depth is not looked for where folders are too deep to be walked."""
    if "**" not in pattern or not is_too_deep(work):
        yield from (str(one.relative_to(work)) for one in work.glob(pattern))


def grade_folder(
    task: Task, submission: Path, seed: int, *, split: str | None = None, backend: str | Backend | None = None
) -> TaskScore:
    """Score files with the data of an episode of that seed: a score of a run can be checked by anybody."""
    if task.folder is None:
        raise InvalidArgument(f"{task.spec.id}: expected a task with a folder, got none")
    drawn = int(np_random(seed)[0].integers(np.iinfo(np.int64).max))
    with temporary_folder("grade") as base:
        data = make_data(task.spec, task.folder, Path(base), seed=drawn, backend=backend)
        chosen = task.spec.evaluation.hidden_split if split is None else split
        return Grader(task.spec, task.folder, data, backend=backend).grade(submission, chosen)
