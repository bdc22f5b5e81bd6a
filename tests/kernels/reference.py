"""Single environments as the reference of compiled batches, in every autoreset mode at once, and comparison by bytes.

Interpreting the rules is nearly all that a million steps cost, and a lane's history is the same whichever mode begins
its episodes. So lanes are stepped once: batches that begin in the same step, or by a reset of those that ended, go
along with them; one that begins with the next step is behind by a step for each episode, and gets what it has coming.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ludus.core import AutoresetMode, Info, Step
from ludus.core.outcome import OUTCOME
from ludus.spaces import Discrete
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit

__all__ = ["Reference", "Seen", "legal_actions", "same_bits"]

WHOLE_OR_REAL = "['prob']"
"""The chance of where an episode begins is the integer 1, as Gymnasium has it; a compiled column has floats."""
OF_SOME_LANES = {"final_obs", "final_info", OUTCOME}
Begun = tuple[Any, Info]


class Seen(NamedTuple):
    """A step of one lane, and how the next episode began if that was the last."""

    action: Any
    step: Step[Any]
    begun: Begun | None

    def expected(self, mode: AutoresetMode) -> tuple[Any, ...]:
        """What a batch of that mode tells of the lane."""
        if self.begun is None or mode is not AutoresetMode.SAME_STEP:
            return tuple(self.step)
        observation, reward, terminated, truncated, info = self.step
        ends = {"final_obs": observation, "final_info": info}
        return self.begun[0], reward, terminated, truncated, ends | self.begun[1]


class Reference:
    """Environments of one class, stepped one after another by the interpreter."""

    def __init__(self, kind: Any, lanes: int, limit: int) -> None:
        self._serial = SerialVectorEnv([lambda: TimeLimit(kind(), limit)] * lanes)
        self._late: list[deque[Seen]] = [deque() for _ in range(lanes)]
        self._beginning: list[Begun | None] = [None] * lanes

    def reset(self, seed: int) -> Begun:
        """Begin everywhere; what a batch tells of it."""
        return self.begun([env.reset(seed=seed + lane) for lane, env in enumerate(self._serial.envs)])

    def advance(self, actions: Any) -> list[Seen]:
        """Step every lane, and begin again where that ends an episode."""
        found: list[Seen] = []
        for env, action in zip(self._serial.envs, self._serial.action_space.iterate(actions), strict=True):
            step: Any = env.step(action)
            found.append(Seen(action, step, env.reset() if step[2] or step[3] else None))
        return found

    def begun(self, lanes: list[Begun | None], before: list[Any] | None = None) -> Begun:
        """What a batch tells of a reset of some lanes; the others are where they were `before`."""
        seen = [before[place] if one is None else one[0] for place, one in enumerate(lanes)]
        return self._stacked(seen), self._told([{} if one is None else one[1] for one in lanes])

    def told(self, outcomes: list[tuple[Any, ...]]) -> Step[Any]:
        """What a batch tells of a step whose lanes gave these."""
        seen, rewards, terminated, truncated, infos = zip(*outcomes, strict=True)
        flags = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        return Step(self._stacked(seen), np.array(rewards, np.float64), *flags, self._told(infos))

    def behind(self, newest: list[Seen]) -> tuple[Any, Step[Any]]:
        """Actions and step of a batch that begins episodes with the next step: what each lane has coming first."""
        actions, outcomes = list[Any](), list[Any]()
        for lane, (late, one) in enumerate(zip(self._late, newest, strict=True)):
            late.append(one)
            begun = self._beginning[lane]
            if begun is None:
                due = late.popleft()
                actions.append(due.action)
                outcomes.append(due.expected(AutoresetMode.NEXT_STEP))
                self._beginning[lane] = due.begun
            else:
                actions.append(one.action)  # which is ignored
                outcomes.append((begun[0], 0.0, False, False, begun[1]))
                self._beginning[lane] = None
        space = self._serial.single_action_space
        return space.concatenate(actions, space.empty(len(actions))), self.told(outcomes)

    def _stacked(self, seen: Any) -> Any:
        space = self._serial.single_observation_space
        return space.concatenate(list(seen), space.empty(len(seen)))

    def _told(self, infos: Any) -> Info:
        """The infos of all lanes in one: numbers and arrays a key at a time, which is several times as quick."""
        told: Info = {}
        alike: set[str] = set()
        for key in {key for info in infos for key in info} - OF_SOME_LANES:
            mask = np.array([key in info for info in infos])
            column = _column([info[key] for info in infos if key in info], mask)
            if column is not None:
                alike.add(key)
                told |= {key: column, f"_{key}": mask}
        for lane, info in enumerate(infos):
            if info.keys() - alike:
                self._serial._add_info(told, {key: one for key, one in info.items() if key not in alike}, lane)
        return told


def _column(values: list[Any], mask: Any) -> Any:
    """Numbers of one type, or arrays of one shape, as the column of these lanes; None for whatever else."""
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is np.ndarray:
        if len({(one.dtype, one.shape) for one in values}) != 1:
            return None
        given = np.array(values)
    elif kind in (int, float, bool) or issubclass(kind, np.number):
        given = np.array(values, kind)
    else:
        return None
    if len(values) == len(mask):
        return given
    column = np.zeros((len(mask), *given.shape[1:]), given.dtype)
    column[mask] = given
    return column


def legal_actions(batch: Any, info: Info, rng: np.random.Generator) -> Any:
    """An action of each lane, out of those that its mask allows, each as likely as another."""
    mask, one = info.get("action_mask"), batch.single_action_space
    if mask is None:
        return batch.action_space.sample()
    if not isinstance(one, Discrete):
        return batch.action_space.sample(mask=tuple(mask))
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
