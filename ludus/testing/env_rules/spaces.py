"""Rules about spaces: that there are two, that they stay as they are, and that observations keep to theirs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ludus.spaces import Box, Dict, Space, Tuple, Violation, dumps, loads
from ludus.testing.equality import arrays, parts
from ludus.testing.history import HistoryEvent
from ludus.testing.report import Finding, error, warning
from ludus.testing.rule import Found
from ludus.testing.subject import Subject
from ludus.tools import Calls

__all__ = [
    "boxes_make_sense",
    "observations_have_the_dtype",
    "observations_in_space",
    "spaces_are_spaces",
    "spaces_stay_equal",
]

NAMES = ("observation_space", "action_space")


def spaces_are_spaces(subject: Subject) -> Found:
    """`observation_space` and `action_space` are Ludus spaces from the start."""
    env = subject.env()
    for name in NAMES:
        space: object = getattr(env, name, None)
        if not isinstance(space, Space):
            got = "none" if space is None else f"{type(space).__module__}.{type(space).__name__}"
            yield error(
                f"{name}: expected a ludus Space, got {got}",
                f"set `self.{name}` in __init__ to a space of ludus.spaces",
            )


def spaces_stay_equal(subject: Subject) -> Found:
    """The spaces are the same before and after `reset`, and in every instance."""
    env = subject.fresh()
    before = {name: getattr(env, name) for name in NAMES}
    subject.play(env, steps=1)
    other = subject.fresh()
    for name, space in before.items():
        for where, found in (("after reset", getattr(env, name)), ("in another instance", getattr(other, name))):
            if found != space:
                yield error(
                    f"{name} {where}: expected {space!r} as before, got {found!r}",
                    f"fix `{name}` in __init__, from its arguments alone",
                )
                break


def observations_in_space(subject: Subject) -> Found:
    """Every observation of `reset` and `step` is in `observation_space`."""
    space = subject.env().observation_space
    wrong = [event for event in subject.history if not space.contains(event.observation)]
    if wrong:
        yield _outside(space, wrong[0], len(wrong), len(subject.history))


def _outside(space: Space[object], event: HistoryEvent, count: int, total: int) -> Finding:
    violations = space.validate(event.observation, "observation")
    found = violations[0] if violations else Violation("observation", repr(space), "a value that contains() refuses")
    more = f" ({count} of {total} observations are outside)" if count > 1 else ""
    return error(f"{event.label} {found}{more}", _remedy(found))


def _remedy(found: Violation) -> str:
    if found.expected.startswith("dtype "):
        dtype = found.expected.split()[1]
        return f"cast it: `{found.path}.astype(np.{dtype})`, or give the space the dtype {found.got.split()[-1]}"
    if found.expected.startswith("shape "):
        return f"return an array of {found.expected}, or give the space the {found.got}"
    if " to " in found.expected:
        return "widen the bounds of observation_space, or clip the observation to them"
    return "return what observation_space promises, or change observation_space"


def observations_have_the_dtype(subject: Subject) -> Found:
    """An array in an observation has the very dtype its space has, so that batches and the wire need not cast it."""
    space = subject.env().observation_space
    for event in subject.history:
        if space.contains(event.observation):
            found = _cast(space, event)
            if found is not None:
                yield found
                return


def _cast(space: Space[object], event: HistoryEvent) -> Finding | None:
    canonical = loads(space, dumps(space, event.observation, format="msgpack"), format="msgpack")
    for path, array in arrays(canonical):
        value = _at(event.observation, path)
        dtype = getattr(value, "dtype", None)
        if dtype != array.dtype and array.ndim:
            got = f"a {type(value).__name__}" if dtype is None else f"dtype {dtype}"
            message = f"{event.label} observation{path}: expected an array of dtype {array.dtype}, got {got}"
            return warning(
                message, f"return `np.asarray(observation{path}, dtype=np.{array.dtype})`, or change the space's dtype"
            )
    return None


def _at(value: object, path: str) -> object:
    """The part of `value` that `path` leads to, or None."""
    if not path:
        return value
    for name, one in (parts(value) or {}).items():
        rest = path.removeprefix(name)
        if rest != path and (not rest or rest[0] in "[."):
            return _at(one, rest)
    return None


def boxes_make_sense(subject: Subject) -> Found:
    """Boxes have room between their bounds, actions have finite ones, and pictures are uint8."""
    env = subject.env()
    for path, box in _boxes(env.observation_space, "observation_space"):
        yield from _degenerate(path, box)
        yield from _picture(path, box)
    for path, box in _boxes(env.action_space, "action_space"):
        yield from _degenerate(path, box)
        if not box.is_bounded() and not isinstance(env.action_space, Calls):  # a tool refuses what it cannot do
            message = f"{path}: expected finite bounds, got {box!r}, whose samples are not uniform"
            yield warning(message, "bound the actions, to -1 and 1 for example, and scale them in step")


def _boxes(space: Space[Any], path: str) -> Iterator[tuple[str, Box]]:
    if isinstance(space, Box):
        yield path, space
    elif isinstance(space, Dict):
        for key, one in space.spaces.items():
            yield from _boxes(one, f"{path}[{key!r}]")
    elif isinstance(space, Tuple):
        for place, one in enumerate(space.spaces):
            yield from _boxes(one, f"{path}[{place}]")
    else:
        for one in space.subspaces:
            yield from _boxes(one, path)


def _degenerate(path: str, box: Box) -> Found:
    if box.low.size and np.array_equal(box.low, box.high):
        yield warning(
            f"{path}: expected low < high somewhere, got {box!r}, which has a single value",
            "set the bounds that values really have",
        )


def _picture(path: str, box: Box) -> Found:
    looks = len(box.shape) == 3 and (box.shape[-1] in (1, 3, 4) or box.shape[0] in (1, 3, 4)) and box.is_bounded()
    if looks and box.dtype != np.uint8 and (box.low == 0).all() and (box.high == 255).all():
        yield warning(
            f"{path}: expected dtype uint8 for a picture of 0 to 255, got {box.dtype}",
            "use dtype=np.uint8: a quarter of the memory",
        )
