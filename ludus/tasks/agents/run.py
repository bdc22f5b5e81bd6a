"""A run: one agent on one task and one seed, recorded, kept in a folder, or neither; and grading of files by hand."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np

from ludus.errors import InvalidArgument
from ludus.sandbox import Backend
from ludus.seeding import np_random
from ludus.tasks.agents.agent import Agent
from ludus.tasks.agents.episode import Episode, play_episode, resume_episode
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import Task
from ludus.tasks.grading import Grader, Score, make_data
from ludus.tools import Call
from ludus.trajectory import Recorder

__all__ = ["RunOptions", "grade_folder", "run_task"]


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run leaves what happened.

    >>> RunOptions().folder is None
    True
    """

    record: Path | None = None
    """A new `.ludus` file."""
    folder: Path | None = None
    """A folder that keeps workspace, snapshots and journal."""
    resume: bool = False
    """Go on with the run of the folder."""
    backend: str | Backend | None = None


def run_task(
    task: Task,
    agent: Agent,
    seed: int,
    *,
    options: RunOptions | None = None,
    watch: Callable[[Call, Any], None] | None = None,
) -> Episode:
    """Play an episode to its end, or from where a run was left."""
    options = RunOptions() if options is None else options
    bare = TaskEnv(task, folder=options.folder, backend=options.backend)
    if options.resume:
        if options.folder is None or options.record is not None:
            raise InvalidArgument(
                "resume: expected a folder and no record, got " + ("both" if options.folder else "none")
            )
        with bare as env:
            return resume_episode(env, agent, watch=watch)
    if options.record is None:
        with bare as env:
            return play_episode(env, agent, seed, watch=watch)
    metadata = {"task": task.spec.id, "agent": agent.name, "seed": seed}
    with Recorder(bare, options.record, "full", metadata=metadata) as env:
        return play_episode(env, agent, seed, watch=watch)


def grade_folder(
    task: Task, submission: Path, seed: int, *, split: str | None = None, backend: str | Backend | None = None
) -> Score:
    """Score files with the data of an episode of that seed: a score of a run can be checked by anybody."""
    if task.folder is None:
        raise InvalidArgument(f"{task.spec.id}: expected a task with a folder, got none")
    drawn = int(np_random(seed)[0].integers(np.iinfo(np.int64).max))
    with TemporaryDirectory(prefix="ludus-grade-") as base:
        data = make_data(task.spec, task.folder, Path(base), seed=drawn, backend=backend)
        chosen = task.spec.evaluation.hidden_split if split is None else split
        return Grader(task.spec, task.folder, data, backend=backend).grade(submission, chosen)
