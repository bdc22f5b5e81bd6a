"""Statistics of scores, against their definitions, published figures, and slower ways to the same number."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.errors import InvalidArgument
from ludus.evaluate import (
    Scores,
    improvement_interval,
    interquartile_mean,
    interval,
    mean,
    median,
    normalize,
    optimality_gap,
    paired_test,
    performance_profile,
    probability_of_improvement,
    profile_interval,
)
from tests.core.wording import says

# The two tables with which rliable, the library of these statistics, shows its own; the figures are the published ones.
X = np.array([[1, 2], [2, 2], [1, 1], [2, 1]])
Y = np.array([[1, 1], [2, 2], [3, 3]])
RUNS = np.arange(5 * 16.0).reshape(5, 16)


def test_published_figures():
    assert (mean(X), median(X), interquartile_mean(X)) == (1.5, 1.5, 1.5)
    assert (mean(Y), median(Y), interquartile_mean(Y)) == (2.0, 2.0, 2.0)
    assert probability_of_improvement(X, Y) == pytest.approx(1 / 3, abs=1e-12)


def test_a_larger_table_by_hand():
    assert mean(RUNS) == pytest.approx(39.5, abs=1e-9)
    assert median(RUNS) == pytest.approx(39.5, abs=1e-9)
    assert interquartile_mean(RUNS) == pytest.approx(np.arange(20, 60).mean(), abs=1e-9)
    assert optimality_gap(RUNS, 10.0) == pytest.approx(10 - (sum(range(10)) + 70 * 10) / 80, abs=1e-9)
    assert probability_of_improvement(RUNS, RUNS[::-1]) == 0.5


def test_every_task_counts_alike_in_a_mean_and_every_run_in_the_middle_half():
    scores = {"often": [0.0] * 10, "once": [1.0]}
    assert mean(scores) == 0.5
    assert interquartile_mean(scores) == 0.0
    assert performance_profile(scores, [0.5]).tolist() == [0.5]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.lists(st.integers(-9, 9), min_size=1, max_size=12))
def test_the_chance_of_improvement_is_the_share_of_pairs(x, y):
    pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(x, y)]
    assert probability_of_improvement(x, y) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert probability_of_improvement(x, y) + probability_of_improvement(y, x) == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_profiles_fall_and_end_at_none(values):
    levels = np.linspace(-2e6, 2e6, 41)
    profile = performance_profile(values, levels)
    assert (np.diff(profile) <= 0).all()
    assert profile[0] == 1.0
    assert profile[-1] == 0.0


def test_profiles_of_means_look_at_tasks():
    assert performance_profile([[0.0, 1.0], [1.0, 1.0]], [0.4, 0.6], of_means=True).tolist() == [1.0, 0.5]
    assert performance_profile([[0.0, 1.0], [1.0, 1.0]], [0.4, 0.6]).tolist() == [0.75, 0.75]


# --- intervals ---


def test_an_interval_is_the_same_for_the_same_seed_and_holds_the_value():
    scores = np.random.default_rng(3).normal(size=(12, 4))
    first, again, other = (interval(scores, seed=seed, resamples=500) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.low <= first.value <= first.high
    assert first.value == interquartile_mean(scores)


def test_runs_are_drawn_within_their_task():
    scores = {"low": [0.0, 0.0, 0.0], "high": [10.0, 10.0, 10.0]}
    found = interval(scores, mean, resamples=200)
    assert (found.low, found.value, found.high) == (5.0, 5.0, 5.0)


def test_a_95_percent_interval_of_the_mean_holds_the_truth_about_that_often():
    rng = np.random.default_rng(0)
    held = sum(
        found.low <= 0.0 <= found.high
        for found in (interval(rng.normal(size=30), mean, resamples=300, seed=one) for one in range(200))
    )
    assert 0.88 <= held / 200 <= 0.99


def test_the_interval_of_a_profile_lies_around_it():
    profile, low, high = profile_interval(RUNS, [10.0, 40.0, 70.0], resamples=200)
    assert (low <= profile).all()
    assert (profile <= high).all()
    assert (low < high).any()


def test_the_interval_of_an_improvement():
    found = improvement_interval([5.0, 6.0, 7.0], [1.0, 2.0, 3.0], resamples=100)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    unsure = improvement_interval(X, Y, resamples=400)
    assert 0.0 <= unsure.low < unsure.value < unsure.high <= 1.0


# --- pairs ---


def test_the_exact_test_counts_every_choice_of_signs():
    x, y = np.array([3.0, 1.0, 4.0, 1.5, 9.0]), np.array([2.0, 2.0, 2.0, 1.0, 3.0])
    found = x - y
    count = sum(
        abs(np.dot(signs, found)) >= abs(found.sum()) - 1e-9 for signs in itertools.product((1, -1), repeat=len(found))
    )
    assert paired_test(x, y) == (pytest.approx(found.mean()), count / 32, 5, True)


def test_drawn_signs_come_near_to_the_exact_test_and_never_say_never():
    rng = np.random.default_rng(5)
    x, y = rng.normal(0.3, 1.0, 40), rng.normal(0.0, 1.0, 40)
    found = paired_test(x, y, seed=1)
    assert not found.exact
    assert found == paired_test(x, y, seed=1)
    assert abs(found.p_value - paired_test(x, y, seed=2).p_value) < 0.02
    assert paired_test(np.arange(100.0) + 50, np.zeros(100), resamples=99).p_value == 0.01


def test_agents_that_are_alike_do_not_differ():
    assert paired_test([1.0, 2.0], [1.0, 2.0]).p_value == 1.0


# --- tables ---


def test_tasks_are_matched_by_name():
    assert probability_of_improvement({"a": [1.0], "b": [0.0]}, {"b": [1.0], "a": [0.0]}) == 0.5
    assert paired_test({"a": [1.0], "b": [0.0]}, {"b": [0.0], "a": [1.0]}).difference == 0.0


def test_normal_scores_have_the_lowest_at_0_and_the_reference_at_1():
    found = normalize({"a": [0.0, 50.0], "b": [-500.0, -100.0]}, {"a": 0.0, "b": -500.0}, {"a": 100.0, "b": -100.0})
    assert [one.tolist() for one in found.runs] == [[0.0, 0.5], [0.0, 1.0]]
    assert repr(found) == "Scores(2 tasks, 4 runs)"
    assert found.is_even


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Scores({}), "scores: expected at least one task, got none"),
        (lambda: Scores({"a": []}), "scores['a']: expected at least one run, got none"),
        (lambda: Scores([]), "scores['0']: expected at least one run, got none"),
        (
            lambda: mean([1.0, float("nan")]),
            "scores['0']: expected finite numbers, got nan; leave out what failed, and say how much that was",
        ),
        (
            lambda: Scores([[1.0], [1.0, 2.0]]),
            "scores: expected numbers by run, or by run and task, got [[1.0], [1.0, 2.0]]; tasks with unlike numbers "
            "of runs are given by name",
        ),
        (
            lambda: Scores({"a": ["x"]}),
            "scores['a']: expected one row of numbers, got ['x']; tasks with unlike numbers of runs are given by name",
        ),
        (
            lambda: interval([1.0]),
            "scores['0']: expected at least 2 runs to draw from, got 1; run it with more seeds",
        ),
        (lambda: interval([1.0, 2.0], resamples=0), "resamples: expected at least 1, got 0"),
        (
            lambda: interval([1.0, 2.0], confidence=95, resamples=1),
            "confidence: expected a number between 0 and 1, got 95",
        ),
        (lambda: performance_profile([1.0], []), "thresholds: expected one row of numbers, got []"),
        (
            lambda: paired_test([1.0], [1.0, 2.0]),
            "y['0']: expected 1 runs, on the seeds of x, got 2; where seeds differ, see probability_of_improvement",
        ),
        (lambda: paired_test([1.0], [1.0], resamples=0), "resamples: expected at least 1, got 0"),
        (lambda: probability_of_improvement({"a": [1]}, {"b": [1]}), "y: expected the tasks of x, ['a'], got ['b']"),
        (lambda: normalize({"a": [1]}, {"a": 0.0}, {}), "reference: expected a score for 'a', got none"),
        (lambda: normalize({"a": [1]}, {}, {"a": 0.0}), "lowest: expected a score for 'a', got none"),
        (
            lambda: normalize({"a": [1]}, {"a": 2.0}, {"a": 2.0}),
            "reference['a']: expected a finite score other than lowest, got 2.0 and 2.0",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, text):
    with says(InvalidArgument, text):
        call()
