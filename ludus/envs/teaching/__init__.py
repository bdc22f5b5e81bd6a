"""Teaching examples: the shortest complete environments, to read and to copy from."""

from ludus.envs.teaching.bandit import Bandit
from ludus.envs.teaching.grid_world import GridWorld

__all__ = ["Bandit", "GridWorld"]
