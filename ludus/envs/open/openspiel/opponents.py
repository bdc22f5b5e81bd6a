"""Opponents: who plays the seats that the agent does not."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ludus.envs.open.openspiel.engine import engine
from ludus.envs.open.openspiel.position import Position
from ludus.errors import ContractViolation, InvalidArgument, shorten

__all__ = ["MOST_SIMULATIONS", "OPPONENTS", "Opponent", "chosen", "known_opponent", "mcts_move"]

OPPONENTS = ("random", "first", "last", "middle", "mcts", "none")
"""By name; with "none" the agent plays every seat."""
Opponent = str | Callable[[Any, np.random.Generator], int]
"""A name, or a policy: of the observation of its seat and a generator, it makes the number of a legal action."""
MOST_SIMULATIONS = 100_000
EXPLORATION = 2.0
MEMORY_MB = 256
SEEDS = 1 << 31


def known_opponent(opponent: Any, game: Any, simulations: Any) -> Opponent:
    """The opponent, if it can play this game; raises InvalidArgument."""
    if not isinstance(opponent, str) and callable(opponent):
        return cast(Opponent, opponent)
    if opponent not in OPPONENTS:
        raise InvalidArgument(f"OpenSpiel opponent: expected one of {OPPONENTS} or a policy, got {shorten(opponent)}")
    if opponent == "mcts":
        if type(simulations) is not int or not 1 <= simulations <= MOST_SIMULATIONS:
            raise InvalidArgument(
                f"OpenSpiel simulations: expected 1 to {MOST_SIMULATIONS}, got {shorten(simulations)}"
            )
        _searchable(game)
    return opponent


def _searchable(game: Any) -> None:
    kind = game.get_type()
    wrong = [
        reason
        for holds, reason in (
            (kind.dynamics.name == "SEQUENTIAL", "players who move at once"),
            (kind.information.name == "PERFECT_INFORMATION", "something hidden, at which a search would look"),
            (kind.reward_model.name == "TERMINAL", "rewards before its end"),
            (kind.chance_mode.name != "SAMPLED_STOCHASTIC", "chance that the engine draws by itself"),
        )
        if not holds
    ]
    if wrong:
        raise InvalidArgument(f"OpenSpiel opponent: expected a game that can be searched for 'mcts', got {wrong[0]}")


def mcts_move(position: Position, rng: np.random.Generator, simulations: int) -> int:
    """What OpenSpiel's tree search finds, its draws seeded from `rng`; bounded by simulations, never by the clock."""
    spiel = engine()
    rollouts = spiel.RandomRolloutEvaluator(1, int(rng.integers(SEEDS)))
    bot = spiel.MCTSBot(
        position.game, rollouts, EXPLORATION, simulations, MEMORY_MB, True, int(rng.integers(SEEDS)), False
    )
    return int(bot.step(position.state))


def chosen(opponent: Opponent, legal: list[int], rng: np.random.Generator, look: Callable[[], Any]) -> int:
    """A legal action, by a rule or by a policy that is shown what `look` gives."""
    if not isinstance(opponent, str):
        action = opponent(look(), rng)
        if action not in legal:
            raise ContractViolation(
                f"OpenSpiel opponent: expected a legal action of {shorten(legal)}, got {shorten(action)}"
            )
        return int(action)
    if opponent == "first":
        return legal[0]
    if opponent == "last":
        return legal[-1]
    if opponent == "middle":
        return legal[len(legal) // 2]
    return legal[int(rng.integers(len(legal)))]
