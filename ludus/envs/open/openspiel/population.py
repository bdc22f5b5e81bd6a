"""Populations of mean-field games: how players who all follow one rule are spread, step by step."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ludus.envs.open.openspiel.engine import load

if TYPE_CHECKING:
    import pyspiel

__all__ = ["RULES", "spread_of"]

Layer = dict[str, tuple["pyspiel.State", float]]
"""States of one moment by their text, with how much of the population is in each."""


def _evenly(legal: list[int]) -> list[tuple[int, float]]:
    return [(one, 1.0 / len(legal)) for one in legal]


RULES: dict[str, Callable[[list[int]], list[tuple[int, float]]]] = {
    "random": _evenly,
    "first": lambda legal: [(legal[0], 1.0)],
    "last": lambda legal: [(legal[-1], 1.0)],
    "middle": lambda legal: [(legal[len(legal) // 2], 1.0)],
}
"""What one of the population does, by name, among the legal actions."""


def spread_of(name: str, parameters: dict[str, object], rule: str, support: list[str]) -> list[float]:
    """How much of the population is in each state of a support."""
    if not support:
        return []
    table = _table(name, tuple(sorted(parameters.items())), rule)
    spread = [table.get(one, 0.0) for one in support]
    total = sum(spread)
    return [one / total for one in spread] if total > 0 else [1.0 / len(support)] * len(support)


@lru_cache(maxsize=32)
def _table(name: str, parameters: tuple[tuple[str, object], ...], rule: str) -> dict[str, float]:
    """Layer by layer from the beginning: the share of the population in every state that it can be in."""
    game = load(name, dict(parameters))
    found: dict[str, float] = {}
    state = game.new_initial_state()
    layer: Layer = {str(state): (state, 1.0)}
    while layer:
        found |= {text: share for text, (_, share) in layer.items()}
        layer = _next_layer(layer, rule)
    return found


def _next_layer(layer: Layer, rule: str) -> Layer:
    after: Layer = {}
    shares = {text: share for text, (_, share) in layer.items()}
    for state, share in layer.values():
        for child, chance in _children(state, rule, shares):
            text = str(child)
            known = after.get(text)
            after[text] = (child, share * chance + (known[1] if known else 0.0))
    return after


def _children(state: "pyspiel.State", rule: str, shares: dict[str, float]) -> "list[tuple[pyspiel.State, float]]":
    if state.is_terminal():
        return []
    if state.is_mean_field_node():
        child = state.clone()
        child.update_distribution([shares.get(one, 0.0) for one in state.distribution_support()])
        return [(child, 1.0)]
    moves = state.chance_outcomes() if state.is_chance_node() else RULES[rule](state.legal_actions())
    return [(state.child(move), chance) for move, chance in moves if chance > 0]
