"""Ways to play Atari: following the ball by the console's memory, at random, doing nothing, and nonsense."""

from typing import TYPE_CHECKING

import numpy as np

from ludus.envs.open.atari.atari import Atari, AtariAction, AtariObservation

if TYPE_CHECKING:
    import ale_py

__all__ = ["POLICIES"]

PADDLE, BALL_X, BALL_Y = 72, 99, 101
"""Cells of Breakout's memory."""
OFFSET = 9
"""Of the paddle's middle from its place, beside the ball's."""


def oracle(env: Atari, observation: AtariObservation, rng: np.random.Generator) -> AtariAction:
    """Breakout: serve, and keep the paddle under the ball."""
    del observation, rng
    ale: ale_py.ALEInterface = env.get_wrapper_attr("_ale")
    memory, names = ale.getRAM(), env.get_action_meanings()
    if int(memory[BALL_Y]) == 0:
        return AtariAction(names.index("FIRE"))
    way = int(memory[BALL_X]) - int(memory[PADDLE]) - OFFSET
    return AtariAction(names.index("RIGHT" if way > 3 else "LEFT" if way < -3 else "NOOP"))


def random(env: object, observation: AtariObservation, rng: np.random.Generator) -> AtariAction:
    """Any action."""
    del env
    return AtariAction(int(rng.choice(observation.legal_actions)))


def nop(env: object, observation: AtariObservation, rng: np.random.Generator) -> AtariAction:
    """Nothing."""
    del env, observation, rng
    return AtariAction(0)


def garbage(env: object, observation: AtariObservation, rng: np.random.Generator) -> object:
    """What is no action."""
    del env, observation
    wrong: list[object] = [AtariAction(18), AtariAction(-1), {"action_id": "UP"}, {"button": 1}, None, 3]
    return wrong[int(rng.integers(len(wrong)))]


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
