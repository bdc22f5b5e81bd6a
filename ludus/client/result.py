"""`StepResult`: what a reset or a step gave, by name."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ludus.core import Info

__all__ = ["StepResult"]

ObsT = TypeVar("ObsT")


@dataclass
class StepResult(Generic[ObsT]):
    """An observation with its reward, and whether the episode is over; of a reset, the reward is None.

    `terminated` and `truncated` are None where the server tells `done` alone.

    >>> StepResult("a door", reward=1.0, done=True).done
    True
    """

    observation: ObsT
    reward: Any = None
    done: bool = False
    terminated: bool | None = None
    truncated: bool | None = None
    info: Info = field(default_factory=Info)
    metadata: Info | None = None
