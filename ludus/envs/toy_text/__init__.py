"""Toy text: small worlds of numbered states, for tables and first algorithms, with the histories everybody knows."""

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded when used: whoever makes one of them needs none of the others.
if TYPE_CHECKING:
    from ludus.envs.toy_text.blackjack import Blackjack
    from ludus.envs.toy_text.cliff_walking import CliffWalking
    from ludus.envs.toy_text.frozen_lake import FrozenLake
    from ludus.envs.toy_text.frozen_lake_map import generate_random_map
    from ludus.envs.toy_text.tabular_env import TabularEnv
    from ludus.envs.toy_text.taxi import Taxi

__all__ = ["Blackjack", "CliffWalking", "FrozenLake", "TabularEnv", "Taxi", "generate_random_map"]

_HOME = {
    "Blackjack": "blackjack",
    "CliffWalking": "cliff_walking",
    "FrozenLake": "frozen_lake",
    "TabularEnv": "tabular_env",
    "Taxi": "taxi",
    "generate_random_map": "frozen_lake_map",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
