"""Reports on runs of tasks: areas under profiles, intervals, paired tests, what is left out, and the page."""

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.evaluate.task_page import report_page
from ludus.evaluate.task_report import area_under_profiles, profiles, task_report
from ludus.tasks.agents.result import RunResult
from ludus.tasks.linter import LintFinding


def results():
    scores = {
        "strong": {"a": (0.9, 1.0, 0.8), "b": (0.5, 0.6, 0.7)},
        "weak": {"a": (0.3, 0.2, 0.4), "b": (0.6, 0.1, 0.2)},
    }
    return [
        RunResult(
            task=f"task/{task}",
            agent=agent,
            seed=seed,
            outcome="success" if score >= 0.8 else "failure",
            metric="rmse",
            direction="minimize",
            value=1 - score,
            normalised=score,
            best=0.9 - score,
            best_normalised=score + 0.1,
            steps=4,
            actions={"shell": 3, "submit": 1},
            errors=seed,
        )
        for agent, by_task in scores.items()
        for task, some in by_task.items()
        for seed, score in enumerate(some)
    ]


def test_agents_are_compared_on_the_normalised_scale():
    report = task_report(results())
    strong, weak = report.agents
    assert (strong.agent, strong.runs, weak.masked) == ("strong", 6, 0)
    assert strong.mean.value == pytest.approx(0.75)
    assert strong.mean.low < 0.75 < strong.mean.high
    assert strong.area.value == 1.0
    # Means 0.9 and 0.3 (3 times behind), 0.6 and 0.3 (twice): a third and two thirds of what lies between 1 and 4.
    assert weak.area.value == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert weak.area.low <= weak.area.value <= weak.area.high
    assert weak.areas[2.0] == pytest.approx(0.0)
    assert strong.success_rate == pytest.approx(3 / 6)


def test_the_best_of_a_metric_to_be_minimised_is_the_least():
    line = next(one for one in task_report(results()).tasks if (one.task, one.agent) == ("task/a", "strong"))
    assert (line.best_submitted, line.submitted) == (pytest.approx(0.0), pytest.approx(0.1))
    assert line.best == pytest.approx(-0.1)


def test_agents_are_paired_by_task_and_seed():
    [pair] = task_report(results()).pairs
    assert (pair.one, pair.other, pair.test.pairs, pair.test.exact) == ("strong", "weak", 6, True)
    assert pair.test.difference == pytest.approx(0.45)
    fewer = [one for one in results() if one.agent == "strong" or one.seed == 0]
    assert task_report(fewer).pairs[0].test.pairs == 2


def test_failures_of_the_machine_are_counted_and_no_score():
    runs = results()
    runs[0].outcome, runs[0].normalised = "infrastructure_failed", 0.0
    report = task_report(runs)
    assert report.agents[0].masked == 1
    assert report.agents[0].mean.value == pytest.approx((0.9 + 0.6) / 2)
    assert report.outcomes["strong"]["infrastructure_failed"] == 1
    assert report.actions["weak"] == {"shell": 3.0, "submit": 1.0, "errors": 1.0, "steps": 4.0}


def test_profiles_agree_with_the_area_under_them():
    rng = np.random.default_rng(3)
    means = {agent: {str(task): float(rng.random()) for task in range(5)} for agent in "xyz"}
    means["z"]["0"] = 0.0
    levels = np.linspace(1.0, 4.0, 300_001)
    for agent, profile in profiles(means, levels).items():
        assert area_under_profiles(means, 4.0)[agent] == pytest.approx(float(profile.mean()), abs=1e-4)
    assert area_under_profiles({"x": {"t": 0.0}, "y": {}}, 4.0) == {"x": 0.0, "y": 0.0}


def test_one_run_of_each_has_no_interval_and_the_same_run_twice_is_refused():
    once = [one for one in results() if one.seed == 0]
    report = task_report(once)
    assert report.agents[0].mean.low == report.agents[0].mean.high
    with pytest.raises(InvalidArgument, match="expected one run of each task, agent and seed, got"):
        task_report([*once, once[0]])
    with pytest.raises(InvalidArgument, match="got none at all"):
        task_report([])


def test_the_page_stands_alone_and_whatever_runs_say_is_text():
    runs = results()
    runs[0].reason, runs[0].findings = "<script>alert(1)</script>", (LintFinding(3, "reads_grader", "</table><b>"),)
    page = report_page(task_report(runs), "A & B")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 3
    assert "&lt;/table&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
