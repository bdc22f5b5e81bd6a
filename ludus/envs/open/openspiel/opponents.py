"""Opponents: who plays the seats that the agent does not."""

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ludus.envs.open.openspiel.engine import engine
from ludus.envs.open.openspiel.position import Position
from ludus.errors import ContractViolation, EnvError, InvalidArgument, shorten

if TYPE_CHECKING:
    import pyspiel

__all__ = ["MAX_SIMULATIONS", "OPPONENTS", "Opponent", "chosen", "SearchTimeout", "known_opponent", "mcts_move"]

OPPONENTS = ("random", "first", "last", "middle", "mcts", "none")
"""By name; with "none" the agent plays every seat."""
Opponent = str | Callable[[object, np.random.Generator], int]
"""A name, or a policy: of the observation of its seat and a generator, it makes the number of a legal action."""
MAX_SIMULATIONS = 100_000
EXPLORATION = 2.0
MEMORY_MB = 256
SEEDS = 1 << 31
SIMULATIONS_PER_SEARCH = 500
"""Simulations of one search."""
SEARCH_DEADLINE_S = 30.0
"""Seconds of a search."""


class SearchTimeout(EnvError):
    """A search has more simulations to make than its deadline allows."""


def known_opponent(opponent: object, game: "pyspiel.Game", simulations: object) -> Opponent:
    """The opponent, if it can play this game; raises InvalidArgument."""
    if not isinstance(opponent, str) and callable(opponent):
        return cast(Opponent, opponent)
    if not isinstance(opponent, str) or opponent not in OPPONENTS:
        raise InvalidArgument(f"OpenSpiel opponent: expected one of {OPPONENTS} or a policy, got {shorten(opponent)}")
    if opponent == "mcts":
        if type(simulations) is not int or not 1 <= simulations <= MAX_SIMULATIONS:
            raise InvalidArgument(f"OpenSpiel simulations: expected 1 to {MAX_SIMULATIONS}, got {shorten(simulations)}")
        _searchable(game)
    return opponent


def _searchable(game: "pyspiel.Game") -> None:
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
    """What OpenSpiel's tree search finds, its draws seeded from `rng`.

    Simulations bound it, so that a seed is a move; whoever asks for more of them than fit into the deadline gets
    SearchTimeout, and never a move that depends on the clock. Many are several searches whose visits add up: the engine
    cannot be interrupted within one, and nobody else in this process has a turn meanwhile.
    """
    if simulations <= SIMULATIONS_PER_SEARCH:
        return int(_bot(position, rng, simulations).step(position.state))
    until = time.monotonic() + SEARCH_DEADLINE_S
    visits: Counter[int] = Counter()
    for begun in range(0, simulations, SIMULATIONS_PER_SEARCH):
        if time.monotonic() > until:
            raise SearchTimeout(
                f"OpenSpiel opponent 'mcts': expected {simulations} simulations within {SEARCH_DEADLINE_S:g} s, "
                f"got {begun}; ask for fewer"
            )
        root = _bot(position, rng, min(SIMULATIONS_PER_SEARCH, simulations - begun)).mcts_search(position.state)
        visits.update({int(one.action): int(one.explore_count) for one in root.children})
    return max(sorted(visits), key=visits.__getitem__)


def _bot(position: Position, rng: np.random.Generator, simulations: int) -> "pyspiel.MCTSBot":
    spiel = engine()
    rollouts = spiel.RandomRolloutEvaluator(1, int(rng.integers(SEEDS)))
    return spiel.MCTSBot(
        position.game, rollouts, EXPLORATION, simulations, MEMORY_MB, True, int(rng.integers(SEEDS)), False
    )


def chosen(opponent: Opponent, legal: list[int], rng: np.random.Generator, look: Callable[[], object]) -> int:
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
    return legal[int(rng.random() * len(legal))]  # a sixth of the time of `integers`
