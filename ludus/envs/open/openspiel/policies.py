"""Ways to play a game of OpenSpiel: searching with nothing hidden, at random, always alike, and nonsense."""

import numpy as np

from ludus.envs.open.openspiel.openspiel import OpenSpiel, OpenSpielAction, OpenSpielObservation
from ludus.envs.open.openspiel.opponents import mcts_move

__all__ = ["POLICIES"]

SIMULATIONS = 1000


def oracle(env: OpenSpiel, observation: OpenSpielObservation, rng: np.random.Generator) -> OpenSpielAction:
    """What a tree search finds from the state itself; games with rewards before their end cannot be searched."""
    del observation
    return OpenSpielAction(mcts_move(env.match().position, rng, SIMULATIONS))


def random(env: object, observation: OpenSpielObservation, rng: np.random.Generator) -> OpenSpielAction:
    """Any legal action."""
    del env
    return OpenSpielAction(int(rng.choice(observation.legal_actions)))


def nop(env: object, observation: OpenSpielObservation, rng: np.random.Generator) -> OpenSpielAction:
    """The first action, legal or not: there is none that does nothing."""
    del env, observation, rng
    return OpenSpielAction(0)


def garbage(env: object, observation: OpenSpielObservation, rng: np.random.Generator) -> object:
    """What is no action."""
    del env, observation
    wrong: list[object] = [
        OpenSpielAction(-1), OpenSpielAction(10**6), {"action_id": "left"}, {"column": 3},
        {"action_id": 0, "game_name": "chess"}, None, 3,
    ]  # fmt: skip
    return wrong[int(rng.integers(len(wrong)))]


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
