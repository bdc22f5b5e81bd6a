"""`Outcome`: how an episode ended, beside `terminated` and `truncated`. A fault is never a reward of 0.

One environment tells it as `info["outcome"]` of the last step: an `Outcome`, which is equal to its text. A batch has
one column of codes (int8, 0 where there is none) and the mask `info["_outcome"]` of the lanes that have one.
"""

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ludus.errors import (
    ContractViolation,
    InvalidAction,
    InvalidArgument,
    SandboxError,
    ServiceError,
    WorkerFailure,
    did_you_mean,
    listing,
    shorten,
)
from ludus.spaces.kinds import is_integer

__all__ = ["MASKED", "OUTCOME", "Outcome", "code_column", "read_outcome"]

OUTCOME = "outcome"
"""The key of `info` that tells it."""
MAX_COMPARED_CHARS = 40
"""Longer texts, which a stranger may have sent, are no slips of the pen: nothing is compared with them."""


class Outcome(StrEnum):
    """How an episode ended. The last three are no result of the agent's: statistics and trainers leave them out.

    >>> Outcome.of("time_limit"), Outcome.of("time_limit").masked
    (<Outcome.TIME_LIMIT: 'time_limit'>, False)
    >>> [outcome.value for outcome in Outcome if outcome.masked]
    ['environment_failed', 'infrastructure_failed', 'aborted']
    >>> Outcome.SUCCESS == "success"
    True
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
    def terminates(self) -> bool:
        """Whether it is the task's own end, and not a cut: what `terminated` says of the episode.

        >>> Outcome.FAILURE.terminates, Outcome.BUDGET.terminates
        (True, False)
        """
        return self in TERMINATING

    @property
    def code(self) -> int:
        """Its number, from 1, as compiled rules, batches and files tell it; 0 says nothing. The order is the format's.

        >>> Outcome.SUCCESS.code, Outcome.ABORTED.code
        (1, 9)
        """
        return CODES[self]

    @classmethod
    def of(cls, outcome: object) -> "Outcome":
        """The outcome itself, or by its value, name or code; raises InvalidArgument."""
        if isinstance(outcome, str):
            known = KNOWN.get(outcome)
            if known is not None:
                return known
        elif is_integer(outcome) and not isinstance(outcome, bool) and 0 < outcome <= len(OUTCOMES):
            return OUTCOMES[int(outcome) - 1]
        names = [one.value for one in cls]
        meant = did_you_mean(outcome, names) if isinstance(outcome, str) and len(outcome) <= MAX_COMPARED_CHARS else ""
        raise InvalidArgument(f"outcome: expected one of {listing(names)}, got {shorten(outcome)}{meant}")

    @classmethod
    def told(cls, outcome: object) -> "Outcome | None":
        """What `info["outcome"]` tells; None and the code 0 tell nothing.

        >>> Outcome.told(2), Outcome.told(0)
        (<Outcome.FAILURE: 'failure'>, None)
        """
        is_zero = is_integer(outcome) and not isinstance(outcome, bool) and outcome == 0
        return None if outcome is None or is_zero else cls.of(outcome)

    @classmethod
    def derived(cls, terminated: bool, truncated: bool) -> "Outcome | None":
        """What flags alone say: a truncation is a time limit; whether a termination is a success, they do not say.

        >>> Outcome.derived(False, True), Outcome.derived(True, False)
        (<Outcome.TIME_LIMIT: 'time_limit'>, None)
        """
        return cls.TIME_LIMIT if truncated and not terminated else None

    @classmethod
    def after(cls, error: BaseException) -> "Outcome":
        """What an error that ended an episode says: whether the action, the environment or what runs it is to blame.

        >>> Outcome.after(ZeroDivisionError()), Outcome.after(InvalidAction("7"))
        (<Outcome.ENVIRONMENT_FAILED: 'environment_failed'>, <Outcome.INVALID_ACTION: 'invalid_action'>)
        """
        if isinstance(error, InvalidAction):
            return cls.INVALID_ACTION
        lost = isinstance(error, SandboxError | ServiceError) or (isinstance(error, WorkerFailure) and error.lost)
        return cls.INFRASTRUCTURE_FAILED if lost else cls.ENVIRONMENT_FAILED


OUTCOMES = tuple(Outcome)
CODES = {outcome: code for code, outcome in enumerate(OUTCOMES, 1)}
KNOWN: dict[str, Outcome] = {name: one for one in OUTCOMES for name in (one.value, one.name)}
MASKED = frozenset({Outcome.ENVIRONMENT_FAILED, Outcome.INFRASTRUCTURE_FAILED, Outcome.ABORTED})
"""Outcomes that are no result of the agent's."""
TERMINATING = frozenset({Outcome.SUCCESS, Outcome.FAILURE, Outcome.INVALID_ACTION})


def read_outcome(value: object, where: str = "info['outcome']") -> Outcome | None:
    """What somebody's info tells, None where it tells nothing; ContractViolation for what is no outcome."""
    try:
        return Outcome.told(value)
    except InvalidArgument as error:
        raise ContractViolation(f"{where}: {error}") from error


def code_column(codes: npt.NDArray[np.integer], where: str = "info['outcome']") -> npt.NDArray[np.int8]:
    """A column of codes as batches give it; ContractViolation names the first that is none.

    >>> code_column(np.array([0, 2]))
    array([0, 2], dtype=int8)
    """
    strange = (codes < 0) | (codes > len(OUTCOMES))
    if strange.any():
        lane = int(np.argmax(strange))
        read_outcome(codes[lane].item(), f"lane {lane} {where}")
    return codes.astype(np.int8)
