"""Bandit: pull one of several arms; each pays with a chance of its own."""

from typing import Any

from ludus.core import Env, Step
from ludus.errors import InvalidAction
from ludus.seeding import Seed
from ludus.spaces import Discrete

__all__ = ["Bandit"]


class Bandit(Env[Any, int]):
    """One pull of one of `arms` arms. Each reset draws every arm's chance of paying 1.

    With `gaussian=True` it draws every arm's mean pay instead, and a pull pays that, give or take a standard deviation.

    >>> env = Bandit(arms=3)
    >>> _ = env.reset(seed=1)
    >>> env.step(1).reward
    1.0
    """

    def __init__(self, arms: int = 10, gaussian: bool = False) -> None:
        self.arms = arms
        self.gaussian = gaussian
        self.observation_space = Discrete(1)
        self.action_space = Discrete(arms)

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Draw the chances, or the means, of all arms."""
        super().reset(seed=seed)
        draw = self.np_random.standard_normal if self.gaussian else self.np_random.random
        self.chances = draw(self.arms)
        return 0, {}

    def step(self, action: int) -> Step[Any]:
        """Pull an arm, which ends the episode."""
        self.action_space.check(action, "action", InvalidAction)
        chance = self.chances[action]
        if self.gaussian:
            return Step.termination(0, float(self.np_random.normal(chance)))
        return Step.termination(0, float(self.np_random.random() < chance))
