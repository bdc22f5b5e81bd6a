"""OpenSpiel's games with typed moves, in OpenEnv's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ludus.core import Info, Step
from ludus.core.options import Options
from ludus.envs.open.openspiel.boards import keys_of
from ludus.envs.open.openspiel.engine import SIMULTANEOUS, game_names
from ludus.envs.open.openspiel.game_env import GameEnv
from ludus.envs.open.openspiel.opponents import Opponent
from ludus.envs.open.openspiel.settings import action_space_of, tensor_space_of
from ludus.errors import InvalidAction, ResetNeeded, shorten
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Record

__all__ = ["OpenSpiel", "OpenSpielAction", "OpenSpielObservation", "OpenSpielState"]

ANY_GAME = "catch"
"""What OpenEnv's clients send as the name of the game unless they are set otherwise: it asks for nothing."""


@dataclass
class OpenSpielAction:
    """The number of a legal action; who names a game and its parameters has to name those that are played."""

    action_id: Annotated[int, Discrete(2**31)]
    game_name: str = ANY_GAME
    game_params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class OpenSpielObservation:
    """What the seat to move knows: as numbers, as text, and what it may do."""

    info_state: Annotated[npt.NDArray[np.float32], Box(-np.inf, np.inf, (0,), np.float32)]
    legal_actions: list[int]
    game_phase: str = "playing"
    """initial, playing or terminal."""
    current_player_id: int = 0
    """The seat to move; -2 where all move at once, -4 at the end."""
    opponent_last_action: int | None = None
    text: str = ""


@dataclass
class OpenSpielState:
    """What is played, and by whom."""

    game_name: str = "catch"
    agent_player: int = 0
    opponent_policy: str = "random"
    game_params: dict[str, Any] = field(default_factory=dict[str, Any])
    num_players: int = 1


class OpenSpiel(GameEnv[OpenSpielObservation, OpenSpielAction]):
    """A game of OpenSpiel against opponents who draw, who search, or who are yours; or with every seat by you.

    Parameters of the game are arguments, too. The reward is what the seat gains; an illegal action costs 1, changes
    nothing, and the game goes on. With `opponent="none"` the reward is the mover's, and `info["rewards"]` has all.

    >>> env = OpenSpiel("tic_tac_toe", opponent="first")
    >>> observation, info = env.reset(seed=0)
    >>> for action in (4, 2, 6):
    ...     step = env.step(OpenSpielAction(action))
    >>> step.reward, step.info["facts"]["won"]
    (1.0, True)
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
        beginning = self._beginning
        self.action_space = Record(OpenSpielAction, spaces={"action_id": action_space_of(beginning)})
        self.observation_space = Record(OpenSpielObservation, spaces={"info_state": tensor_space_of(beginning)})
        self.state: OpenSpielState | None = None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[OpenSpielObservation, Info]:
        """Begin a game, and play it until the agent is to move."""
        begun = super().reset(seed=seed, options=options)
        table, beginning = self._table, self._beginning
        policy = table.opponent if isinstance(table.opponent, str) else "custom"
        self.state = OpenSpielState(beginning.name, table.agent, policy, dict(beginning.parameters), self.num_players)
        return begun

    def step(self, action: OpenSpielAction) -> Step[OpenSpielObservation]:
        """Make a move, and let everybody else make theirs; one that is not legal changes nothing but the reward."""
        match = self.match()
        read = self.action_space.coerce(action, "action", InvalidAction)
        self._check_game(read)
        return self._moved(match, read.action_id)

    def observation_of(self, seat: int) -> OpenSpielObservation:
        """What a seat sees now, whether it is its turn or not."""
        match = self._match
        if match is None:
            raise ResetNeeded("observation_of: expected reset() first, got no episode under way")
        player = match.position.player
        if player == SIMULTANEOUS and self.plays_all_seats:
            player = match.turn
        return OpenSpielObservation(
            match.tensor(seat),
            list(match.position.legal(seat)),
            "terminal" if match.over else self._phase,
            player,
            match.last_opponent_action if seat == self._table.agent else None,
            match.text(seat),
        )

    def written(self, action: int) -> dict[str, int]:
        """An action by its number, as JSON has it."""
        return {"action_id": action}

    def get_keys_to_action(self) -> dict[str, OpenSpielAction] | None:
        """Arrows or digits, where a game has few actions."""
        keys = keys_of(self._beginning.name, self._beginning.actions)
        return None if keys is None else {key: OpenSpielAction(action) for key, action in keys.items()}

    def _check_game(self, action: OpenSpielAction) -> None:
        own = self._beginning
        if action.game_name not in (ANY_GAME, own.name) and action.game_name in game_names():
            raise InvalidAction(
                f"action.game_name: expected {own.name!r}, which this environment plays, "
                f"got {shorten(action.game_name)}; make one for the other game"
            )
        if any(own.parameters.get(key) != one for key, one in action.game_params.items()):
            raise InvalidAction(
                f"action.game_params: expected none, or those that are played with, {own.parameters}, "
                f"got {shorten(action.game_params)}"
            )
