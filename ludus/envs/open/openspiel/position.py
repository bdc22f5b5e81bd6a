"""`Position`: a state of a game that knows how it was reached, so that it can be copied, kept and gone back to."""

from copy import copy
from typing import Any

from ludus.envs.open.openspiel.engine import CHANCE, MEAN_FIELD, SIMULTANEOUS, TERMINAL, draws_by_itself, load

__all__ = ["Position"]

Move = int | list[int] | list[float]
"""A move, one of every player at once, or how a population is spread."""


class Position:
    """A game and its state. Copies are OpenSpiel's own; in a file, and where it draws by itself, moves are made again.

    >>> position = Position("tic_tac_toe", {})
    >>> position.apply(4)
    >>> position.player, position.legal(1)[:5]
    (1, [0, 1, 2, 3, 5])
    """

    def __init__(self, name: str, parameters: dict[str, Any], seed: int | None = None) -> None:
        self.name, self.parameters, self.seed = name, parameters, seed
        self.game: Any = load(name, parameters, seed)
        self.kind: Any = self.game.get_type()
        self.open: bool = self.kind.information.name in ("PERFECT_INFORMATION", "ONE_SHOT")
        """Whether nothing is hidden from anybody."""
        self.actions = int(self.game.num_distinct_actions())
        self.state: Any = self.game.new_initial_state()
        self.moves: list[Move] = []

    def again(self) -> "Position":
        """The beginning, of the same game."""
        return self._with(self.game.new_initial_state(), [])

    def _with(self, state: Any, moves: list[Move]) -> "Position":
        other = copy(self.__dict__) | {"state": state, "moves": moves}
        made = Position.__new__(Position)
        made.__dict__.update(other)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> "Position":
        if draws_by_itself(self.name):
            return _replayed(self.name, self.parameters, self.seed, list(self.moves))
        return self._with(self.state.clone(), list(self.moves))

    def __reduce__(self) -> Any:
        return _replayed, (self.name, self.parameters, self.seed, list(self.moves))

    # --- whose move it is ---

    @property
    def player(self) -> int:
        """The player to move, or one of OpenSpiel's numbers for nobody in particular."""
        return int(self.state.current_player())

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.is_terminal())

    def legal(self, player: int) -> list[int]:
        """What a player may do now; nothing, where it is not their turn."""
        turn = self.player
        if turn in (TERMINAL, CHANCE, MEAN_FIELD) or (turn != SIMULTANEOUS and turn != player):
            return []
        return self.state.legal_actions(player)

    # --- moves ---

    def apply(self, move: int) -> None:
        """Make a legal move, the player's or that of chance."""
        self.state.apply_action(move)
        self.moves.append(move)

    def apply_all(self, moves: list[int]) -> None:
        """Make everybody's move at once."""
        self.state.apply_actions(moves)
        self.moves.append(moves)

    def spread(self, distribution: list[float]) -> None:
        """Say how the population is spread over what `distribution_support` lists."""
        self.state.update_distribution(distribution)
        self.moves.append(distribution)

    def returns(self) -> list[float]:
        """What each player has gained so far."""
        return [float(one) for one in self.state.returns()]


def _replayed(name: str, parameters: dict[str, Any], seed: int | None, moves: list[Move]) -> Position:
    position = Position(name, parameters, seed)
    for move in moves:
        if isinstance(move, int):
            position.apply(move)
        elif position.player == MEAN_FIELD:
            position.spread(move)  # pyright: ignore[reportArgumentType]
        else:
            position.apply_all(move)  # pyright: ignore[reportArgumentType]
    return position
