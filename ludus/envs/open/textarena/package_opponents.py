"""Opponents in games of the package: moves are tried on copies, so that nobody loses by one that is not legal.

A copy has the board, and none of what was said. It is played with random states of its own: what a trial throws is not
what the game will throw.
"""

import pickle
from collections.abc import Sequence, Sized
from copy import copy, deepcopy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ludus.envs.open.textarena.guard import PackageEnv, guarded
from ludus.spaces.kinds import is_dict

if TYPE_CHECKING:
    from ludus.envs.open.textarena.package_game import PackageGame

__all__ = ["LOOKED_AHEAD", "after", "legal_move", "minimax_move"]

LOOKED_AHEAD = (
    "Alquerque",
    "Breakthrough",
    "Chopsticks",
    "ConnectFour",
    "Crusade",
    "Nim",
    "Othello",
    "QuantumTicTacToe",
    "SantoriniBaseFixed",
    "SimpleTak",
    "TicTacToe",
    "UltimateTicTacToe",
    "WildTicTacToe",
)
"""Games for two in turn in which nothing is hidden and nothing is drawn."""
SHARED_SIZE = 2000
"""Words of a dictionary, cards of a book: what is as large as this no move changes, and is not copied."""
WON = 1000.0
PIECES = {"Alquerque": "RB", "Breakthrough": "WB", "Crusade": "WB", "Othello": "BW"}
"""By how many of these more one has than the other a board is worth more, where neither has won."""


class Trial(NamedTuple):
    """A copy of a game after a move was tried on it."""

    game: "PackageGame"
    over: bool
    rewards: dict[int, float]


def after(game: "PackageGame", move: str) -> "Trial | None":
    """What a move makes of a copy of the game; None where the game refuses the move."""
    with guarded(copy(game.random_states)):
        return _tried(game, move, _copied(game.inner))


def _tried(game: "PackageGame", move: str, inner: PackageEnv) -> "Trial | None":
    """The same of a copy that was made, where random states are guarded: that takes as long as a small game's move."""
    state = inner.state
    before = int(getattr(state, "error_count", 0) or 0)
    try:
        over = bool(inner.step(move)[0])
    except Exception:
        return None
    refused = int(getattr(state, "error_count", 0) or 0) > before
    infos: dict[int, dict[str, object]] = getattr(state, "game_info", None) or {}
    if refused or infos.get(game.player, {}).get("invalid_move"):
        return None
    trial = copy(game)
    trial.inner, trial.player = inner, state.current_player_id
    trial.seen = {one: [str(messages[1]) for messages in message] for one, message in state.observations.items()}
    return Trial(trial, over, state.rewards or {})


def _copied(env: PackageEnv) -> PackageEnv:
    state = env.state
    kept: dict[int, object] = {id(state.logs): [], id(state.observations): {one: [] for one in state.observations}}
    for owner in (vars(env), state.game_state if is_dict(state.game_state) else {}):
        kept |= {id(one): one for one in owner.values() if _is_large(one)}
    return deepcopy(env, kept)


def _written(env: PackageEnv) -> bytes:
    """A position, to be read as often as a move is tried in it: a quarter of what so many copies take, or less."""
    state = env.state
    logs, observations = state.logs, state.observations
    state.logs, state.observations = [], {one: [] for one in observations}
    try:
        return pickle.dumps(env, pickle.HIGHEST_PROTOCOL)
    finally:
        state.logs, state.observations = logs, observations


def _is_large(value: object) -> bool:
    return type(value).__name__ == "EnglishDictionary" or (isinstance(value, Sized) and len(value) >= SHARED_SIZE)


def legal_move(game: "PackageGame", moves: Sequence[str], rng: np.random.Generator) -> str:
    """Any of the moves that the game takes, each as likely as the others; any at all where it takes none of them."""
    order: list[str] = rng.permutation(moves).tolist()
    return next((move for move in order if after(game, move) is not None), order[0])


def minimax_move(game: "PackageGame", rng: np.random.Generator) -> str:
    """The move after which the other's best answer is worst; among equal ones, any."""
    mover, moves = game.player, game.moves()
    worth: dict[str, float] = {}
    best = -WON
    with guarded(copy(game.random_states)):
        position = _written(game.inner)
        for move in moves:
            trial = _tried(game, move, pickle.loads(position))  # noqa: S301 (our own, written above)
            if trial is None:
                continue
            worth[move] = _worth(trial, mover) if trial.over else _after_answers(trial, mover, best)
            best = max(best, worth[move])
            if best >= WON:
                return move
    if not worth:
        return legal_move(game, moves, rng)
    equal = [move for move, value in worth.items() if value == best]
    return equal[int(rng.integers(len(equal)))]


def _after_answers(trial: Trial, mover: int, enough: float) -> float:
    """What a move is worth after the answer to it; any number below `enough`, which another move is worth, will do."""
    least = _worth(trial, mover)
    if trial.game.player == mover:
        return least
    position = _written(trial.game.inner)
    for answer in trial.game.moves():
        if least < enough or least <= -WON:
            break
        after = _tried(trial.game, answer, pickle.loads(position))  # noqa: S301 (our own, written above)
        least = least if after is None else min(least, _worth(after, mover))
    return least


def _worth(trial: Trial, mover: int) -> float:
    """A win, a loss, or else how many more pieces one has than the other."""
    if trial.over:
        own, other = (float(trial.rewards.get(one, 0.0)) for one in (mover, 1 - mover))
        return WON if own > other else -WON if own < other else 0.0
    if trial.game.base not in PIECES:
        return 0.0
    board = [cell for row in trial.game.inner.state.game_state["board"] for cell in row]
    own, other = (board.count(PIECES[trial.game.base][one]) for one in (mover, 1 - mover))
    return float(own - other)
