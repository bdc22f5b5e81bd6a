"""`TaskReport`: runs of tasks by several agents, as tables: scores, aggregates with intervals, ends, actions.

Scores are compared on the scale of the tasks, on which 0 is worth nothing and 1 is the reference. Runs that failed
through no fault of the agent are left out of every score, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ludus.errors import InvalidArgument
from ludus.evaluate.comparison import PairedTest, paired_test
from ludus.evaluate.intervals import Interval, bounds, interval, redrawn
from ludus.evaluate.scores import Array, Scores
from ludus.evaluate.statistics import mean
from ludus.tasks.agents.result import RunResult

__all__ = ["AgentLine", "PairLine", "TaskLine", "TaskReport", "area_under_profiles", "profiles", "task_report"]

RATIOS = (2.0, 4.0, 8.0)
"""Up to which the area under a profile is taken: it depends on that, so more than one is shown."""
RATIO = 4.0
RESAMPLES = 500
POINTS = 201


class TaskLine(NamedTuple):
    """One agent on one task."""

    task: str
    agent: str
    metric: str
    runs: int
    masked: int
    submitted: float | None
    """The mean of what was handed in; None where nothing was scored."""
    best_submitted: float | None
    best: float | None
    """The best of all gradings of all runs."""
    normalised: float
    spread: Interval | None
    """Of the mean of the normalised scores; None with one run."""
    successes: int
    seconds: float
    findings: int


class AgentLine(NamedTuple):
    """One agent on all tasks."""

    agent: str
    runs: int
    masked: int
    mean: Interval
    """Of the normalised scores; without width where tasks have one run."""
    area: Interval
    """Under the performance profile, up to `RATIO`, as a share of what can be had."""
    areas: dict[float, float]
    """The same up to other ratios."""
    best_area: float
    """With the best grading of each run in place of what was handed in."""
    success_rate: float
    seconds: float
    tokens: tuple[int, int]
    cost_usd: float | None


class PairLine(NamedTuple):
    """Two agents on the same tasks and seeds."""

    one: str
    other: str
    test: PairedTest


class TaskReport(NamedTuple):
    """All that a report says of some runs."""

    tasks: tuple[TaskLine, ...]
    agents: tuple[AgentLine, ...]
    pairs: tuple[PairLine, ...]
    outcomes: dict[str, dict[str, int]]
    """How runs ended, by agent."""
    actions: dict[str, dict[str, float]]
    """Calls of each tool for a run, by agent; `errors`, `steps` and `validations` with them."""
    scores: dict[str, dict[str, list[float]]]
    """Normalised scores by agent and task, seed after seed."""
    runs: tuple[RunResult, ...]


def task_report(results: Iterable[RunResult]) -> TaskReport:
    """The report of some runs.

    >>> runs = [RunResult(task="t", agent=a, seed=s, outcome="success", normalised=n)
    ...         for a, n in (("x", 1.0), ("y", 0.5)) for s in (0, 1)]
    >>> report = task_report(runs)
    >>> [(one.agent, one.mean.value) for one in report.agents]
    [('x', 1.0), ('y', 0.5)]
    """
    runs = sorted(results, key=lambda one: (one.task, one.agent, one.seed))
    keys = [(one.task, one.agent, one.seed) for one in runs]
    if not runs or len(set(keys)) != len(keys):
        twice = next((key for key, count in Counter(keys).items() if count > 1), None)
        raise InvalidArgument(f"report: expected one run of each task, agent and seed, got {twice or 'none at all'}")
    kept = [one for one in runs if not one.masked]
    scores, best = _scores(kept, "normalised"), _scores(kept, "best_normalised")
    order = sorted(scores, key=lambda agent: -_mean(scores[agent]))
    return TaskReport(
        tasks=tuple(_task_lines(runs)),
        agents=tuple(_agent_line(agent, runs, scores, best) for agent in order),
        pairs=tuple(filter(None, (_pair(one, other, kept) for one, other in combinations(order, 2)))),
        outcomes=_outcomes(runs),
        actions=_actions(kept),
        scores={agent: scores[agent] for agent in order},
        runs=tuple(runs),
    )


# --- tables ---


def _scores(runs: Sequence[RunResult], field: str) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for one in runs:
        found.setdefault(one.agent, {}).setdefault(one.task, []).append(float(getattr(one, field)))
    return found


def _mean(scores: Mapping[str, Sequence[float]]) -> float:
    return float(np.mean([np.mean(one) for one in scores.values()]))


def _task_lines(runs: Sequence[RunResult]) -> list[TaskLine]:
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for one in runs:
        groups.setdefault((one.task, one.agent), []).append(one)
    return [_task_line(task, agent, group) for (task, agent), group in groups.items()]


def _task_line(task: str, agent: str, group: list[RunResult]) -> TaskLine:
    kept = [one for one in group if not one.masked]
    values = [one.value for one in kept if one.value is not None]
    gradings = [one.best for one in kept if one.best is not None]
    choose = min if group[0].direction == "minimize" else max
    normalised = [one.normalised for one in kept]
    return TaskLine(
        task=task,
        agent=agent,
        metric=group[0].metric,
        runs=len(group),
        masked=len(group) - len(kept),
        submitted=float(np.mean(values)) if values else None,
        best_submitted=choose(values) if values else None,
        best=choose(gradings) if gradings else None,
        normalised=float(np.mean(normalised)) if kept else 0.0,
        spread=interval(normalised, mean, resamples=RESAMPLES) if len(kept) > 1 else None,
        successes=sum(one.outcome == "success" for one in kept),
        seconds=float(np.mean([one.seconds for one in group])),
        findings=sum(len(one.findings) for one in group),
    )


def _agent_line(
    agent: str,
    runs: Sequence[RunResult],
    scores: dict[str, dict[str, list[float]]],
    best: dict[str, dict[str, list[float]]],
) -> AgentLine:
    own = [one for one in runs if one.agent == agent]
    kept = [one for one in own if not one.masked]
    costs = [one.cost_usd for one in own if one.cost_usd is not None]
    value = _mean(scores[agent])
    repeated = all(len(one) > 1 for one in scores[agent].values())
    spread = interval(scores[agent], mean, resamples=RESAMPLES) if repeated else Interval(value, value, value, 0.95)
    return AgentLine(
        agent=agent,
        runs=len(own),
        masked=len(own) - len(kept),
        mean=spread,
        area=_area_interval(agent, scores),
        areas={ratio: area_under_profiles(_means(scores), ratio)[agent] for ratio in RATIOS},
        best_area=area_under_profiles(_means(best), RATIO)[agent],
        success_rate=sum(one.outcome == "success" for one in kept) / len(kept),
        seconds=sum(one.seconds for one in own),
        tokens=(sum(one.tokens[0] for one in own), sum(one.tokens[1] for one in own)),
        cost_usd=sum(costs) if costs else None,
    )


def _pair(one: str, other: str, runs: Sequence[RunResult]) -> PairLine | None:
    """Both on the tasks and seeds that both have done."""
    by_key = {(run.agent, run.task, run.seed): run.normalised for run in runs}
    shared = sorted({(task, seed) for agent, task, seed in by_key if agent == one and (other, task, seed) in by_key})
    if not shared:
        return None
    tables: list[dict[str, list[float]]] = []
    for agent in (one, other):
        table: dict[str, list[float]] = {}
        for task, seed in shared:
            table.setdefault(task, []).append(by_key[agent, task, seed])
        tables.append(table)
    return PairLine(one, other, paired_test(tables[0], tables[1]))


def _outcomes(runs: Sequence[RunResult]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for one in runs:
        found.setdefault(one.agent, Counter())[one.outcome or "unknown"] += 1
    return {agent: dict(counts) for agent, counts in found.items()}


def _actions(runs: Sequence[RunResult]) -> dict[str, dict[str, float]]:
    found: dict[str, Counter[str]] = {}
    counts = Counter(one.agent for one in runs)
    for one in runs:
        totals = {**one.actions, "errors": one.errors, "steps": one.steps}
        found.setdefault(one.agent, Counter()).update(totals)
    return {agent: {name: total / counts[agent] for name, total in one.items()} for agent, one in found.items()}


# --- performance profiles ---

Means = dict[str, dict[str, float]]


def _means(scores: Mapping[str, Mapping[str, Sequence[float]]]) -> Means:
    return {agent: {task: float(np.mean(one)) for task, one in by_task.items()} for agent, by_task in scores.items()}


def profiles(means: Means, ratios: Sequence[float] | Array) -> dict[str, Array]:
    """For each agent, the share of tasks on which its score is at most so many times below the best agent's.

    A task that nobody scored on counts for nobody, and one that an agent has not done counts against it.

    >>> profiles({"x": {"t": 1.0}, "y": {"t": 0.4}}, [1.0, 2.0, 3.0])["y"].tolist()
    [0.0, 0.0, 1.0]
    """
    tasks = sorted({task for one in means.values() for task in one})
    best = {task: max(one.get(task, 0.0) for one in means.values()) for task in tasks}
    levels = np.asarray(ratios, dtype=np.float64)
    found: dict[str, Array] = {}
    for agent, own in means.items():
        behind = [best[task] / own[task] if own.get(task, 0.0) > 0 else np.inf for task in tasks]
        found[agent] = np.mean(np.asarray(behind)[:, None] <= levels * (1 + 1e-12), axis=0)
    return found


def area_under_profiles(means: Means, ratio: float = RATIO) -> dict[str, float]:
    """The area under each agent's profile from 1 to `ratio`, as a share of the whole.

    >>> area_under_profiles({"x": {"t": 1.0}, "y": {"t": 0.4}}, 4.0)
    {'x': 1.0, 'y': 0.5}
    """
    tasks = sorted({task for one in means.values() for task in one})
    best = {task: max(one.get(task, 0.0) for one in means.values()) for task in tasks}
    found: dict[str, float] = {}
    for agent, own in means.items():
        behind = np.array([best[task] / own[task] if own.get(task, 0.0) > 0 else np.inf for task in tasks])
        # A profile is steps: each task adds what lies between where it is reached and the end.
        found[agent] = float(np.mean(np.clip((ratio - behind) / (ratio - 1.0), 0.0, 1.0)))
    return found


def _area_interval(agent: str, scores: dict[str, dict[str, list[float]]]) -> Interval:
    """The area, and what it becomes when the runs of all agents are drawn again."""
    value = area_under_profiles(_means(scores), RATIO)[agent]
    if any(len(one) < 2 for table in scores.values() for one in table.values()):
        return Interval(value, value, value, 0.95)
    drawn = {name: redrawn(Scores(table), RESAMPLES, at) for at, (name, table) in enumerate(sorted(scores.items()))}
    again: list[float] = []
    for place in range(RESAMPLES):
        means = {
            name: dict(zip(table[place].tasks, map(float, table[place].means()), strict=True))
            for name, table in drawn.items()
        }
        again.append(area_under_profiles(means, RATIO)[agent])
    low, high = bounds(np.array(again), 0.95)
    return Interval(value, float(low), float(high), 0.95)
