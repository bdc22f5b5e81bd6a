"""`Action`, `Observation` and `State`: the dataclasses that the guide's models derive from."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Action", "Observation", "State"]


@dataclass(kw_only=True)
class Action:
    """What an agent does.

    >>> Action().metadata
    {}
    """

    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(kw_only=True)
class Observation:
    """What an agent sees; `done` and `reward` travel beside it.

    >>> Observation(reward=1.0).done
    False
    """

    done: bool = False
    reward: bool | int | float | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(kw_only=True)
class State:
    """What is shown of an episode.

    >>> State().step_count
    0
    """

    episode_id: str | None = None
    step_count: int = 0
