"""`TaskScore`: what a grading found, and whether what a grader said can be one."""

import math
from typing import SupportsFloat, SupportsIndex

import msgspec

from ludus.core import Info
from ludus.errors import listing, shorten
from ludus.spaces.kinds import is_dict
from ludus.tasks.spec import EvaluationSpec

__all__ = ["TaskScore", "scored"]

MAX_METRIC = 1e12
"""Beyond this a metric is a mistake or an attack, not a score."""
MAX_METRICS = 64


class TaskScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score, or the reason why there is none.

    >>> TaskScore(split="test", value=0.9, metrics={"r2": 0.9}, normalised=1.0).failed
    False
    """

    split: str
    value: float | None = None
    """Of the metric that counts; None where the submission failed."""
    metrics: dict[str, float] = {}
    normalised: float = 0.0
    """0 at the floor, 1 at the reference."""
    reached: bool = False
    """Whether it is at the threshold or beyond."""
    reason: str = ""
    """Why there is none."""
    grader_failed: bool = False
    """Whether the grader gave no score and did not reject either: a fault of the task, or a submission that made it."""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there is no score."""
        return self.value is None

    def unmeasured(self, evaluation: EvaluationSpec) -> Info:
        """All of it that is the same for the same seed, as plain data: no time, and no metric that is a measurement.

        >>> evaluation = EvaluationSpec(metric="accuracy", measured=("watts",))
        >>> TaskScore(split="test", metrics={"accuracy": 0.9, "watts": 31.2}).unmeasured(evaluation)["metrics"]
        {'accuracy': 0.9}
        """
        fields: Info = msgspec.to_builtins(self)
        del fields["seconds"]
        fields["metrics"] = {name: one for name, one in self.metrics.items() if name not in evaluation.measured}
        return fields


def scored(evaluation: EvaluationSpec, split: str, given: object, seconds: float = 0.0) -> TaskScore:
    """The score in what a grader said: finite numbers by name, the task's metric among them.

    >>> scored(EvaluationSpec(metric="accuracy"), "test", {"accuracy": "nan"}).reason
    'accuracy: expected a finite number, got nan'
    """
    metrics: dict[str, float] = {}
    if not is_dict(given) or len(given) > MAX_METRICS:
        return _fault(split, f"expected metrics by name, got {shorten(given)}", seconds)
    for name, text in given.items():
        try:
            value = float(text) if isinstance(text, str | bytes | SupportsFloat | SupportsIndex) else math.nan
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value) or abs(value) > MAX_METRIC:
            return _fault(split, f"{name}: expected a finite number, got {shorten(text)[1:-1]}", seconds)
        metrics[str(name)] = value
    if evaluation.metric not in metrics:
        got = listing(metrics) or "none"
        return _fault(split, f"grader: expected the metric {evaluation.metric}, got {got}", seconds)
    value = metrics[evaluation.metric]
    return TaskScore(
        split=split,
        value=value,
        metrics=metrics,
        normalised=evaluation.normalised(value),
        reached=evaluation.reached(value),
        seconds=seconds,
    )


def _fault(split: str, reason: str, seconds: float) -> TaskScore:
    return TaskScore(split=split, reason=reason, grader_failed=True, seconds=seconds)
