"""What products of a million steps need: lanes whose infos become columns at once, and comparison by bytes.

Law and order of the lanes are the serial executor's; only how it puts together what they gave is written anew, since
that took longer than the rules. A difference is looked for lane by lane once the bytes say that there is one.
"""

from typing import Any

import numpy as np

from ludus.core import Info, Step
from ludus.core.outcome import OUTCOME
from ludus.spaces import Discrete
from ludus.vector import SerialVectorEnv

__all__ = ["ColumnVectorEnv", "legal_actions", "same_bits"]

WHOLE_OR_REAL = "['prob']"
"""The chance of where an episode begins is the integer 1, as Gymnasium has it; a compiled column has floats."""
OF_SOME_LANES = {"final_obs", "final_info", OUTCOME}


class ColumnVectorEnv(SerialVectorEnv):
    """The serial executor, with a column of an info written once for all lanes that have it."""

    def _stepped(self, actions: dict[int, Any]) -> Step[Any]:
        found = [self._lanes[place].step(action) for place, action in actions.items()]
        last, rewards, terminated, truncated, infos = zip(*found, strict=True)
        self._last = list(last)
        flags = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        return Step(self._stacked(), np.array(rewards, np.float64), *flags, self._told(infos))

    def _told(self, infos: tuple[Info, ...]) -> Info:
        told: Info = {}
        shared: set[str] = set()
        for key in infos[0].keys() - OF_SOME_LANES:
            column = _column([info.get(key) for info in infos])
            if column is not None:
                shared.add(key)
                told |= {key: column, f"_{key}": np.ones(self.num_envs, np.bool_)}
        for lane, info in enumerate(infos):
            if len(info) > len(shared):
                self._add_info(told, {key: one for key, one in info.items() if key not in shared}, lane)
        return told


def _column(values: list[Any]) -> Any:
    """Numbers of one type, or arrays of one shape, as a column; None for whatever else."""
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind in (int, float, bool) or issubclass(kind, np.number):
        return np.array(values, kind)
    if kind is np.ndarray and len({(one.dtype, one.shape) for one in values}) == 1:
        return np.array(values)
    return None


def legal_actions(batch: Any, info: Info, rng: np.random.Generator) -> Any:
    """An action of each lane, out of those that its mask allows, each as likely as another."""
    mask, one = info.get("action_mask"), batch.single_action_space
    if mask is None:
        return batch.action_space.sample()
    if not isinstance(one, Discrete):
        return batch.action_space.sample(mask=tuple(mask))
    # A lane that has ended has nothing to choose from, and gets the first.
    return np.argmax(rng.random(mask.shape) * (mask != 0), axis=1).astype(one.dtype) + one.start


def same_bits(found: Any, expected: Any, path: str = "") -> None:
    """Raise AssertionError where two batches differ in a bit, a type or a key; any NaN is any other."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), f"{path}: {sorted(found)} and {sorted(expected)}"
        for key, one in expected.items():
            same_bits(found[key], one, f"{path}[{key!r}]")
    elif isinstance(expected, tuple):
        assert type(found) is type(expected), f"{path}: {type(found)} and {type(expected)}"
        for place, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
            same_bits(mine, theirs, f"{path}[{place}]")
    elif isinstance(expected, np.ndarray | np.generic):
        _same_array(np.asarray(found), np.asarray(expected), path)
    else:
        assert found is expected or (type(found) is type(expected) and found == expected), (path, found, expected)


def _same_array(found: Any, expected: Any, path: str) -> None:
    if path.endswith(WHOLE_OR_REAL):
        expected = expected.astype(np.float64)
    forms = (found.dtype, found.shape), (expected.dtype, expected.shape)
    assert forms[0] == forms[1], f"{path}: {forms[0]} and {forms[1]}"
    if expected.dtype == object:
        for lane, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
            if mine is not theirs:
                same_bits(mine, theirs, f"{path}[{lane}]")
    elif found.tobytes() != expected.tobytes():
        found, expected = np.atleast_1d(found), np.atleast_1d(expected)
        width = f"V{expected.dtype.itemsize}"
        apart = np.ascontiguousarray(found).view(width) != np.ascontiguousarray(expected).view(width)
        if expected.dtype.kind == "f":
            apart &= ~(np.isnan(found) & np.isnan(expected))
        lane = next(iter(np.argwhere(apart)), None)
        assert lane is None, f"{path}{lane}: {found[tuple(lane)]!r} and {expected[tuple(lane)]!r}"
