"""Bandit: pull one of several arms; each pays with a chance of its own."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.teaching.bandit_picture import bandit_picture
from ludus.kernels import RuleEnv, Rules
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Discrete

__all__ = ["Bandit"]


class State(NamedTuple):
    """The chance, or the mean pay, of every arm."""

    chances: NDArray[np.float64]


class Params(NamedTuple):
    """How many arms there are, and how they pay."""

    arms: int = 10
    gaussian: bool = False


def reset(rng: np.random.Generator, params: Params) -> State:
    """Draw the chances, or the means, of all arms."""
    chances = np.zeros(params.arms)
    for arm in range(params.arms):
        chances[arm] = rng.standard_normal() if params.gaussian else rng.random()
    return State(chances)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, float, bool]:
    """Pull an arm, which ends the episode."""
    chance: float = state.chances[action]
    if params.gaussian:
        return state, float(rng.normal(chance)), True
    return state, 1.0 if rng.random() < chance else 0.0, True


def observe(state: State, params: Params) -> int:
    """There is nothing to see."""
    return 0


class Bandit(Drawn, RuleEnv):
    """One pull of one of `arms` arms. Each reset draws every arm's chance of paying 1.

    With `gaussian=True` it draws every arm's mean pay instead, and a pull pays that, give or take a standard deviation.

    >>> env = Bandit(arms=3)
    >>> _ = env.reset(seed=1)
    >>> env.step(1).reward
    1.0
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = Drawn.metadata | {"render_fps": 2}

    def __init__(self, arms: int = 10, gaussian: bool = False, render_mode: str | None = None) -> None:
        self.observation_space = Discrete(1)
        self.action_space = Discrete(arms)
        super().__init__(render_mode=render_mode, arms=arms, gaussian=gaussian)

    @property
    def chances(self) -> NDArray[np.float64]:
        """The chance, or the mean pay, of every arm."""
        return self._state.chances

    def draw(self) -> Canvas:
        """Every arm, filled as high as its chance; a mean from -3 to 3 fills it likewise."""
        chances = [float(one) for one in self.chances]
        levels = [min(max((one + 3) / 6, 0.0), 1.0) for one in chances] if self.params.gaussian else chances
        return bandit_picture(levels, [f"{one:.2f}" for one in chances], self.last_action)
