"""`Outcome`: how an episode ended, beside `terminated` and `truncated`. A fault is never a reward of 0."""

from enum import Enum
from typing import Any

import numpy as np

from ludus.errors import InvalidArgument, did_you_mean, listing, shorten

__all__ = ["MASKED", "Outcome"]


class Outcome(Enum):
    """How an episode ended. The last three are no result of the agent's: statistics and trainers leave them out.

    >>> Outcome.of("time_limit"), Outcome.of("time_limit").masked
    (<Outcome.TIME_LIMIT: 'time_limit'>, False)
    >>> [outcome.value for outcome in Outcome if outcome.masked]
    ['environment_failed', 'infrastructure_failed', 'aborted']
    """

    SUCCESS = "success"
    """The task was done."""
    FAILURE = "failure"
    """The task ended undone."""
    TIME_LIMIT = "time_limit"
    """The episode was cut after so many steps, or so much time."""
    BUDGET = "budget"
    """The agent used up its tokens, money or calls."""
    INVALID_ACTION = "invalid_action"
    """The agent did what the environment does not take."""
    AGENT_FAILED = "agent_failed"
    """The agent raised, or gave no answer."""
    ENVIRONMENT_FAILED = "environment_failed"
    """The environment raised, or broke its contract."""
    INFRASTRUCTURE_FAILED = "infrastructure_failed"
    """A process, container, connection or disk failed."""
    ABORTED = "aborted"
    """Somebody stopped it: a reset before the end, or the end of the recording."""

    @property
    def masked(self) -> bool:
        """Whether the episode says nothing of the agent."""
        return self in MASKED

    @property
    def code(self) -> int:
        """Its number, from 1, as compiled rules and files tell it; 0 says nothing. The order is part of the format.

        >>> Outcome.SUCCESS.code, Outcome.ABORTED.code
        (1, 9)
        """
        return list(Outcome).index(self) + 1

    @classmethod
    def of(cls, outcome: Any) -> "Outcome":
        """The outcome itself, or by its value, name or code; raises InvalidArgument."""
        for code, known in enumerate(cls, 1):
            if outcome is known or (isinstance(outcome, str) and outcome in (known.value, known.name)):
                return known
            if isinstance(outcome, int | np.integer) and not isinstance(outcome, bool) and outcome == code:
                return known
        names = [one.value for one in cls]
        meant = did_you_mean(outcome, names) if isinstance(outcome, str) else ""
        raise InvalidArgument(f"outcome: expected one of {listing(names)}, got {shorten(outcome)}{meant}")

    @classmethod
    def told(cls, outcome: Any) -> "Outcome | None":
        """What `info["outcome"]` tells; None and the code 0 tell nothing.

        >>> Outcome.told(2), Outcome.told(0)
        (<Outcome.FAILURE: 'failure'>, None)
        """
        is_zero = isinstance(outcome, int | np.integer) and not isinstance(outcome, bool) and outcome == 0
        return None if outcome is None or is_zero else cls.of(outcome)

    @classmethod
    def derived(cls, terminated: bool, truncated: bool) -> "Outcome | None":
        """What flags alone say: a truncation is a time limit; whether a termination is a success, they do not say.

        >>> Outcome.derived(False, True), Outcome.derived(True, False)
        (<Outcome.TIME_LIMIT: 'time_limit'>, None)
        """
        return cls.TIME_LIMIT if truncated and not terminated else None


MASKED = frozenset({Outcome.ENVIRONMENT_FAILED, Outcome.INFRASTRUCTURE_FAILED, Outcome.ABORTED})
"""Outcomes that are no result of the agent's."""
