"""Toy text: small worlds of numbered states, for tables and first algorithms, with the histories everybody knows."""

from ludus.envs.toy_text.blackjack import Blackjack
from ludus.envs.toy_text.cliff_walking import CliffWalking
from ludus.envs.toy_text.frozen_lake import FrozenLake
from ludus.envs.toy_text.frozen_lake_map import generate_random_map
from ludus.envs.toy_text.tabular_env import TabularEnv
from ludus.envs.toy_text.taxi import Taxi

__all__ = ["Blackjack", "CliffWalking", "FrozenLake", "TabularEnv", "Taxi", "generate_random_map"]
