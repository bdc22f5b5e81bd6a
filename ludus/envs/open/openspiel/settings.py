"""What an environment of a game is made with: the game and its parameters, who plays, and what its spaces are."""

import os
from collections.abc import Callable, Mapping

import numpy as np

from ludus.envs.open.openspiel.engine import parse_game
from ludus.envs.open.openspiel.match import Table
from ludus.envs.open.openspiel.opponents import Opponent, known_opponent
from ludus.envs.open.openspiel.position import Position
from ludus.errors import InvalidArgument, shorten
from ludus.spaces import Box, Discrete

__all__ = ["action_space_of", "beginning_of", "table_of", "tensor_space_of"]

GAME, PLAYER, OPPONENT = "OPENSPIEL_GAME", "OPENSPIEL_AGENT_PLAYER", "OPENSPIEL_OPPONENT_POLICY"
"""Variables that OpenEnv's server reads: what an argument leaves open is taken from them."""


def beginning_of(game: str | None, given: Mapping[str, object] | None, named: Mapping[str, object]) -> Position:
    """The beginning of a game: its name, or its spelling with parameters, which others may add to."""
    name, parameters = parse_game(game if game is not None else os.environ.get(GAME, "catch"))
    if given is not None and not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument(f"OpenSpiel game_params: expected a dictionary, got {shorten(given)}")
    return Position(name, parameters | dict(given or {}) | dict(named))


def table_of(
    beginning: Position, agent: int | None, opponent: Opponent | None, simulations: int, look: Callable[[int], object]
) -> Table:
    """Who plays which seat."""
    players = int(beginning.game.num_players())
    text = os.environ.get(PLAYER, "0")
    seat = (int(text) if text.isdecimal() else text) if agent is None else agent
    if type(seat) is not int or not 0 <= seat < players:
        raise InvalidArgument(
            f"OpenSpiel agent_player: expected one of {list(range(players))}, the seats of {beginning.name}, "
            f"got {shorten(seat)}"
        )
    if opponent is None:
        opponent = os.environ.get(OPPONENT, "random")
    return Table(seat, known_opponent(opponent, beginning.game, simulations), simulations, look)


def action_space_of(beginning: Position) -> Discrete:
    """The numbers of actions, legal now or not."""
    return Discrete(beginning.actions)


def tensor_space_of(beginning: Position) -> Box:
    """A flat information state, or what is observed where the game has no such thing; else no numbers at all."""
    game, kind = beginning.game, beginning.kind
    if kind.provides_information_state_tensor:
        shape = game.information_state_tensor_shape()
    elif kind.provides_observation_tensor:
        shape = game.observation_tensor_shape()
    else:
        shape = [0]
    return Box(-np.inf, np.inf, (int(np.prod(shape)),), np.float32)
