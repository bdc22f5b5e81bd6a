"""OpenSpiel's games as arrays: a number in, an information state out, and what is legal as a mask."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ludus.core import Step
from ludus.envs.open.openspiel.boards import keys_of
from ludus.envs.open.openspiel.game_env import GameEnv
from ludus.envs.open.openspiel.opponents import Opponent
from ludus.envs.open.openspiel.settings import action_space_of, tensor_space_of
from ludus.errors import InvalidAction, ResetNeeded

__all__ = ["OpenSpielArrays"]


class OpenSpielArrays(GameEnv[npt.NDArray[np.float32], int]):
    """A game as learners of arrays want it; with `opponent="none"` also in PettingZoo's two shapes.

    >>> env = OpenSpielArrays("connect_four", opponent="none")
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, info["action_mask"].tolist(), info["turn"]
    ((126,), [1, 1, 1, 1, 1, 1, 1], 0)
    """

    def __init__(
        self,
        game: str | None = None,
        game_params: Mapping[str, object] | None = None,
        *,
        opponent: Opponent | None = None,
        agent_player: int | None = None,
        simulations: int = 100,
        render_mode: str | None = None,
        **parameters: object,
    ) -> None:
        super().__init__(
            game, game_params, opponent=opponent, agent_player=agent_player, simulations=simulations,
            render_mode=render_mode, **parameters,
        )  # fmt: skip
        self.action_space = action_space_of(self._beginning)
        self.observation_space = tensor_space_of(self._beginning)

    def step(self, action: int) -> Step[npt.NDArray[np.float32]]:
        """Make a move, and let everybody else make theirs; one that is not legal changes nothing but the reward."""
        match = self.match()
        self.action_space.check(action, "action", InvalidAction)
        return self._moved(match, int(action))

    def get_keys_to_action(self) -> dict[str, int] | None:
        """Arrows or digits, where a game has few actions."""
        return keys_of(self._beginning.name, self._beginning.actions)

    def observation_of(self, seat: int) -> npt.NDArray[np.float32]:
        """What a seat sees now, whether it is its turn or not."""
        if self._match is None:
            raise ResetNeeded("observation_of: expected reset() first, got no episode under way")
        return self._match.tensor(seat)
