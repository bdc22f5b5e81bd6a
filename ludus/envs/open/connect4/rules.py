"""Connect Four as rules: a board is two integers, a bit for each stone; a move and its lines are a few shifts."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.core.outcome import Outcome

__all__ = [
    "COLUMNS",
    "MAX_SEARCH_DEPTH",
    "HEIGHT",
    "ROWS",
    "Params",
    "State",
    "best_column",
    "inform",
    "legal",
    "observe",
    "opponent",
    "reset",
    "step",
    "turn",
]

ROWS, COLUMNS = 6, 7
HEIGHT = ROWS + 1
"""Bits of a column: one row more than the board has, always empty, so that no line goes on in the next column."""
FULL = sum(0b111111 << (HEIGHT * column) for column in range(COLUMNS))
ORDER = (3, 2, 4, 1, 5, 0, 6)
"""Columns from the middle, where most lines pass: what is tried first cuts most off."""
MAX_SEARCH_DEPTH = 12
WIN_SCORE = 64
"""More than any score: a win counts 64 less the moves that it takes."""
SUCCESS, FAILURE, INVALID = Outcome.SUCCESS.code, Outcome.FAILURE.code, Outcome.INVALID_ACTION.code


class State(NamedTuple):
    """Both players' stones, bit by bit, and who is to move."""

    first: int
    second: int
    player: int
    winner: int = -1
    """The player who has four in a line; -1 while nobody has."""
    illegal: int = 0
    """Whether the last move was into a full column."""


class Params(NamedTuple):
    """How the opponent plays, who begins, and what a move into a full column is worth."""

    depth: int = 3
    """Moves that the opponent looks ahead; with 0 it moves at random."""
    begins: int = 0
    """Who begins: 0 the first player, 1 the second, 2 whoever is drawn."""
    illegal_ends: bool = False
    """Whether a move into a full column ends the game."""
    illegal_reward: float = -1.0


class Info(NamedTuple):
    """What `info` has beside rewards."""

    outcome: int
    """For the first player: the code of an `Outcome`, a draw being no success; 0 while the game goes on."""
    won: bool
    """Whether the first player has won."""
    winner: int
    illegal_move: bool


def is_open(filled: int, column: int) -> bool:
    """Whether a stone fits into a column."""
    return (filled >> (HEIGHT * column + ROWS - 1)) & 1 == 0


def drop(filled: int, column: int) -> int:
    """The bit of a stone that falls into an open column."""
    return (filled + (1 << (HEIGHT * column))) & ~filled & (0b111111 << (HEIGHT * column))


def has_four(stones: int) -> bool:
    """Whether there are four in a line: upright, flat, and both ways aslant."""
    # Written out: half of the time of a search is here.
    pairs = stones & (stones >> 1)
    if pairs & (pairs >> 2) != 0:
        return True
    pairs = stones & (stones >> HEIGHT)
    if pairs & (pairs >> (2 * HEIGHT)) != 0:
        return True
    pairs = stones & (stones >> (HEIGHT - 1))
    if pairs & (pairs >> (2 * HEIGHT - 2)) != 0:
        return True
    pairs = stones & (stones >> (HEIGHT + 1))
    return pairs & (pairs >> (2 * HEIGHT + 2)) != 0


def reset(rng: np.random.Generator, params: Params) -> State:
    """An empty board."""
    begins = params.begins
    if begins == 2:
        begins = int(rng.integers(2))
    return State(0, 0, begins, -1, 0)


def step(
    state: State, action: int, rng: np.random.Generator, params: Params
) -> tuple[State, tuple[float, float], bool]:
    """A stone falls; four in a line win, a full board is a draw, and a full column takes no stone."""
    first, second, player = state.first, state.second, state.player
    filled = first | second
    if not is_open(filled, action):
        loss = params.illegal_reward
        return State(first, second, player, -1, 1), (loss, 0.0) if player == 0 else (0.0, loss), params.illegal_ends
    stone = drop(filled, action)
    if player == 0:
        first |= stone
    else:
        second |= stone
    if has_four(first if player == 0 else second):
        return State(first, second, 1 - player, player, 0), (1.0, -1.0) if player == 0 else (-1.0, 1.0), True
    return State(first, second, 1 - player, -1, 0), (0.0, 0.0), (first | second) == FULL


def inform(state: State, params: Params) -> Info:
    """Who has won, and whether the last move was one."""
    illegal = state.illegal == 1
    if state.winner >= 0:
        outcome = SUCCESS if state.winner == 0 else FAILURE
    elif (state.first | state.second) == FULL:
        outcome = FAILURE
    else:
        outcome = INVALID if illegal and params.illegal_ends else 0
    return Info(outcome, state.winner == 0, state.winner, illegal)


def observe(state: State, params: Params, player: int) -> NDArray[np.int8]:
    """The board from the top row down, as a player sees it: 1 for one's own stones, -1 for the other's."""
    board = np.zeros((ROWS, COLUMNS), np.int8)
    own, other = (state.first, state.second) if player == 0 else (state.second, state.first)
    for row in range(ROWS):
        for column in range(COLUMNS):
            place = HEIGHT * column + ROWS - 1 - row
            if (own >> place) & 1 == 1:
                board[row, column] = 1
            elif (other >> place) & 1 == 1:
                board[row, column] = -1
    return board


def legal(state: State, params: Params) -> NDArray[np.bool_]:
    """The columns that have a place left."""
    mask = np.zeros(COLUMNS, np.bool_)
    filled = state.first | state.second
    for column in range(COLUMNS):
        mask[column] = is_open(filled, column)
    return mask


def turn(state: State, params: Params) -> int:
    """Who is to move."""
    return state.player


def opponent(state: State, rng: np.random.Generator, params: Params) -> int:
    """A legal column: drawn, or the best as far as `depth` moves show, drawn among equals."""
    own, other = (state.first, state.second) if state.player == 0 else (state.second, state.first)
    if params.depth <= 0:
        return random_column(own | other, rng)
    return best_column(own, other, params.depth, rng)


def random_column(filled: int, rng: np.random.Generator) -> int:
    """One of the open columns, each as likely."""
    left = 0
    for column in range(COLUMNS):
        if is_open(filled, column):
            left += 1
    place = rng.integers(left)
    for column in range(COLUMNS):
        if is_open(filled, column):
            if place == 0:
                return column
            place -= 1
    return 0


def best_column(own: int, other: int, depth: int, rng: np.random.Generator) -> int:
    """The column with the best score, drawn among equals."""
    filled, best, chosen, equals = own | other, -WIN_SCORE, 0, 0
    for column in ORDER:
        if not is_open(filled, column):
            continue
        stone = drop(filled, column)
        if has_four(own | stone):
            return column
        # One less than the best so far: what equals it is then exact, and can be drawn.
        score = -search(other, own | stone, depth - 1, -WIN_SCORE, WIN_SCORE if best == -WIN_SCORE else 1 - best)
        if score > best:
            best, chosen, equals = score, column, 1
        elif score == best:
            equals += 1
            if rng.integers(equals) == 0:
                chosen = column
    return chosen


def search(own: int, other: int, depth: int, lower: int, upper: int) -> int:
    """The score for the player to move, by alpha-beta; rules know no recursion, so it keeps its own stacks."""
    if depth <= 0 or (own | other) == FULL:
        return 0
    size = depth + 1
    movers, others = [0] * size, [0] * size
    lowers, uppers = [0] * size, [0] * size
    tried, bests = [0] * size, [0] * size
    ply = 0
    movers[0], others[0], lowers[0], uppers[0], bests[0] = own, other, lower, upper, -WIN_SCORE
    while True:
        if tried[ply] == COLUMNS or bests[ply] >= uppers[ply]:
            if ply == 0:
                return bests[0]
            value = -bests[ply]
            ply -= 1
        else:
            column = ORDER[tried[ply]]
            tried[ply] += 1
            filled = movers[ply] | others[ply]
            if not is_open(filled, column):
                continue
            stone = drop(filled, column)
            moved = movers[ply] | stone
            if has_four(moved):
                value = WIN_SCORE - 1 - ply
            elif ply + 1 >= depth or (filled | stone) == FULL:
                value = 0
            else:
                low = max(lowers[ply], bests[ply])
                ply += 1
                movers[ply], others[ply], tried[ply], bests[ply] = others[ply - 1], moved, 0, -WIN_SCORE
                lowers[ply], uppers[ply] = -uppers[ply - 1], -low
                continue
        if value > bests[ply]:
            bests[ply] = value
