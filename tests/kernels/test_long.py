"""A million steps of every set of rules: the batch is the single environment to the last bit, in every mode."""

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.envs import algorithmic, classic, teaching, toy_text
from ludus.kernels import RuleEnv
from ludus.kernels.batch import KernelVectorEnv
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit
from tests.kernels.long_games import LONG_GAMES
from tests.kernels.strange_games import GAMES, PLAYED, StrictFour
from tests.kernels.test_games import PebbleGame
from tests.kernels.test_players import actions_of
from tests.kernels.test_shapes import same

pytestmark = pytest.mark.no_cover

LANES, LIMIT = 64, 60
STEPS = 1_000_000 // (LANES * len(AutoresetMode)) + 1
NEW = [*LONG_GAMES, *GAMES, *PLAYED, StrictFour, PebbleGame]
ROOMS = (algorithmic, classic, teaching, toy_text)
OURS = [
    kind
    for room in ROOMS
    for kind in (getattr(room, name) for name in room.__all__)
    if isinstance(kind, type) and issubclass(kind, RuleEnv) and "rules" in vars(kind)
]


def walk(kind, mode, steps):
    """Both batches side by side, with what is allowed where the rules say so."""
    batches = compiled, _ = (
        KernelVectorEnv(kind, LANES, autoreset_mode=mode, max_episode_steps=LIMIT),
        SerialVectorEnv([lambda: TimeLimit(kind(), LIMIT)] * LANES, autoreset_mode=mode),
    )
    found, expected = (one.reset(seed=7) for one in batches)
    same(found, expected)
    info = found[1]
    compiled.action_space.seed(3)
    for _ in range(steps):
        actions = actions_of(compiled, info)
        step, expected = (one.step(actions) for one in batches)
        same(step, expected)
        info = step.info
        ended = np.asarray(step.done)
        if mode is AutoresetMode.DISABLED and ended.any():
            found, expected = (one.reset(options={"reset_mask": ended}) for one in batches)
            same(found, expected)
            if "action_mask" in info:
                info["action_mask"][ended] = found[1]["action_mask"][ended]


def test_there_are_enough_sets_of_rules():
    assert len(NEW) >= 12
    assert len(OURS) >= 14


@pytest.mark.in_turns("kind")
@pytest.mark.parametrize("kind", LONG_GAMES)
def test_a_batch_is_its_lanes(kind):
    walk(kind, AutoresetMode.SAME_STEP, 80)


@pytest.mark.full
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", [*NEW, *OURS])
def test_a_batch_is_its_lanes_over_a_million_steps(kind, mode):
    walk(kind, mode, STEPS)
