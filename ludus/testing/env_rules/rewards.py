"""Rules about rewards: one finite number a step."""

import numpy as np

from ludus.errors import shorten
from ludus.spaces.kinds import is_array
from ludus.testing.history import HistoryEvent
from ludus.testing.report import error
from ludus.testing.rule import Found
from ludus.testing.subject import Subject

__all__ = ["rewards_are_finite", "rewards_are_numbers"]


def rewards_are_numbers(subject: Subject) -> Found:
    """A reward is an int or float, or for a batch a float array with one for each lane."""
    shape = subject.env().batch_shape
    for event in _steps(subject):
        if not _is_reward(event.reward, shape):
            expected = f"a float array of shape {shape}" if shape else "an int or float"
            got = f"{shorten(event.reward)} ({type(event.reward).__name__})"
            message = f"{event.label} reward: expected {expected}, got {got}"
            yield error(message, "return `float(reward)`" if not shape else "return one float for each lane")
            return


def rewards_are_finite(subject: Subject) -> Found:
    """A reward is neither NaN nor infinite."""
    for event in _steps(subject):
        values = np.asarray(event.reward)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            message = f"{event.label} reward: expected a finite number, got {shorten(event.reward)}"
            yield error(message, "look for a division by zero or a logarithm of zero in the reward, and bound it")
            return


def _steps(subject: Subject) -> list[HistoryEvent]:
    return [event for event in subject.history if not event.label.startswith("reset")]


def _is_reward(reward: object, shape: tuple[int, ...]) -> bool:
    if not shape:
        return isinstance(reward, int | float | np.integer | np.floating) and not isinstance(reward, bool | np.bool_)
    return is_array(reward) and reward.dtype.kind == "f" and reward.shape == shape
