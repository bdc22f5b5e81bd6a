"""Many runs: tasks × agents × seeds, some of them at once, each in a folder of its own and taken up where it was left.

A run that breaks is a result that says so, and stops no other: what the agent raised is `agent_failed`, which counts
and stays; what the environment, the machine or a server raised says nothing of the agent, and is tried again by the
same call. Threads are enough: what takes time is in sandboxes.
"""

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import extract_tb
from typing import Literal

import msgspec

from ludus.core import Outcome
from ludus.errors import InvalidArgument, LudusError, ServiceError, shorten
from ludus.sandbox import Backend
from ludus.sandbox.removal import remove_tree
from ludus.tasks.agents.agent import TaskAgent
from ludus.tasks.agents.result import RESULT, RunResult, journal_result, read_result, write_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.agents.solution import nop_agent
from ludus.tasks.folder import Task
from ludus.tasks.journal import MAX_JOURNAL_BYTES
from ludus.tasks.journal import NAME as JOURNAL
from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory.event import EventValue

__all__ = ["PlannedRun", "RunProgress", "planned_runs", "run_jobs"]

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


class RunProgress(msgspec.Struct, frozen=True):
    """What just happened to a job.

    >>> from ludus.tasks import find_task
    >>> RunProgress(PlannedRun(find_task("sat_heuristic"), "nop", 3, Path("runs")), "started").steps
    0
    """

    job: PlannedRun
    state: Literal["started", "step", "ended", "known"]
    """`known`: it had a result already."""
    steps: int = 0
    total: float = 0.0
    result: RunResult | None = None


RunWatch = Callable[[RunProgress], None]
MakeAgent = Callable[[str, Task, int], TaskAgent]


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
    watch: RunWatch | None = None,
) -> list[RunResult]:
    """Make the runs, `workers` at once; their results in the order of the jobs. `watch` is called one at a time.

    What `watch` raises ends all of it: runs under way are left as they are, to be taken up again.
    """
    lock, raised = threading.Lock(), list[BaseException]()

    def tell(progress: RunProgress) -> None:
        with lock:
            if raised:
                raise _WatcherFailed
            try:
                if watch is not None:
                    watch(progress)
            except BaseException as error:
                raised.append(error)
                raise _WatcherFailed from error

    results: dict[int, RunResult] = {}
    with ThreadPoolExecutor(max(1, workers), "task-run") as pool:
        futures = {pool.submit(_made, job, make_agent, backend, tell): at for at, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
        except _WatcherFailed:
            pool.shutdown(wait=False, cancel_futures=True)
            raise raised[0] from None
        except BaseException:  # Ctrl+C: what has not begun does not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[at] for at in range(len(jobs))]


def _made(job: PlannedRun, make_agent: MakeAgent, backend: str | Backend | None, tell: RunWatch) -> RunResult:
    counted, guard = [0, 0.0], _AgentGuard()

    def watch(call: object, step: object) -> None:
        del call
        counted[0] += 1
        counted[1] += float(getattr(step, "reward", 0.0))
        tell(RunProgress(job, "step", int(counted[0]), counted[1]))

    try:
        if (job.place / RESULT).is_file():
            known = read_result(job.place)
            tell(RunProgress(job, "known", known.steps, known.total, known))
            return known
        tell(RunProgress(job, "started"))
        _check_place(job)
        resume = _is_begun(job.place)
        if not resume:
            remove_tree(job.place)
        guard.take(lambda: make_agent(job.agent, job.task, job.seed))
        options = RunOptions(folder=job.place, resume=resume, backend=backend)
        run_task(job.task, guard, job.seed, options=options, watch=watch)
        result = read_result(job.place)
    except (Exception, SystemExit) as error:  # an agent may call `exit`: that ends its run, and not all of them
        result = _broken(job, error, by_agent=guard.failure is error)
    tell(RunProgress(job, "ended", result.steps, result.total, result))
    return result


class _WatcherFailed(BaseException):
    """The watcher raised, and no run did: those under way end at their next step, and none begins."""


class _AgentGuard:
    """An agent, of whose errors it is known afterwards that they were its own."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self._agent: TaskAgent = nop_agent()
        self.name = self._agent.name

    def take(self, make: Callable[[], TaskAgent]) -> None:
        """Make the agent, which may fail as well."""
        with self._own():
            self._agent = make()
            self.name = self._agent.name

    def begin(self, description: str, space: Calls) -> None:
        """As the agent does."""
        with self._own() as agent:
            agent.begin(description, space)

    def act(self, observation: ToolOutcome) -> Call | str:
        """As the agent does."""
        with self._own() as agent:
            return agent.act(observation)

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """As the agent does."""
        with self._own() as agent:
            agent.recall(call, observation)

    def events(self) -> Sequence[EventValue]:
        """As the agent's."""
        with self._own() as agent:
            return agent.events()

    @contextmanager
    def _own(self) -> Generator[TaskAgent, None, None]:
        try:
            yield self._agent
        except BaseException as error:
            self.failure = error
            raise


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


def _broken(job: PlannedRun, error: BaseException, *, by_agent: bool) -> RunResult:
    """A run that could not be made, or not to its end; only a failure of the agent's is written down, and stays."""
    outcome, reason = _blamed(error, by_agent=by_agent), _reason(error)
    with suppress(LudusError, OSError):  # a journal that is none says nothing of the run
        if _is_begun(job.place):
            result = journal_result(job.task.spec, job.place, job.agent)
            result.outcome, result.reason = outcome.value, reason
            if not outcome.masked:
                write_result(result, job.place)
            return result
    return RunResult(task=job.task.spec.env_id, agent=job.agent, seed=job.seed, outcome=outcome.value, reason=reason)


def _blamed(error: BaseException, *, by_agent: bool) -> Outcome:
    """Who failed: a server that does not answer is not the agent that asked it."""
    if isinstance(error, OSError) and not by_agent:
        return Outcome.INFRASTRUCTURE_FAILED
    return Outcome.AGENT_FAILED if by_agent and not isinstance(error, ServiceError) else Outcome.after(error)


def _reason(error: BaseException) -> str:
    """What was raised; of an error that is none of ours also where, since nobody wrote its words for a reader."""
    if isinstance(error, LudusError | OSError):
        return f"{type(error).__name__}: {shorten(str(error), 500)}"
    frames = extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return f"{shorten(error, 500)}{where}"
