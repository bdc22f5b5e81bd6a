"""Connect Four as arrays: what a batch compiles, against an opponent or with both players by the caller."""

import numpy as np

from ludus.core.env import Metadata
from ludus.envs.open.connect4.picture import connect4_picture
from ludus.envs.open.connect4.rules import (
    COLUMNS,
    ROWS,
    Params,
    State,
    inform,
    legal,
    observe,
    opponent,
    reset,
    step,
    turn,
)
from ludus.kernels import RuleEnv, Rules
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Box, Discrete

__all__ = ["Connect4Board", "Connect4Players"]

GAME = Rules(State, Params, reset, step, observe, inform, legal=legal, players=2, turn=turn)
METADATA: Metadata = Drawn.metadata | {
    "render_fps": 2,
    "keys_to_action": {str(column + 1): column for column in range(COLUMNS)},
    "action_names": [f"column {column + 1}" for column in range(COLUMNS)],
    "regions": [
        {"x": column / COLUMNS, "y": 0.0, "width": 1 / COLUMNS, "height": 1.0, "action": column}
        for column in range(COLUMNS)
    ],
}


class Connect4Players(Drawn, RuleEnv):
    """Two players in turn, both by the caller; the board is seen by the one to move, with his stones as 1.

    >>> env = Connect4Players()
    >>> _, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.step(3)
    >>> int(observation[5, 3]), info["turn"]
    (-1, 1)
    """

    rules = GAME
    metadata = METADATA
    observation_space, action_space = Box(-1, 1, (ROWS, COLUMNS), np.int8), Discrete(COLUMNS)

    def draw(self) -> Canvas:
        """The board."""
        return connect4_picture(self._state)


class Connect4Board(Drawn, RuleEnv):
    """The first player against a rule that looks `depth` moves ahead (0: moves at random), compiled in a batch.

    >>> env = Connect4Board(depth=0)
    >>> _, info = env.reset(seed=0)
    >>> int(env.step(3).observation.sum())
    0
    """

    rules = GAME._replace(opponent=opponent)
    metadata = METADATA
    observation_space, action_space = Box(-1, 1, (ROWS, COLUMNS), np.int8), Discrete(COLUMNS)

    def draw(self) -> Canvas:
        """The board."""
        return connect4_picture(self._state)
