"""Ways to play Connect Four, from perfect nonsense to one that looks five moves ahead: to try the game with."""

import numpy as np

from ludus.envs.open.connect4.connect4 import Connect4, Connect4Action, Connect4Observation
from ludus.envs.open.connect4.rules import COLUMNS, HEIGHT, ROWS, best_column

__all__ = ["POLICIES"]

LOOKS_AHEAD = 5


def oracle(env: Connect4, observation: Connect4Observation, rng: np.random.Generator) -> Connect4Action:
    """The best column that five moves show."""
    own = other = 0
    side = 0 if env.state is None else env.state.next_player
    for row, cells in enumerate(observation.board):
        for column, cell in enumerate(cells):
            bit = 1 << (HEIGHT * column + ROWS - 1 - row)
            own, other = own | (bit if cell == side else 0), other | (bit if cell == -side else 0)
    return Connect4Action(best_column(own, other, LOOKS_AHEAD, rng))


def random(env: object, observation: Connect4Observation, rng: np.random.Generator) -> Connect4Action:
    """Any open column."""
    del env
    return Connect4Action(int(rng.choice(observation.legal_actions)))


def nop(env: object, observation: Connect4Observation, rng: np.random.Generator) -> Connect4Action:
    """The first column, whatever happens, and on when it is full: there is no move that does nothing."""
    del env, observation, rng
    return Connect4Action(0)


def garbage(env: object, observation: Connect4Observation, rng: np.random.Generator) -> object:
    """What is no move."""
    del env, observation
    wrong: list[object] = [Connect4Action(COLUMNS), Connect4Action(-1), {"column": "left"}, {"row": 1}, None, 3]
    return wrong[int(rng.integers(len(wrong)))]


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
