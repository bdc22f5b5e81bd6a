"""Histories as data: across a process or a wire, equal values need not be of one class."""

from collections.abc import Sequence
from typing import Any

from ludus.core import Env
from ludus.testing.history import HistoryEvent

__all__ = ["plain"]


def plain(env: Env[Any, Any], history: Sequence[HistoryEvent]) -> list[HistoryEvent]:
    """A history whose observations are what they would be on the wire."""
    space = env.observation_space
    return [one._replace(observation=space.encode(one.observation, binary=False)) for one in history]
