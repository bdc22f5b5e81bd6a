"""Ways to play a text game: knowing everything, at random, saying nothing, and saying nonsense."""

from typing import Any

import numpy as np

from ludus.envs.open.textarena.textarena import TextArenaAction, TextArenaObservation

__all__ = ["POLICIES"]


def oracle(env: Any, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """A move of one who knows what is hidden."""
    del observation
    return TextArenaAction(f"I am sure. {env._game.oracle(rng)}")


def random(env: Any, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """Any move that can be read; away from its environment, a word for Wordle."""
    del observation
    return TextArenaAction(env._game.random(rng) if env is not None else f"[{rng.choice(['crane', 'slate', 'moist'])}]")


def nop(env: object, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """Nothing."""
    del env, observation, rng
    return TextArenaAction("")


def garbage(env: object, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """Brackets and signs in no order."""
    del env, observation
    signs = list("[]()é☃%$ \n-")
    return TextArenaAction("".join(rng.choice(signs, 30).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
