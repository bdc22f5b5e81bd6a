"""Wrappers that steer lanes, and stacks of them, around every executor."""

from functools import partial

import pytest

from ludus import wrappers as w
from ludus.core import AutoresetMode, Episode
from ludus.kernels.batch import KernelVectorEnv
from ludus.vector import ProcessVectorEnv, SerialVectorEnv, ThreadVectorEnv
from tests.sampling import covering
from tests.wrappers.drift import Drift
from tests.wrappers.equivalence import Trial, check_equivalence
from tests.wrappers.walk import Walk

WRAPPERS = {
    "time-limit": [w.TimeLimit.using(3)],
    "time-limit-of-one": [w.TimeLimit.using(1)],
    "sticky": [w.StickyAction.using(0.4)],
    "sticky-long": [w.StickyAction.using(0.4, (1, 3))],
    "repeat": [w.RepeatAction.using(3)],
    "max-and-skip": [w.MaxAndSkipObservation.using(3)],
    "limit-of-repeats": [w.RepeatAction.using(2), w.TimeLimit.using(2)],
    "repeats-of-limit": [w.TimeLimit.using(3), w.RepeatAction.using(2)],
    "two-limits": [w.TimeLimit.using(4), w.TimeLimit.using(3)],
    "repeats-of-stateful": [
        w.FrameStackObservation.using(3),
        w.DelayObservation.using(2),
        w.RecordEpisodeStatistics.using(),
        w.StickyAction.using(0.3),
        w.RepeatAction.using(2),
        w.TimeLimit.using(3),
    ],
    "skips-of-repeats": [w.RepeatAction.using(2), w.TimeLimit.using(4), w.MaxAndSkipObservation.using(2)],
    "limit-of-rewards": [
        w.TransformReward.using(lambda reward: reward * 2 + 1),
        w.TransformAction.using(lambda action: 2 - action),
        w.TimeLimit.using(3),
        w.RepeatAction.using(3),
    ],
}
EXECUTORS = {
    "serial": SerialVectorEnv,
    "thread": partial(ThreadVectorEnv, num_threads=2),
    "process": partial(ProcessVectorEnv, num_workers=2),
}


def plan(lane, number):
    """Seeds for two episodes of three."""
    return Episode(seed=100 * lane + number) if number % 3 else Episode()


def stacked(name, env):
    for wrapper in WRAPPERS[name]:
        env = wrapper(env)
    return env


def make_batch(executor, trial):
    return EXECUTORS[executor]([Walk] * trial.lanes, autoreset_mode=trial.mode, episodes=trial.plan)


def trials(mode):
    """Several ways of driving a batch in one mode."""
    return [
        Trial(mode),
        Trial(mode, plan=plan, resets={5: [1], 11: [0, 3], 12: [2]}),
        Trial(mode, rewinds=9, plan=plan, steps=25),
    ]


@pytest.mark.in_turns("mode")
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", WRAPPERS)
def test_lanes_in_series_do_what_single_environments_do(name, mode):
    for trial in trials(mode):
        check_equivalence(partial(stacked, name), Walk, partial(make_batch, "serial", trial), trial)


@covering(
    *("name, mode, executor", ["time-limit", "sticky-long", "repeats-of-stateful", "skips-of-repeats"]),
    *(list(AutoresetMode), ["thread", "process"]),
    ids=lambda one: getattr(one, "value", one),
)
def test_lanes_elsewhere_do_what_single_environments_do(name, mode, executor):
    for trial in trials(mode)[1:]:
        check_equivalence(partial(stacked, name), Walk, partial(make_batch, executor, trial), trial)


def check_compiled(name, trial, limit=None):
    def make():
        return Drift() if limit is None else w.TimeLimit(Drift(), limit)

    options = {"autoreset_mode": trial.mode, "max_episode_steps": limit, "episodes": trial.plan}
    check_equivalence(partial(stacked, name), make, partial(KernelVectorEnv, Drift, trial.lanes, **options), trial)


@covering("name, mode", list(WRAPPERS), list(AutoresetMode), strength=1, ids=lambda one: getattr(one, "value", one))
def test_compiled_lanes_do_what_single_environments_do(name, mode):
    for trial in trials(mode)[1:]:
        check_compiled(name, trial)


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", ["time-limit", "repeats-of-limit", "skips-of-repeats"])
def test_the_earlier_of_two_limits_counts_where_a_compiled_batch_has_its_own(name, mode):
    check_compiled(name, Trial(mode, plan=plan), limit=2)
    check_compiled(name, Trial(mode), limit=5)
