"""`Position`: a state of a game that knows how it was reached, so that it can be copied, kept and gone back to."""

from typing import TYPE_CHECKING

from ludus.core.snapshot import Memo
from ludus.envs.open.openspiel.engine import MEAN_FIELD, SIMULTANEOUS, TERMINAL, copies_badly, load

if TYPE_CHECKING:
    import pyspiel

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

    def __init__(self, name: str, parameters: dict[str, object], seed: int | None = None) -> None:
        self.name, self.parameters, self.seed = name, parameters, seed
        self.game = load(name, parameters, seed)
        self.kind = self.game.get_type()
        self.open: bool = self.kind.information.name in ("PERFECT_INFORMATION", "ONE_SHOT")
        """Whether nothing is hidden from anybody."""
        self.tensor_name, self.text_name = _views(self.kind)
        """Methods of the state that show it to a seat, as numbers and as text; empty where the game has none."""
        self.actions = int(self.game.num_distinct_actions())
        self._stand(self.game.new_initial_state(), [])

    def _stand(self, state: "pyspiel.State", moves: list[Move]) -> None:
        self.state = state
        self.moves: list[Move] = moves
        self._looked()

    def _looked(self) -> None:
        """Ask the engine once after each move: every answer is a call into it."""
        self.player: int = self.state.current_player()
        """The player to move, or one of OpenSpiel's numbers for nobody in particular."""
        self._legal: list[int] | None = None
        self._returns: list[float] | None = None

    def again(self) -> "Position":
        """The beginning, of the same game."""
        return self._with(self.game.new_initial_state(), [])

    def _with(self, state: "pyspiel.State", moves: list[Move]) -> "Position":
        made = Position.__new__(Position)
        made.__dict__.update(self.__dict__)
        made._stand(state, moves)
        return made

    def __deepcopy__(self, memo: Memo) -> "Position":
        if copies_badly(self.name):
            return _replayed(self.name, self.parameters, self.seed, list(self.moves))
        return self._with(self.state.clone(), list(self.moves))

    def __reduce__(self) -> tuple[object, ...]:
        return _replayed, (self.name, self.parameters, self.seed, list(self.moves))

    # --- whose move it is ---

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.player == TERMINAL

    def legal(self, player: int) -> list[int]:
        """What a player may do now; nothing, where it is not their turn. The list is not to be written to."""
        turn = self.player
        if turn == player and turn >= 0:
            legal = self._legal
            if legal is None:
                legal = self._legal = list(self.state.legal_actions())
            return legal
        return self.state.legal_actions(player) if turn == SIMULTANEOUS else []

    # --- moves ---

    def apply(self, move: int) -> None:
        """Make a legal move, the player's or that of chance."""
        self.state.apply_action(move)
        self.moves.append(move)
        self._looked()

    def apply_all(self, moves: list[int]) -> None:
        """Make everybody's move at once."""
        self.state.apply_actions(moves)
        self.moves.append(moves)
        self._looked()

    def spread(self, distribution: list[float]) -> None:
        """Say how the population is spread over what `distribution_support` lists."""
        self.state.update_distribution(distribution)
        self.moves.append(distribution)
        self._looked()

    def returns(self) -> list[float]:
        """What each player has gained so far; the list is not to be written to."""
        returns = self._returns
        if returns is None:
            returns = self._returns = list(self.state.returns())
        return returns


def _views(kind: "pyspiel.GameType") -> tuple[str, str]:
    """The information state before what is observed: it has all that the seat may remember."""
    numbers = (
        "information_state_tensor" if kind.provides_information_state_tensor
        else "observation_tensor" if kind.provides_observation_tensor
        else ""
    )  # fmt: skip
    text = (
        "information_state_string" if kind.provides_information_state_string
        else "observation_string" if kind.provides_observation_string
        else ""
    )  # fmt: skip
    return numbers, text


def _replayed(name: str, parameters: dict[str, object], seed: int | None, moves: list[Move]) -> Position:
    position = Position(name, parameters, seed)
    for move in moves:
        if isinstance(move, int):
            position.apply(move)
        elif position.player == MEAN_FIELD:
            position.spread(move)  # pyright: ignore[reportArgumentType]
        else:
            position.apply_all(move)  # pyright: ignore[reportArgumentType]
    return position
