"""`RunResult`: what came of a run, in a file of its folder; what reports and comparisons are made of."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ludus.core.foreign_file import read_foreign_file
from ludus.errors import TrajectoryError, shorten
from ludus.tasks.agents.events import AgentLog
from ludus.tasks.journal import Journal, JournalEntry
from ludus.tasks.linter import LintFinding, lint
from ludus.tasks.spec import TaskSpec
from ludus.trajectory.event import ModelUsage

__all__ = ["RESULT", "RunResult", "find_results", "journal_result", "read_result", "summarized", "write_result"]

RESULT = "result.json"
MAX_BYTES = 16 << 20
MAX_NUMBER = 1e60
"""Beyond, the fourth power of a score, which statistics take, is no number any more."""


class RunResult(msgspec.Struct, kw_only=True):
    """One agent on one task and one seed.

    >>> RunResult(task="task/Guess-v0", agent="nop", seed=0, outcome="failure").normalised
    0.0
    """

    task: str
    agent: str
    seed: int
    outcome: str
    """As `ludus.core.Outcome` has them: how the run ended."""
    metric: str = ""
    direction: str = "maximize"
    marks: dict[str, float] = {}
    """Floor, baseline, threshold and reference of the task."""
    value: float | None = None
    """What was submitted scored, of the hidden split; None where there is no score."""
    normalised: float = 0.0
    best: float | None = None
    """The best of all gradings, validations included."""
    best_normalised: float = 0.0
    reason: str = ""
    """Why there is no score, or why the run failed."""
    steps: int = 0
    total: float = 0.0
    """The sum of all rewards."""
    seconds: float = 0.0
    cpu_seconds: float | None = None
    tokens: tuple[int, int] = (0, 0)
    """Sent to models, and received."""
    cost_usd: float | None = None
    actions: dict[str, int] = {}
    """How often each tool was called."""
    errors: int = 0
    """Calls that were answered with an error."""
    validations: int = 0
    scores: list[tuple[int, float]] = []
    """The normalised score of each grading, with its step."""
    findings: tuple[LintFinding, ...] = ()
    """What a reader should look at."""
    folder: str = ""

    @property
    def masked(self) -> bool:
        """Whether it says nothing about the agent: the environment or the machine failed."""
        return self.outcome in ("environment_failed", "infrastructure_failed", "aborted")


def summarized(spec: TaskSpec, entries: Sequence[JournalEntry], *, agent: str, folder: Path | None = None) -> RunResult:
    """The result of a run, from its journal.

    >>> from ludus.tasks import find_task
    >>> summarized(find_task("sat_heuristic").spec, [JournalEntry(step=0, seed=3)], agent="nop").outcome
    'aborted'
    """
    evaluation, last = spec.evaluation, entries[-1]
    steps = [one for one in entries if one.call is not None]
    score: dict[str, object] = last.info.get("score") or {}
    values = [one["value"] for one in last.scores if one.get("value") is not None]
    best = None
    for value in values:
        best = value if evaluation.better(value, best) else best
    marks = {name: getattr(evaluation, name) for name in ("floor", "baseline", "threshold", "reference")}
    used = [] if folder is None else _usage(folder)
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    cpu = [one.measured.cpu_seconds for one in steps if one.measured and one.measured.cpu_seconds is not None]
    return RunResult(
        task=spec.env_id,
        agent=agent,
        seed=entries[0].seed,
        outcome=str(last.info.get("outcome") or "") if last.ended else "aborted",
        metric=evaluation.metric,
        direction=evaluation.direction_known,
        marks={name: value for name, value in marks.items() if value is not None},
        value=_number(score.get("value")),
        normalised=_number(score.get("normalised")) or 0.0,
        best=best,
        best_normalised=evaluation.normalised(best),
        reason=str(score.get("reason", "")),
        steps=len(steps),
        total=sum(one.reward for one in steps),
        seconds=0.0 if last.measured is None else last.measured.seconds,
        cpu_seconds=sum(cpu) if cpu else None,
        tokens=(sum(one.prompt_tokens for one in used), sum(one.completion_tokens for one in used)),
        cost_usd=sum(costs) if costs else None,
        actions=dict(Counter(one.call.tool for one in steps if one.call is not None)),
        errors=sum(bool(one.observation.error) for one in steps),
        validations=0 if last.budget is None else last.budget.validations,
        scores=[(int(one["step"]), float(one["normalised"])) for one in last.scores],
        findings=tuple(lint(spec, entries)),
        folder="" if folder is None else str(folder),
    )


def _usage(folder: Path) -> list[ModelUsage]:
    agent_events = AgentLog(folder).read()
    return [one for events in agent_events.values() for one in events if isinstance(one, ModelUsage)]


def write_result(result: RunResult, folder: Path) -> None:
    """Put it into the run's folder, whole or not at all."""
    draft = folder / f".{RESULT}"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    os.replace(draft, folder / RESULT)


def read_result(path: Path) -> RunResult:
    """The result of a run's folder, or of the file itself."""
    file = path / RESULT if path.is_dir() else path
    try:
        found = msgspec.json.decode(read_foreign_file(file, MAX_BYTES), type=RunResult)
    except OSError as error:
        raise TrajectoryError(f"{file}: expected the result of a run, got {error.strerror}") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise TrajectoryError(f"{file}: expected the result of a run, got {shorten(str(error))}") from error
    numbers = [found.normalised, found.best_normalised, found.total, found.seconds, *(one for _, one in found.scores)]
    numbers += [one for one in (found.value, found.best, found.cpu_seconds, found.cost_usd) if one is not None]
    if max(map(abs, [*numbers, *found.marks.values()])) > MAX_NUMBER:
        raise TrajectoryError(f"{file}: expected numbers of at most {MAX_NUMBER:g}, got more in the result of a run")
    found.folder = str(file.parent)
    return found


def find_results(places: Iterable[Path]) -> list[RunResult]:
    """The results of runs' folders, or of folders that have such in them; TrajectoryError where there are none."""
    found: list[RunResult] = []
    for place in places:
        files = [place / RESULT] if (place / RESULT).is_file() else _files_below(place)
        if not files:
            raise TrajectoryError(
                f"{place}: expected the folder of a run, or one with such folders in it, got no {RESULT}; "
                "`ludus task run … --folder` and `--out` write them"
            )
        found += [read_result(one) for one in files]
    return found


def _files_below(place: Path) -> list[Path]:
    try:
        return sorted(place.rglob(RESULT))
    except (RecursionError, OSError) as error:
        raise TrajectoryError(f"{place}: expected folders of runs, got some that are too deep: {error}") from None


def journal_result(spec: TaskSpec, folder: Path, agent: str) -> RunResult:
    """The result of what a folder's journal has so far."""
    return summarized(spec, Journal(folder).read(), agent=agent, folder=folder)


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
