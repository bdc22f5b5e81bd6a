"""GridWorld: walk from the corner of a square to its goal."""

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Step
from ludus.core.options import Options
from ludus.errors import InvalidAction, InvalidArgument, shorten
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete

__all__ = ["GridWorld"]

MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])


Cell = npt.NDArray[np.int64]
"""Row and column."""


class GridWorld(Env[Cell, int]):
    """A square of `size` × `size` cells. The agent starts at (0, 0); the goal's place is drawn at each reset.

    Actions move up, down, left and right; walls stop the agent. At the goal the reward is 1 and the episode ends.

    >>> env = GridWorld(size=3)
    >>> observation, info = env.reset(seed=0)
    >>> observation, info
    (array([0, 0]), {'goal': array([2, 1])})
    """

    def __init__(self, size: int = 5) -> None:
        if not isinstance(size, int) or size < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(f"GridWorld size: expected an integer from 2, got {shorten(size)}")
        self.size = size
        self.observation_space = Box(0, size - 1, shape=(2,), dtype=np.int64)
        self.action_space = Discrete(4)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Cell, Info]:
        """Put the agent in its corner and draw a goal elsewhere."""
        if options:
            raise InvalidArgument(
                f"options: expected none, since GridWorld has no reset options, got {shorten(options)}"
            )
        super().reset(seed=seed)
        self.agent = np.zeros(2, dtype=np.int64)
        place = int(self.np_random.integers(1, self.size**2))
        self.goal = np.array(divmod(place, self.size))
        return self.agent.copy(), {"goal": self.goal.copy()}

    def step(self, action: int) -> Step[Cell]:
        """Move by one cell."""
        self.action_space.check(action, "action", InvalidAction)
        self.agent = np.clip(self.agent + MOVES[action], 0, self.size - 1)
        if np.array_equal(self.agent, self.goal):
            return Step.termination(self.agent.copy(), 1.0, {"goal": self.goal.copy()})
        return Step.transition(self.agent.copy(), 0.0, {"goal": self.goal.copy()})
