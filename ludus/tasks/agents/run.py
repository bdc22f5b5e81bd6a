"""A run: one agent on one task and one seed, recorded or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ludus.sandbox import Backend
from ludus.tasks.agents.agent import Agent
from ludus.tasks.agents.episode import Episode, play_episode
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import Task
from ludus.tools import Call
from ludus.trajectory import Recorder

__all__ = ["run_task"]


def run_task(
    task: Task,
    agent: Agent,
    seed: int,
    *,
    record: Path | None = None,
    backend: str | Backend | None = None,
    watch: Callable[[Call, Any], None] | None = None,
) -> Episode:
    """Play an episode to its end; with `record` everything that happens is in a new `.ludus` file."""
    bare = TaskEnv(task, backend=backend)
    if record is None:
        with bare as env:
            return play_episode(env, agent, seed, watch=watch)
    metadata = {"task": task.spec.id, "agent": agent.name, "seed": seed}
    with Recorder(bare, record, "full", metadata=metadata) as env:
        return play_episode(env, agent, seed, watch=watch)
