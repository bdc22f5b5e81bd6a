"""ReasoningGym: the hundred generators of reasoning-gym, each with its own verifier, as questions with one answer."""

from ludus.envs.open.reasoning_gym.reasoning_gym import (
    ReasoningGym,
    ReasoningGymAction,
    ReasoningGymObservation,
    ReasoningGymState,
)

__all__ = ["ReasoningGym", "ReasoningGymAction", "ReasoningGymObservation", "ReasoningGymState"]
