"""`Budget`: what an episode may still use: steps, time, validations, forfeits."""

import math
import time
from typing import Annotated

import msgspec

from ludus.core import Outcome
from ludus.tasks.spec import TaskSpec

__all__ = ["Budget"]

FEW_SECONDS = 120
Count = Annotated[int, msgspec.Meta(ge=0)]


class Budget(msgspec.Struct, kw_only=True):
    """Counts what is used; the clock runs from `began`, with what earlier sittings of the episode took.

    >>> from ludus.tasks.spec import EvaluationSpec
    >>> spec = TaskSpec(id="Guess", name="", description="", evaluation=EvaluationSpec(metric="accuracy"), max_steps=2)
    >>> budget = Budget.of(spec)
    >>> budget.steps += 2
    >>> budget.exhausted()
    <Outcome.TIME_LIMIT: 'time_limit'>
    """

    max_steps: int
    total_seconds: float
    max_validations: int
    max_forfeits: int
    steps: Count = 0
    validations: Count = 0
    forfeits: Count = 0
    """In a row."""
    commands: Count = 0
    output_bytes: Count = 0
    """Of all commands, before anything was cut."""
    spent_before: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    began: float = 0.0

    @classmethod
    def of(cls, spec: TaskSpec) -> "Budget":
        """That of a task, whole."""
        return cls(
            max_steps=spec.max_steps,
            total_seconds=spec.timeouts_known.of("total"),
            max_validations=spec.evaluation.validations,
            max_forfeits=spec.forfeits,
            began=time.monotonic(),
        )

    def taken_up(self, spec: TaskSpec) -> "Budget":
        """What was used of it, of all that the task gives: the journal of a run may be a stranger's, its task is not.

        >>> from ludus.tasks.spec import EvaluationSpec
        >>> spec = TaskSpec(id="Guess", name="", description="", evaluation=EvaluationSpec(metric="accuracy"))
        >>> used = Budget(max_steps=10**6, total_seconds=1e9, max_validations=10**6, max_forfeits=10**6, steps=3)
        >>> budget = used.taken_up(spec)
        >>> budget.max_steps, budget.max_validations, budget.steps
        (50, 10, 3)
        """
        whole = Budget.of(spec)
        limits = ("max_steps", "total_seconds", "max_validations", "max_forfeits", "began")
        return msgspec.structs.replace(self, **{name: getattr(whole, name) for name in limits})

    @property
    def seconds(self) -> float:
        """Used so far."""
        return self.spent_before + time.monotonic() - self.began

    @property
    def seconds_left(self) -> float:
        """Until the episode is cut."""
        return max(0.0, self.total_seconds - self.seconds)

    def exhausted(self) -> Outcome | None:
        """How the episode ends if nothing else ends it; None while there is something left."""
        if self.forfeits >= self.max_forfeits:
            return Outcome.BUDGET
        return Outcome.TIME_LIMIT if self.steps >= self.max_steps or not self.seconds_left else None

    def pause(self) -> None:
        """Keep the time so far, for an episode that is taken up again elsewhere."""
        self.spent_before, self.began = self.seconds, time.monotonic()

    def used(self) -> dict[str, int]:
        """What was counted so far, as plain data."""
        return {"steps": self.steps, "commands": self.commands, "output_bytes": self.output_bytes}

    def left(self) -> dict[str, int]:
        """What is left of all that is counted, as plain data."""
        return {
            "steps": self.max_steps - self.steps,
            "validations": self.max_validations - self.validations,
            "forfeits": self.max_forfeits - self.forfeits,
        }

    def text(self) -> str:
        """What is left, in words."""
        return (
            f"steps: {self.max_steps - self.steps} of {self.max_steps} left\n"
            f"time: {_spoken(self.seconds_left)} of {_spoken(self.total_seconds)} left\n"
            f"validations: {self.max_validations - self.validations} of {self.max_validations} left"
        )


def _spoken(seconds: float) -> str:
    """A time as an agent needs it: begun minutes, and seconds where they become few.

    >>> _spoken(1799.2), _spoken(61.5)
    ('30 minutes', '62 seconds')
    """
    whole = math.ceil(seconds)
    return f"{whole} seconds" if whole <= FEW_SECONDS else f"{math.ceil(whole / 60)} minutes"
