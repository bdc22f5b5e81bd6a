"""Episodes of a random policy, as the command line plays and counts them."""

from dataclasses import dataclass
from typing import Any

from ludus.core import Env
from ludus.errors import InvalidType

__all__ = ["Episode", "play"]


APART = 1 << 32
"""Between the seeds of environment and policy: with one seed for both, the policy would draw what the other hides."""


@dataclass(frozen=True)
class Episode:
    """One episode; the same environment and seed give an equal one."""

    seed: int
    steps: int
    total: float
    """The sum of its rewards."""
    ended_by: str


def play(env: Env[Any, Any], seed: int, max_steps: int) -> Episode:
    """Play one episode with random actions; the same seed plays the same one."""
    if env.batch_shape:
        raise InvalidType(f"expected one environment, got a batch of {env.batch_shape}")
    env.action_space.seed(seed + APART)
    env.reset(seed=seed)
    total = 0.0
    for steps in range(1, max_steps + 1):
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        total += float(reward)
        if terminated or truncated:
            return Episode(seed, steps, total, "termination" if terminated else "truncation")
    return Episode(seed, max_steps, total, "--max-steps")
