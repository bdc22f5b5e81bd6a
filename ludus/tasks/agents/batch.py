"""Many runs: tasks × agents × seeds, some of them at once, each in a folder of its own and taken up where it was left.

A run that breaks is a result that says so, and stops no other. Threads are enough: what takes time is in sandboxes.
"""

import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from ludus.errors import InvalidArgument, LudusError, SandboxError, shorten
from ludus.sandbox import Backend
from ludus.tasks.agents.agent import Agent
from ludus.tasks.agents.result import RESULT, RunResult, journal_result, read_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.folder import Task
from ludus.tasks.journal import MAX_JOURNAL_BYTES
from ludus.tasks.journal import NAME as JOURNAL

__all__ = ["PlannedRun", "Progress", "planned_runs", "run_jobs"]

MAX_RUNS = 100_000


class PlannedRun(msgspec.Struct, frozen=True):
    """One run to be made.

    >>> from ludus.tasks import find_task
    >>> PlannedRun(find_task("sat_heuristic"), "nop", 3, Path("runs")).place
    PosixPath('runs/SatHeuristic-v0/nop/3')
    """

    task: Task
    agent: str
    seed: int
    out: Path

    @property
    def place(self) -> Path:
        """Its folder."""
        agent = Path(self.agent).stem if self.agent.endswith((".yaml", ".yml")) else Path(self.agent).name
        return self.out / self.task.spec.env_id.removeprefix("task/") / agent / str(self.seed)

    @property
    def title(self) -> str:
        """What it is called in a list."""
        return f"{self.task.spec.env_id} {self.agent} {self.seed}"


class Progress(msgspec.Struct, frozen=True):
    """What just happened to a job.

    >>> from ludus.tasks import find_task
    >>> Progress(PlannedRun(find_task("sat_heuristic"), "nop", 3, Path("runs")), "started").steps
    0
    """

    job: PlannedRun
    state: Literal["started", "step", "ended", "known"]
    """`known`: it had a result already."""
    steps: int = 0
    total: float = 0.0
    result: RunResult | None = None


Watch = Callable[[Progress], None]
MakeAgent = Callable[[str, Task, int], Agent]


def planned_runs(tasks: Iterable[Task], agents: Sequence[str], seeds: Sequence[int], out: Path) -> list[PlannedRun]:
    """Every task with every agent on every seed; the seeds of a task come one after the other."""
    jobs = [PlannedRun(task, agent, seed, out) for task in tasks for agent in agents for seed in seeds]
    if len({one.place for one in jobs}) != len(jobs) or not 0 < len(jobs) <= MAX_RUNS:
        raise InvalidArgument(f"runs: expected different tasks, agents and seeds, got {len(jobs)} with some alike")
    return jobs


def run_jobs(
    jobs: Sequence[PlannedRun],
    make_agent: MakeAgent,
    *,
    workers: int = 2,
    backend: str | Backend | None = None,
    watch: Watch | None = None,
) -> list[RunResult]:
    """Make the runs, `workers` at once; their results in the order of the jobs. `watch` is told, one call at a time."""
    lock = threading.Lock()

    def tell(progress: Progress) -> None:
        if watch is not None:
            with lock:
                watch(progress)

    results: dict[int, RunResult] = {}
    with ThreadPoolExecutor(max(1, workers), "task-run") as pool:
        futures = {pool.submit(_made, job, make_agent, backend, tell): at for at, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
        except BaseException:  # Ctrl+C, or a watcher that raised: what has not begun does not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[at] for at in range(len(jobs))]


def _made(job: PlannedRun, make_agent: MakeAgent, backend: str | Backend | None, tell: Watch) -> RunResult:
    place = job.place
    if (place / RESULT).is_file():
        known = read_result(place)
        tell(Progress(job, "known", known.steps, known.total, known))
        return known
    counted = [0, 0.0]

    def watch(call: object, step: object) -> None:
        del call
        counted[0] += 1
        counted[1] += float(getattr(step, "reward", 0.0))
        tell(Progress(job, "step", int(counted[0]), counted[1]))

    tell(Progress(job, "started"))
    try:
        _check_place(job)
        resume = _is_begun(place)
        if not resume:
            shutil.rmtree(place, ignore_errors=True)
        options = RunOptions(folder=place, resume=resume, backend=backend)
        run_task(job.task, make_agent(job.agent, job.task, job.seed), job.seed, options=options, watch=watch)
        result = read_result(place)
    except (LudusError, OSError) as error:
        result = _broken(job, error)
    tell(Progress(job, "ended", result.steps, result.total, result))
    return result


def _is_begun(place: Path) -> bool:
    """Whether there is a step to go on from: a journal's first line is whole."""
    file = place / JOURNAL
    if not file.is_file():
        return False
    with file.open("rb") as journal:
        return journal.readline(MAX_JOURNAL_BYTES).endswith(b"\n")


def _check_place(job: PlannedRun) -> None:
    """Refuse a folder of runs in which a link leads elsewhere: what is there would be removed, or gone on with."""
    place = job.out.resolve() / job.place.relative_to(job.out)
    if place.resolve() != place:
        raise InvalidArgument(f"out: expected folders and no links below {job.out}, got {job.place}")


def _broken(job: PlannedRun, error: Exception) -> RunResult:
    """A run that could not be made: not the agent's failure, and not written down, so that it is tried again."""
    outcome = "infrastructure_failed" if isinstance(error, SandboxError | OSError) else "environment_failed"
    spec, reason = job.task.spec, f"{type(error).__name__}: {shorten(str(error), 500)}"
    with suppress(LudusError):  # a journal that is none says nothing of the run
        if _is_begun(job.place):
            result = journal_result(spec, job.place, job.agent)
            result.outcome, result.reason = outcome, reason
            return result
    return RunResult(task=spec.env_id, agent=job.agent, seed=job.seed, outcome=outcome, reason=reason)
