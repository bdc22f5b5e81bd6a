"""`Environment`: what the guide's environments derive from."""

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Environment"]


class Environment(ABC):
    """Three things to define: `reset`, `step` and the property `state`.

    >>> Environment.SUPPORTS_CONCURRENT_SESSIONS
    True
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    """Each session has an instance of its own."""

    def __init__(self, transform: Any = None) -> None:
        self.transform = transform

    @abstractmethod
    def reset(self) -> Any:
        """Begin an episode; its first observation."""

    @abstractmethod
    def step(self, action: Any) -> Any:
        """Carry out an action; the observation that follows."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """What is shown of the episode."""

    def close(self) -> None:  # noqa: B027  (most have nothing to release)
        """Release what it holds."""

    def _apply_transform(self, observation: Any) -> Any:
        return observation if self.transform is None else self.transform(observation)
