"""Connect Four with typed moves, in OpenEnv's words."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

import msgspec
import numpy as np

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.connect4 import rules
from ludus.envs.open.connect4.board import METADATA
from ludus.envs.open.connect4.picture import connect4_picture
from ludus.envs.open.connect4.rules import COLUMNS, HEIGHT, MAX_SEARCH_DEPTH, ROWS
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Discrete, Record

__all__ = ["Connect4", "Connect4Action", "Connect4Observation", "Connect4State"]

Opponent = Literal["minimax", "random", "none"]
First = Literal["agent", "opponent", "random"]
Column = Annotated[int, Discrete(COLUMNS)]
Row = Annotated[list[Annotated[int, Discrete(3, start=-1)]], msgspec.Meta(min_length=COLUMNS, max_length=COLUMNS)]


@dataclass
class Connect4Action:
    """Where to drop a stone."""

    column: Column


@dataclass
class Connect4Observation:
    """The board from the top row down, 1 for the first player's stones and -1 for the other's, and the open columns."""

    board: Annotated[list[Row], msgspec.Meta(min_length=ROWS, max_length=ROWS)]
    legal_actions: Annotated[list[Column], msgspec.Meta(max_length=COLUMNS)]


@dataclass
class Connect4State:
    """What is shown of the game."""

    board: list[list[int]] = field(default_factory=lambda: [[0] * COLUMNS for _ in range(ROWS)])
    next_player: int = 1
    """1 or -1."""


class Connect4(Drawn, Env[Connect4Observation, Connect4Action]):
    """Four in a line win, against an opponent who looks `depth` moves ahead, one who draws, or both players by you.

    The reward is 1 for a win, -1 for a loss, and -1 for a move into a full column, which is no move: the game goes on,
    unless `illegal_ends`. With `opponent="none"` it is the mover's.

    >>> env = Connect4(opponent="none")
    >>> _ = env.reset(seed=0)
    >>> for column in (0, 1, 0, 1, 0, 1, 0):
    ...     step = env.step(Connect4Action(column))
    >>> step.reward, step.terminated, step.info["facts"]["won"]
    (1.0, True, True)
    """

    metadata = METADATA | {"keys_to_action": None, "regions": []}

    def __init__(
        self,
        opponent: Opponent = "minimax",
        depth: int = 3,
        first: First = "agent",
        illegal_ends: bool = False,
        render_mode: str | None = None,
    ) -> None:
        for name, given, known in (("opponent", opponent, Opponent), ("first", first, First)):
            if given not in get_args(known):
                raise InvalidArgument(f"Connect4 {name}: expected one of {list(get_args(known))}, got {shorten(given)}")
        if not isinstance(depth, int) or not 1 <= depth <= MAX_SEARCH_DEPTH:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(
                f"Connect4 depth: expected a number from 1 to {MAX_SEARCH_DEPTH}, got {shorten(depth)}"
            )
        self._opponent = rules.opponent if opponent != "none" else None
        begins = get_args(First).index(first)
        looks = 0 if opponent == "random" else depth
        self._params = rules.Params(depth=looks, begins=begins, illegal_ends=illegal_ends)
        self._position: rules.State | None = None
        self._needs = "no episode under way"
        self.action_space, self.observation_space = Record(Connect4Action), Record(Connect4Observation)
        self.render_mode = render_mode

    @property
    def state(self) -> Connect4State | None:
        """The board and who is to move; None before the first reset."""
        position = self._position
        return None if position is None else Connect4State(board_of(position), sign(position.player))

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Connect4Observation, Info]:
        """An empty board, or one with the opponent's first stone."""
        if options:
            raise InvalidArgument(
                f"options: expected none, since Connect4 has no reset options, got {shorten(options)}"
            )
        super().reset(seed=seed)
        begun = rules.reset(self.np_random, self._params)
        self._position, _, _ = self._answered(begun, 0.0, False)
        self._needs = ""
        return seen(self._position), self._info(self._position)

    def step(self, action: Connect4Action) -> Step[Connect4Observation]:
        """Drop a stone, and let the opponent answer."""
        if self._needs or self._position is None:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        self.action_space.check(action, "action", InvalidAction)
        mover = self._position.player
        moved, rewards, ended = rules.step(self._position, action.column, self.np_random, self._params)
        position, reward, ended = self._answered(moved, rewards[mover], ended)
        self._position = position
        if ended:
            self._needs = "an episode that has ended"
        info = self._info(position)
        illegal = info["facts"]["illegal_move"]
        info["reward_components"] = {"win": 0.0 if illegal else reward, "illegal_move": reward if illegal else 0.0}
        return Step(seen(position), reward, ended, False, info)

    def _answered(self, position: rules.State, reward: float, ended: bool) -> tuple[rules.State, float, bool]:
        """The opponent's moves, if there is one, until it is the agent's turn."""
        while self._opponent is not None and not ended and position.player != 0:
            column = int(self._opponent(position, self.np_random, self._params))
            position, rewards, ended = rules.step(position, column, self.np_random, self._params)
            reward += rewards[0]
        return position, reward, ended

    def get_keys_to_action(self) -> dict[str, Connect4Action]:
        """A digit for each column."""
        return {str(column + 1): Connect4Action(column) for column in range(COLUMNS)}

    def get_choices(self) -> list[Choice]:
        """The columns with room for a stone: one clicks anywhere in them."""
        position = self._position
        if position is None or self._needs:
            return []
        return [
            choice(f"column {column + 1}", {"column": column}, places=[(column / COLUMNS, 0.0, 1 / COLUMNS, 1.0)])
            for column in seen(position).legal_actions
        ]

    def _info(self, position: rules.State) -> Info:
        facts = rules.inform(position, self._params)
        entries: dict[str, object] = {"won": facts.won, "illegal_move": facts.illegal_move}
        if facts.winner >= 0:
            entries["winner"] = sign(facts.winner)
        legal = rules.legal(position, self._params).astype(np.int8)
        info: Info = {"facts": entries, "next_player": sign(position.player), "action_mask": legal}
        if facts.outcome:
            info["outcome"] = Outcome.of(facts.outcome)
        return info

    def draw(self) -> Canvas:
        """The board."""
        return connect4_picture(rules.State(0, 0, 0) if self._position is None else self._position)


def sign(player: int) -> int:
    """A player as OpenEnv writes him: 1 the first, -1 the second."""
    return 1 if player == 0 else -1


def board_of(position: rules.State) -> list[list[int]]:
    """The rows of a board, from the top down."""
    first, second = position.first, position.second
    return [
        [(first >> place & 1) - (second >> place & 1) for place in range(row, HEIGHT * COLUMNS, HEIGHT)]
        for row in range(ROWS - 1, -1, -1)
    ]


def seen(position: rules.State) -> Connect4Observation:
    """What is observed of a position."""
    board = board_of(position)
    return Connect4Observation(board, [column for column, top in enumerate(board[0]) if top == 0])
