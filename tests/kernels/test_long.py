"""A million steps of every set of rules: the batch is the single environment to the last bit, in every mode."""

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.envs import algorithmic, classic, teaching, toy_text
from ludus.kernels import RuleEnv
from ludus.kernels.batch import KernelVectorEnv
from tests.kernels.long_games import LONG_GAMES, SwingGame, swing_step
from tests.kernels.reference import Reference, legal_actions, same_bits
from tests.kernels.strange_games import GAMES, PLAYED, StrictFour
from tests.kernels.test_games import PebbleGame

LANES, LIMIT = 64, 60
NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
LANE = 17
"""Where something is spoilt."""
STEPS = 1_000_000 // LANES + 1
NEW = [*LONG_GAMES, *GAMES, *PLAYED, StrictFour, PebbleGame]
ROOMS = (algorithmic, classic, teaching, toy_text)
OURS = [
    kind
    for room in ROOMS
    for kind in (getattr(room, name) for name in room.__all__)
    if isinstance(kind, type) and issubclass(kind, RuleEnv) and "rules" in vars(kind)
]


def walk(kind, steps, batch=KernelVectorEnv):
    """A batch of every mode beside single environments, so many steps each; raises where one parts from them."""
    reference, rng = Reference(kind, LANES, LIMIT), np.random.default_rng(3)
    batches = {mode: batch(kind, LANES, autoreset_mode=mode, max_episode_steps=LIMIT) for mode in AutoresetMode}
    expected = reference.reset(seed=7)
    for mode, one in batches.items():
        same_bits(one.reset(seed=7), expected, mode.name)
    info = expected[1]
    batches[SAME_STEP].action_space.seed(3)
    for _ in range(steps):
        actions = legal_actions(batches[SAME_STEP], info, rng)
        seen = reference.advance(actions)
        for mode in (SAME_STEP, DISABLED):
            expected = reference.told([one.expected(mode) for one in seen])
            same_bits(batches[mode].step(actions), expected, mode.name)
            info = expected.info if mode is SAME_STEP else info
        ended = np.array([one.begun is not None for one in seen])
        if ended.any():
            expected = reference.begun([one.begun for one in seen], [one.step[0] for one in seen])
            same_bits(batches[DISABLED].reset(options={"reset_mask": ended}), expected, "reset")
        due, expected = reference.behind(seen)
        same_bits(batches[NEXT_STEP].step(due), expected, "NEXT_STEP")


def test_there_are_enough_sets_of_rules():
    assert len(NEW) >= 12
    assert len(OURS) >= 14


@pytest.mark.in_turns("kind")
@pytest.mark.parametrize("kind", LONG_GAMES)
def test_a_batch_is_its_lanes(kind):
    walk(kind, 80)


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


def spoilt_in(mode, spoilt):
    """Batches that are right in all modes but one."""

    def made(kind, lanes, **options):
        return (spoilt if options["autoreset_mode"] is mode else KernelVectorEnv)(kind, lanes, **options)

    return made


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("what", SPOILT)
def test_one_bit_of_one_lane_in_one_step_is_noticed(what, mode):
    class Spoilt(KernelVectorEnv):
        count = 0

        def step(self, action):
            step = super().step(action)
            self.count += 1
            if self.count == 5:
                SPOILT[what](step)
            return step

    walk(SwingGame, 4, spoilt_in(mode, Spoilt))
    with pytest.raises(AssertionError, match=mode.name):
        walk(SwingGame, 5, spoilt_in(mode, Spoilt))


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
        walk(SwingGame, LIMIT, spoilt_in(SAME_STEP, Spoilt))


def swing_wrong(state, action, rng, params):
    after, reward, ended, cut = swing_step(state, action, rng, params)
    return after, reward + 1e-9 if after.angle > 2.5 else reward, ended, cut


class WrongSwing(SwingGame):
    rules = SwingGame.rules._replace(step=swing_wrong)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_rule_that_differs_by_a_little_and_seldom_is_noticed(mode):
    with pytest.raises(AssertionError, match=rf"{mode.name}\[1\].* and np\.float64"):
        walk(SwingGame, 200, spoilt_in(mode, lambda _, *args, **options: KernelVectorEnv(WrongSwing, *args, **options)))


def test_what_the_reset_of_some_lanes_gives_is_compared():
    class Spoilt(KernelVectorEnv):
        def reset(self, **given):
            seen, info = super().reset(**given)
            if "options" in given:
                seen["heat"][LANE] = beside(seen["heat"][LANE])
            return seen, info

    with pytest.raises(AssertionError, match="reset"):
        walk(SwingGame, LIMIT, spoilt_in(DISABLED, Spoilt))


@pytest.mark.full
@pytest.mark.parametrize("kind", [*NEW, *OURS])
def test_a_batch_is_its_lanes_over_a_million_steps(kind):
    walk(kind, STEPS)
