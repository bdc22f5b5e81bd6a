"""The page of a report on tasks: tables and pictures in one file that needs no server."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludus.evaluate.html_page import html_page, html_table
from ludus.evaluate.intervals import Interval
from ludus.evaluate.plots import plot_curves, plot_intervals, plot_profiles
from ludus.evaluate.statistics import mean
from ludus.evaluate.task_report import POINTS, RATIO, RATIOS, TaskReport, profiles
from ludus.rendering import Canvas
from ludus.tasks.agents.result import RunResult

__all__ = ["AGENT_HEADS", "TASK_HEADS", "agent_cells", "report_page", "task_cells"]

AGENT_HEADS = ("agent", "runs", "left out", "mean", "95 % interval", "AUP", "95 % interval", "AUP of best", "success")
TASK_HEADS = ("task", "agent", "metric", "runs", "submitted", "best submitted", "best", "normalised", "95 % interval")
ABOUT = (
    "Scores are normalised: 0 is worth nothing, 1 is the task's reference solution. AUP: the area under the "
    "performance profile, the share of tasks on which an agent is at most so many times behind the best one, from "
    f"1 to {RATIO:g} times, as a share of the whole. Intervals are 95 % of stratified bootstrap over seeds."
)


def number(value: float | None, digits: int = 4) -> str:
    """A number as tables have it.

    >>> number(None), number(0.123456)
    ('–', '0.1235')
    """
    return "–" if value is None else f"{value:.{digits}g}"


def ends(found: Interval | None) -> str:
    """The ends of an interval; a dash where nothing is known of them."""
    return "–" if found is None or found.low == found.high == found.value else f"{found.low:.3f}–{found.high:.3f}"


def agent_cells(report: TaskReport) -> list[list[str]]:
    """The table of agents, the best first."""
    return [
        [
            one.agent,
            str(one.runs),
            str(one.masked),
            f"{one.mean.value:.3f}",
            ends(one.mean),
            f"{one.area.value:.3f}",
            ends(one.area),
            f"{one.best_area:.3f}",
            f"{one.success_rate:.0%}",
        ]
        for one in report.agents
    ]


def task_cells(report: TaskReport) -> list[list[str]]:
    """The table of tasks."""
    return [
        [
            one.task.removeprefix("task/"),
            one.agent,
            one.metric,
            f"{one.runs - one.masked} of {one.runs}" if one.masked else str(one.runs),
            number(one.submitted),
            number(one.best_submitted),
            number(one.best),
            f"{one.normalised:.3f}",
            ends(one.spread),
        ]
        for one in report.tasks
    ]


def report_page(report: TaskReport, title: str = "Tasks") -> str:
    """The page, as text.

    >>> from ludus.evaluate.task_report import task_report
    >>> run = RunResult(task="t", agent="<b>", seed=0, outcome="success", normalised=1.0)
    >>> "&lt;b&gt;" in report_page(task_report([run]))
    True
    """
    parts = [
        f"<p>{ABOUT}</p>",
        "<h2>Agents</h2>",
        html_table(AGENT_HEADS, agent_cells(report)),
        *_pictures(report),
        "<h2>Tasks</h2>",
        html_table(TASK_HEADS, task_cells(report), texts=3),
        *_pairs(report),
        "<h2>How the area depends on where it ends</h2>",
        html_table(
            ("agent", *(f"to {ratio:g} times" for ratio in RATIOS)),
            [[one.agent, *(f"{one.areas[ratio]:.3f}" for ratio in RATIOS)] for one in report.agents],
        ),
        "<h2>How runs ended</h2>",
        _counted(report.outcomes, "d"),
        "<h2>Calls of a run</h2>",
        _counted(report.actions, ".1f"),
        "<h2>Runs</h2>",
        _runs(report.runs),
        *_findings(report.runs),
    ]
    return html_page(title, "\n".join(parts))


def _pictures(report: TaskReport) -> list[str]:
    if len(report.agents) < 2:
        return []
    levels = np.linspace(1.0, RATIO, POINTS)
    means = {
        agent: {task: float(np.mean(one)) for task, one in scores.items()} for agent, scores in report.scores.items()
    }
    title = "Share of tasks at most so many times behind the best"
    drawn: list[Canvas] = [
        plot_curves(levels, profiles(means, levels), title=title, across="times behind", least=0.0, most=1.0)
    ]
    if all(len(one) > 1 for scores in report.scores.values() for one in scores.values()):
        drawn.append(plot_profiles(report.scores, title="Share of runs with a normalised score above"))
        drawn.append(plot_intervals(report.scores, mean, title="Mean of the normalised scores"))
    return [f"<figure>{one.to_svg()}</figure>" for one in drawn]


def _pairs(report: TaskReport) -> list[str]:
    if not report.pairs:
        return []
    rows = [
        [one.one, one.other, f"{one.test.difference:+.3f}", f"{one.test.p_value:.3g}", str(one.test.pairs)]
        for one in report.pairs
    ]
    heads = ("agent", "other", "mean difference", "p", "pairs")
    return ["<h2>On the same tasks and seeds</h2>", html_table(heads, rows, texts=2)]


def _counted(table: dict[str, dict[str, int]] | dict[str, dict[str, float]], form: str) -> str:
    names = sorted({name for one in table.values() for name in one})
    rows = [[agent, *(format(one.get(name, 0), form) for name in names)] for agent, one in table.items()]
    return html_table(("agent", *names), rows)


def _runs(runs: Sequence[RunResult]) -> str:
    heads = ("task", "agent", "seed", "outcome", "score", "best", "normalised", "steps", "seconds", "cost")
    rows = [
        [
            one.task.removeprefix("task/"),
            one.agent,
            str(one.seed),
            one.outcome + (f": {one.reason[:200]}" if one.reason else ""),
            number(one.value),
            number(one.best),
            f"{one.normalised:.3f}",
            str(one.steps),
            f"{one.seconds:.1f}",
            "–" if one.cost_usd is None else f"${one.cost_usd:.4f}",
        ]
        for one in runs
    ]
    return html_table(heads, rows, texts=4)


def _findings(runs: Sequence[RunResult]) -> list[str]:
    rows = [
        [one.task.removeprefix("task/"), one.agent, str(one.seed), str(found.step), found.rule, found.words]
        for one in runs
        for found in one.findings
    ]
    heads = ("task", "agent", "seed", "step", "rule", "words")
    return ["<h2>To look at</h2>", html_table(heads, rows, texts=6)] if rows else []
