"""The same environments as `openenv_program.py` has, as a Ludus author writes them."""

from typing import Any, NamedTuple

import numpy as np

import ludus
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete

HEIGHT, WIDTH = 210, 160


class State(NamedTuple):
    """What is counted."""

    total: int


class Params(NamedTuple):
    """Where it begins anew."""

    most: int = 1000


def reset(rng: Any, params: Params) -> State:
    """Begin at nothing."""
    return State(0)


def step(state: State, action: int, rng: Any, params: Params) -> tuple[State, float, bool]:
    """Add what is given."""
    return State((state.total + action) % params.most), 1.0, False


class Count(RuleEnv):
    """Adds up its actions."""

    rules = Rules(State, Params, reset, step, lambda state, params: state.total)
    observation_space, action_space = Discrete(1000), Discrete(2)


class Frame(ludus.Env[Any, int]):
    """Shows the sum of its actions as a screen."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self) -> None:
        self.observation_space = Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
        self.action_space = Discrete(2)
        self.total = 0

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin at nothing."""
        super().reset(seed=seed)
        self.total = 0
        return self._shown(), {}

    def step(self, action: int) -> ludus.Step[Any]:
        """Add what is given."""
        self.total = (self.total + int(action)) % 1000
        return ludus.Step.transition(self._shown(), 1.0)

    def _shown(self) -> Any:
        return np.full((HEIGHT, WIDTH, 3), self.total % 256, np.uint8)
