"""`TimeLimit`: truncates, never terminates, and says so in the spec."""

import numpy as np
import pytest

from ludus.core import EnvSpec, Step
from ludus.envs.teaching import Bandit, GridWorld
from ludus.errors import InvalidArgument, InvalidType, ResetNeeded
from ludus.wrappers import TimeLimit
from tests.core.wording import says


class Endless(GridWorld):
    """Never ends by itself, but for the steps it is told."""

    def __init__(self, ends=(), cuts=()):
        super().__init__()
        self.ends, self.cuts, self.count = ends, cuts, 0

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.count += 1
        return Step(np.zeros(2, int), 1.0, self.count in self.ends, self.count in self.cuts, {})


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_time_limit_truncates_and_never_terminates(limit):
    env = TimeLimit(Endless(), limit)
    for _ in range(2):
        env.reset(seed=0)
        steps = [env.step(0) for _ in range(limit)]
        assert [step.truncated for step in steps] == [False] * (limit - 1) + [True]
        assert not any(step.terminated for step in steps)


def test_an_episode_that_ends_on_its_last_step_ends_both_ways():
    env = TimeLimit(Endless(ends=[2]), 2)
    env.reset()
    env.step(0)
    assert env.step(0)[2:4] == (True, True)


def test_what_the_environment_says_itself_goes_through():
    env = TimeLimit(Endless(ends=[2], cuts=[1]), 9)
    env.reset()
    assert env.step(0)[2:4] == (False, True)
    assert env.step(0)[2:4] == (True, False)


def test_the_clock_starts_with_every_reset():
    env = TimeLimit(Endless(), 3)
    env.reset()
    env.step(0)
    env.step(0)
    env.reset()
    assert [env.step(0).truncated for _ in range(3)] == [False, False, True]


def test_step_before_reset_and_after_the_cut_are_errors():
    env = TimeLimit(Endless(), 1)
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        env.step(0)
    env.reset()
    env.step(0)
    with says(ResetNeeded, "step: expected reset() first, got an episode cut by its time limit"):
        env.step(0)


def test_a_reset_that_fails_starts_no_clock():
    class Failing(Endless):
        def reset(self, *, seed=None, options=None):
            raise RuntimeError("no level")

    env = TimeLimit(Failing(), 1)
    with pytest.raises(RuntimeError):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("limit", [True, 2.0, "3", None])
def test_the_limit_is_an_integer(limit):
    with says(InvalidType, f"max_episode_steps: expected an integer of at least 1, got {limit!r}"):
        TimeLimit(Bandit(), limit)


@pytest.mark.parametrize("limit", [0, -1])
def test_the_limit_is_positive(limit):
    with says(InvalidArgument, f"max_episode_steps: expected an integer of at least 1, got {limit}"):
        TimeLimit(Bandit(), limit)


def test_the_spec_carries_the_limit_as_its_own_field():
    env = GridWorld()
    assert TimeLimit(env, 5).spec is None
    env.spec = EnvSpec("GridWorld-v0")
    assert TimeLimit(env, 5).spec == EnvSpec("GridWorld-v0", max_episode_steps=5)
    assert env.spec.max_episode_steps is None


def test_a_limit_around_a_limit_is_a_wrapper_like_any_other():
    env = GridWorld()
    env.spec = EnvSpec("GridWorld-v0")
    outer = TimeLimit(TimeLimit(env, 9), 5).spec
    assert outer.max_episode_steps == 9
    assert outer.additional_wrappers == (TimeLimit.using(5),)
