"""Episodes of a random policy, as the command line plays and counts them."""

from dataclasses import dataclass

from ludus.core import Outcome
from ludus.core.env import AnyEnv
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.errors import InvalidType
from ludus.spaces.mask import sample_legal

__all__ = ["PlayedEpisode", "play"]


SEED_DISTANCE = 1 << 32
"""Between the seeds of environment and policy: with one seed for both, the policy would draw what the other hides."""


@dataclass(frozen=True)
class PlayedEpisode:
    """One episode; the same environment and seed give an equal one."""

    seed: int
    steps: int
    total: float
    """The sum of its rewards."""
    ended_by: str
    outcome: Outcome | None = None
    """How it went, where the environment says so."""

    @property
    def counts(self) -> bool:
        """Whether it is a result of the policy's, and no failure of what ran it."""
        return self.outcome is None or not self.outcome.masked


def play(env: AnyEnv, seed: int, max_steps: int) -> PlayedEpisode:
    """Play one episode with random actions, legal ones where its infos say which; the same seed plays the same one."""
    if env.batch_shape:
        raise InvalidType(f"expected one environment, got a batch of {env.batch_shape}")
    env.action_space.seed(seed + SEED_DISTANCE)
    _, info = env.reset(seed=seed)
    total = 0.0
    for steps in range(1, max_steps + 1):
        _, reward, terminated, truncated, info = env.step(sample_legal(env.action_space, info.get("action_mask")))
        total += float(reward)
        if terminated or truncated:
            outcome = read_outcome(info.get(OUTCOME))
            return PlayedEpisode(seed, steps, total, "termination" if terminated else "truncation", outcome)
    return PlayedEpisode(seed, max_steps, total, "--max-steps")
