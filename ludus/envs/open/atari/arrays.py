"""Atari games as arrays: a number in, a screen out."""

import numpy as np
import numpy.typing as npt

from ludus.core import Step
from ludus.envs.open.atari.console_env import ConsoleEnv
from ludus.errors import InvalidAction
from ludus.spaces import Box, Discrete

__all__ = ["AtariArrays"]


class AtariArrays(ConsoleEnv[npt.NDArray[np.uint8], int]):
    """A game as learners of pixels want it; settings are those of `Atari`.

    >>> env = AtariArrays("pong", obs_type="grayscale")
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, int(env.action_space.n)
    ((210, 160), 6)
    """

    def __init__(self, game: str | None = None, *, render_mode: str | None = None, **settings: object) -> None:
        super().__init__({"game": game, **settings}, render_mode)
        self.action_space = Discrete(len(self._actions))
        self.observation_space = Box(0, 255, self.shape, np.uint8)

    def step(self, action: int) -> Step[npt.NDArray[np.uint8]]:
        """Hold an action for as many frames as are skipped."""
        self.check_begun()
        self.action_space.check(action, "action", InvalidAction)
        return self._pressed(int(action))

    def seen(self) -> npt.NDArray[np.uint8]:
        """The screen."""
        return self.screen()

    def get_keys_to_action(self) -> dict[str | tuple[str, ...], int]:
        """Arrows and space."""
        return self.keys()
