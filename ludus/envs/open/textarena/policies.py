"""Ways to play a text game: knowing everything, at random, saying nothing, and saying nonsense."""

import numpy as np

from ludus.envs.open.textarena.game import Game
from ludus.envs.open.textarena.textarena import TextArena, TextArenaAction, TextArenaObservation

__all__ = ["POLICIES"]


def oracle(env: TextArena, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """A move of one who knows what is hidden."""
    del observation
    game: Game = env.get_wrapper_attr("_game")
    return TextArenaAction(f"I am sure. {game.oracle(rng)}")


def random(env: TextArena | None, observation: TextArenaObservation, rng: np.random.Generator) -> TextArenaAction:
    """Any move that can be read; away from its environment, a word for Wordle."""
    del observation
    if env is None:
        return TextArenaAction(f"[{rng.choice(['crane', 'slate', 'moist'])}]")
    game: Game = env.get_wrapper_attr("_game")
    return TextArenaAction(game.random(rng))


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
