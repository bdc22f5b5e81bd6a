"""`OrderEnforcing`: reset comes first, and again after the end."""

import pytest

from ludus.core import EnvSpec
from ludus.envs.teaching import Bandit
from ludus.errors import ResetNeeded
from ludus.vector import SerialVectorEnv
from ludus.wrappers import OrderEnforcing
from tests.core.subjects import Walk
from tests.core.wording import says


def test_step_and_render_before_reset_are_errors():
    env = OrderEnforcing(Walk())
    assert not env.has_reset
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        env.step(0)
    with says(ResetNeeded, "render: expected reset() first, got no reset yet"):
        env.render()
    env.reset(seed=0)
    assert env.has_reset
    env.step(0)
    assert env.render().startswith("at ")


def test_step_after_the_end_is_an_error_until_the_next_reset():
    env = OrderEnforcing(Bandit())
    env.reset(seed=0)
    assert env.step(0).terminated
    with says(ResetNeeded, "step: expected reset() first, got an episode that has ended"):
        env.step(0)
    env.reset()
    env.step(0)


def test_step_after_a_cut_is_an_error_too():
    class Cut(Walk):
        def step(self, action):
            return super().step(action)._replace(terminated=False, truncated=True)

    env = OrderEnforcing(Cut())
    env.reset(seed=0)
    env.step(0)
    with says(ResetNeeded, "step: expected reset() first, got an episode that has ended"):
        env.step(0)


def test_the_picture_may_be_drawn_after_the_end():
    env = OrderEnforcing(Walk())
    env.reset(seed=0)
    while not env.step(1).terminated:
        pass
    assert env.render()


def test_rendering_before_reset_can_be_allowed():
    env = OrderEnforcing(Walk(), disable_render_order_enforcing=True)
    assert env.render() == "at 0.000"
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_a_reset_that_fails_does_not_count():
    class Failing(Walk):
        def reset(self, *, seed=None, options=None):
            raise RuntimeError("no level")

    env = OrderEnforcing(Failing())
    with pytest.raises(RuntimeError):
        env.reset()
    assert not env.has_reset
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_lanes_of_a_batch_may_end_while_others_go_on():
    envs = OrderEnforcing(SerialVectorEnv([Bandit, Bandit]))
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        envs.step([0, 0])
    envs.reset(seed=0)
    for _ in range(3):
        envs.step([0, 0])


def test_the_spec_carries_order_as_its_own_field():
    env = Walk()
    assert OrderEnforcing(env).spec is None
    env.spec = EnvSpec("Walk-v0", order_enforce=False)
    assert OrderEnforcing(env).spec == EnvSpec("Walk-v0", order_enforce=True)
