"""Rules about ownership: what `reset` and `step` return is the caller's, a new object each time."""

from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np

from ludus.testing.equality import arrays, difference
from ludus.testing.history import Interrupted, Player, first_difference
from ludus.testing.report import Finding, error, warning
from ludus.testing.rule import Found
from ludus.testing.subject import Subject

__all__ = ["actions_are_the_callers", "infos_are_the_callers", "observations_are_the_callers"]


def observations_are_the_callers(subject: Subject) -> Found:
    """An observation is a new object: later calls do not change it, and changing it does not change the environment."""
    fix = "return a copy: `return self.state.copy(), …`"
    returned = _returned(subject, "observation")
    changed = _changed(returned, "observation") or _shared(returned, "observation") or _written(subject, "observation")
    if changed:
        yield error(changed, fix)


def infos_are_the_callers(subject: Subject) -> Found:
    """An info is a new dictionary: later calls do not change it, and changing its arrays does not change later ones."""
    returned = _returned(subject, "info")
    changed = _changed(returned, "info")
    if changed:
        yield error(changed, "return a new dictionary each time, with copies of the arrays in it")
        return
    yield from _harmless(_shared(returned, "info") or _written(subject, "info"))


def actions_are_the_callers(subject: Subject) -> Found:
    """An action stays as it was given: a step writes nothing into it."""
    player = Player(subject.env(), 0)
    player.reset(subject.seed)
    player.run(subject.steps)
    if player.written:
        yield error(f"a step wrote into its action: expected it unchanged, got {player.written}", "copy it first")


def _harmless(message: str) -> list[Finding]:
    return [warning(message, "return copies of the arrays in info, or make them read-only")] if message else []


Returned = list[tuple[str, Any, Any]]
"""For each call: which it was, the very object it returned, and what that object held at that time."""


def _returned(subject: Subject, what: str) -> Returned:
    kept: list[tuple[Any, Any]] = []

    def keep(observation: Any, info: Any) -> None:
        one = observation if what == "observation" else info
        kept.append((one, deepcopy(one)))

    events = subject.play(subject.env(), watch=keep)
    return [(event.label, *one) for event, one in zip(events, kept, strict=True)]


def _changed(returned: Returned, what: str) -> str:
    for label, now, then in returned:
        found = difference(then, now, what)
        if found:
            got = f"{found.path} {found.left} when returned, {found.right} later"
            return f"the {what} of {label}: expected it to stay as it was, got {got}"
    return ""


def _shared(returned: Returned, what: str) -> str:
    for (label, earlier, _), (after, later, _) in pairwise(returned):
        before = dict(arrays(earlier, what))
        for path, array in arrays(later, what):
            other = before.get(path)
            if other is not None and array.flags.writeable and np.shares_memory(array, other):
                return f"the {what} of {after}: expected a new array, got {path} in the memory of that of {label}"
    return ""


def _written(subject: Subject, what: str) -> str:
    """What happens when the caller writes into what it got."""

    def write(observation: Any, info: Any) -> None:
        for _, array in arrays(observation if what == "observation" else info):
            if array.flags.writeable and array.dtype.kind in "biuf":
                array[...] = array == 0  # zeros and ones: within most bounds, and always other than before

    env = subject.env()
    expected = subject.play(env)
    try:
        if first_difference(expected, subject.play(env)):
            return ""  # a history that differs by itself tells nothing; another rule says so
        parted = first_difference(expected, subject.play(env, watch=write))
    except Interrupted as failure:
        parted = str(failure)
    return f"writing into the {what} it returned: expected no effect on the environment, got {parted}" if parted else ""
