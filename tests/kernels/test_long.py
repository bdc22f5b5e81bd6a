"""A million steps of every set of rules: the batch is the single environment to the last bit, in every mode."""

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.envs import algorithmic, classic, teaching, toy_text
from ludus.kernels import RuleEnv
from ludus.kernels.batch import KernelVectorEnv
from ludus.wrappers import TimeLimit
from tests.kernels.columns import ColumnVectorEnv, legal_actions, same_bits
from tests.kernels.long_games import LONG_GAMES, SwingGame, swing_step
from tests.kernels.strange_games import GAMES, PLAYED, StrictFour
from tests.kernels.test_games import PebbleGame

pytestmark = pytest.mark.no_cover

LANES, LIMIT = 64, 60
LANE = 17
"""Where something is spoilt."""
STEPS = 1_000_000 // (LANES * len(AutoresetMode)) + 1
NEW = [*LONG_GAMES, *GAMES, *PLAYED, StrictFour, PebbleGame]
ROOMS = (algorithmic, classic, teaching, toy_text)
OURS = [
    kind
    for room in ROOMS
    for kind in (getattr(room, name) for name in room.__all__)
    if isinstance(kind, type) and issubclass(kind, RuleEnv) and "rules" in vars(kind)
]


def walk(kind, mode, steps, batch=KernelVectorEnv):
    """Both batches side by side, with what is allowed where the rules say so; raises AssertionError where they part."""
    batches = compiled, _ = (
        batch(kind, LANES, autoreset_mode=mode, max_episode_steps=LIMIT),
        ColumnVectorEnv([lambda: TimeLimit(kind(), LIMIT)] * LANES, autoreset_mode=mode, copy=False),
    )
    found, expected = (one.reset(seed=7) for one in batches)
    same_bits(found, expected)
    info = found[1]
    compiled.action_space.seed(3)
    rng = np.random.default_rng(3)
    for _ in range(steps):
        actions = legal_actions(compiled, info, rng)
        step, expected = (one.step(actions) for one in batches)
        same_bits(step, expected)
        info = step.info
        ended = np.asarray(step.done)
        if mode is AutoresetMode.DISABLED and ended.any():
            found, expected = (one.reset(options={"reset_mask": ended}) for one in batches)
            same_bits(found, expected)
            if "action_mask" in info:
                info["action_mask"][ended] = found[1]["action_mask"][ended]


def test_there_are_enough_sets_of_rules():
    assert len(NEW) >= 12
    assert len(OURS) >= 14


@pytest.mark.in_turns("kind")
@pytest.mark.parametrize("kind", LONG_GAMES)
def test_a_batch_is_its_lanes(kind):
    walk(kind, AutoresetMode.SAME_STEP, 80)


SPOILT = {
    "an observation": lambda step: step.observation["pose"].__setitem__(
        (LANE, 2), beside(step.observation["pose"][LANE, 2])
    ),
    "a reward": lambda step: step.reward.__setitem__(LANE, beside(step.reward[LANE])),
    "a sign of zero": lambda step: step.observation["trail"].__setitem__((LANE, 8), -0.0),
    "an end": lambda step: step.terminated.__setitem__(LANE, not step.terminated[LANE]),
    "a cut": lambda step: step.truncated.__setitem__(LANE, not step.truncated[LANE]),
    "an entry of info": lambda step: step.info.__setitem__("more", np.zeros(LANES)),
}


def beside(number):
    """The next number that there is."""
    return np.nextafter(number, np.array(np.inf, number.dtype))


@pytest.mark.parametrize("what", SPOILT)
def test_one_bit_of_one_lane_in_one_step_is_noticed(what):
    class Spoilt(KernelVectorEnv):
        count = 0

        def step(self, action):
            step = super().step(action)
            self.count += 1
            if self.count == 5:
                SPOILT[what](step)
            return step

    walk(SwingGame, AutoresetMode.SAME_STEP, 4, Spoilt)
    with pytest.raises(AssertionError):
        walk(SwingGame, AutoresetMode.SAME_STEP, 5, Spoilt)


@pytest.mark.parametrize("key", ["final_obs", "final_info"])
def test_one_bit_of_what_an_episode_ended_with_is_noticed(key):
    class Spoilt(KernelVectorEnv):
        def step(self, action):
            step = super().step(action)
            for lane in np.flatnonzero(step.done)[:1]:
                if key == "final_obs":
                    step.info[key][lane]["heat"] = beside(step.info[key][lane]["heat"])
                else:
                    step.info[key]["outcome"][lane] += 1
            return step

    with pytest.raises(AssertionError, match=key):
        walk(SwingGame, AutoresetMode.SAME_STEP, LIMIT, Spoilt)


def swing_wrong(state, action, rng, params):
    after, reward, ended, cut = swing_step(state, action, rng, params)
    return after, reward + 1e-9 if after.angle > 2.5 else reward, ended, cut


class WrongSwing(SwingGame):
    rules = SwingGame.rules._replace(step=swing_wrong)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_rule_that_differs_by_a_little_and_seldom_is_noticed(mode):
    with pytest.raises(AssertionError, match=r"and np\.float64"):
        walk(SwingGame, mode, 200, lambda kind, *args, **kwargs: KernelVectorEnv(WrongSwing, *args, **kwargs))


@pytest.mark.full
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", [*NEW, *OURS])
def test_a_batch_is_its_lanes_over_a_million_steps(kind, mode):
    walk(kind, mode, STEPS)
