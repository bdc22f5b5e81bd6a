"""Environments as somebody writes them who has never seen ours: his own types, his own module, nothing set.

From this folder, `ludus serve mine:Count mine:Frame` serves them. `theirs.py` has the same for OpenEnv.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import ludus
from ludus.spaces import Box, Discrete, Record


@dataclass
class Move:
    """How much to add, and what to say of it."""

    amount: int
    note: str


@dataclass
class Seen:
    """The sum, and what was said last."""

    total: int
    note: str


class Count(ludus.Env[Seen, Move]):
    """Adds up what it is given."""

    def __init__(self) -> None:
        self.action_space, self.observation_space = Record(Move), Record(Seen)
        self.total = 0

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin at nothing."""
        super().reset(seed=seed)
        self.total = 0
        return Seen(0, ""), {}

    def step(self, action: Move) -> ludus.Step[Seen]:
        """Add what is given."""
        self.total = (self.total + action.amount) % 1000
        return ludus.Step.transition(Seen(self.total, action.note), 1.0)


class Frame(ludus.Env[Any, int]):
    """Shows the sum of its actions as a screen."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Box(0, 255, (210, 160, 3), np.uint8), Discrete(2)
        self.total = 0

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin at nothing."""
        super().reset(seed=seed)
        self.total = 0
        return self._screen(), {}

    def step(self, action: int) -> ludus.Step[Any]:
        """Add what is given."""
        self.total = (self.total + int(action)) % 1000
        return ludus.Step.transition(self._screen(), 1.0)

    def _screen(self) -> Any:
        return np.full((210, 160, 3), self.total % 256, np.uint8)
