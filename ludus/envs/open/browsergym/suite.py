"""`TaskSuite`: the tasks of a benchmark, and what makes an episode of one."""

import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ludus.envs.open.browsergym.benchmark import MiniwobEpisode, PageEpisode
from ludus.envs.open.browsergym.miniwob import FLAWED, miniwob_tasks
from ludus.envs.open.browsergym.remote import REMOTE
from ludus.envs.open.browsergym.sites import SITES, SiteEpisode, site_tasks
from ludus.errors import InvalidArgument, did_you_mean, shorten

__all__ = ["NOWHERE", "TaskSuite", "suite"]


class TaskSuite(NamedTuple):
    """Tasks of one benchmark, those from which a seed draws and all that may be named."""

    benchmark: str
    tasks: tuple[str, ...]
    every: tuple[str, ...]
    viewport: tuple[int, int]
    make: Callable[[str, int, float | None], PageEpisode]

    def named(self, task: str) -> str:
        """A task by its name, with the benchmark before it or without; InvalidArgument where there is none."""
        name = str(task).removeprefix(f"{self.benchmark}.").removeprefix("browsergym/")
        if name not in self.every:
            got = f"{shorten(task)}{did_you_mean(name, list(self.every))}"
            raise InvalidArgument(
                f"BrowserGym task_name: expected one of {len(self.every)} of {self.benchmark}, got {got}"
            )
        return name

    def episode(self, task: str, seed: int, time_limit: float | None) -> PageEpisode:
        """The task, begun from a seed."""
        return self.make(task, seed, time_limit)


def _no_episode(task: str, seed: int, time_limit: float | None) -> PageEpisode:
    del seed, time_limit
    raise InvalidArgument(f"BrowserGym task_name: expected a task that is played here, got {task!r}")


NOWHERE = TaskSuite("", (), (), (1280, 720), _no_episode)
"""Of benchmarks that are played elsewhere."""


def _miniwob() -> TaskSuite:
    every = miniwob_tasks()
    sound = tuple(task for task in every if task not in FLAWED)
    return TaskSuite("miniwob", sound, every, (500, 320), MiniwobEpisode)


def _sites(site: str = "") -> TaskSuite:
    prefix = f"{site}." if site else ""
    tasks = tuple(task.removeprefix(prefix) for task in site_tasks() if task.startswith(prefix))

    def make(task: str, seed: int, time_limit: float | None) -> PageEpisode:
        return SiteEpisode(f"{prefix}{task}", seed, time_limit)

    return TaskSuite(site or "sites", tasks, tasks, (1024, 720), make)


MAKERS: dict[str, Callable[[], TaskSuite]] = {
    "miniwob": _miniwob,
    "sites": _sites,
    **{site: partial(_sites, site) for site in SITES},
}


def suite(benchmark: str | None, task: str | None) -> TaskSuite:
    """The benchmark of that name with one task, or all; None asks OpenEnv's variables, and then for miniwob."""
    name = benchmark or os.environ.get("BROWSERGYM_BENCHMARK") or "miniwob"
    task_name = task or (os.environ.get("BROWSERGYM_TASK_NAME") or None if benchmark is None else None)
    if name not in MAKERS:
        got = f"{shorten(name)}{did_you_mean(name, list(MAKERS))}"
        raise InvalidArgument(f"BrowserGym benchmark: expected one of {[*MAKERS, *REMOTE]}, got {got}")
    found = MAKERS[name]()
    return found if task_name is None else found._replace(tasks=(found.named(task_name),))
