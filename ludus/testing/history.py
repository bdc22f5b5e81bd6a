"""Histories: an environment played with actions that depend on a seed alone, and everything it gave, copied at once."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Info, VectorEnv
from ludus.core.env import AnyEnv
from ludus.errors import ContractViolation, shorten
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.kinds import is_dict, is_list_or_tuple, is_tuple
from ludus.spaces.mask import sample_legal
from ludus.testing.equality import difference
from ludus.testing.global_random import global_random
from ludus.testing.rule import raised

__all__ = ["HistoryEvent", "Interrupted", "Player", "as_step", "first_difference", "plain_history", "play", "played"]

Watch = Callable[[object, Info], None]
"""Called with the observation and info just returned, before anything else happens."""


class Interrupted(Exception):
    """A call of the environment raised; the message says which call, and what."""


class HistoryEvent(NamedTuple):
    """What one call of `reset` (then without reward and flags) or `step` gave."""

    label: str
    observation: object
    reward: Any
    terminated: object
    truncated: object
    info: Info


class Player:
    """Steps an environment by actions sampled from a copy of its action space, or from `info["action_mask"]` of it."""

    def __init__(self, env: AnyEnv, seed: int, watch: Watch | None = None) -> None:
        self.env, self.watch = env, watch
        self.space: Space[object] = deepcopy(env.action_space)
        self.space.seed(seed)
        self.events: list[HistoryEvent] = []
        self.steps = 0
        self.needs_reset = True
        self.mask: object = None
        self.written = ""
        """The first step that wrote into the action it was given, in words."""

    def fork(self) -> "Player":
        """A player that will choose as this one will, with a history of its own."""
        twin = Player(self.env, 0, self.watch)
        twin.space, twin.mask = deepcopy(self.space), deepcopy(self.mask)
        twin.steps, twin.needs_reset = self.steps, self.needs_reset
        return twin

    def reset(self, seed: Seed | None = None) -> None:
        """Reset, and record what came."""
        label = self._reset_label(seed)
        observation, info = as_pair(self._call(label, lambda: self.env.reset(seed=seed)), label)
        self.needs_reset = False
        self._record(label, observation, (None, None, None), info)

    def step(self) -> None:
        """Step by one action, and record what came."""
        self.steps += 1
        action, label = self.choose(), f"step {self.steps}"
        handed = deepcopy(action)
        result = self._call(f"{label} with action {shorten(action, 40)}", lambda: self.env.step(handed))
        if not self.written:
            found = difference(action, handed, "action")
            self.written = f"{label}, {found.path}: {found.left} given, {found.right} after it" if found else ""
        observation, reward, terminated, truncated, info = as_step(result, label)
        self.needs_reset = self._ended(terminated, truncated)
        self._record(label, observation, (reward, terminated, truncated), info)

    def run(self, steps: int) -> "Player":
        """Step that often; reset where an episode ended, and once more halfway, in the middle of an episode."""
        for number in range(steps):
            if self.needs_reset or (number == steps // 2 and number > 0):
                self.reset()
            self.step()
        return self

    def future(self, steps: int) -> list[HistoryEvent]:
        """What the next `steps` steps bring."""
        begin = len(self.events)
        return self.run(steps).events[begin:]

    def choose(self) -> object:
        """The next action."""
        return sample_legal(self.space, self.mask)

    def _reset_label(self, seed: Seed | None) -> str:
        if seed is not None:
            return f"reset(seed={seed!r})"
        return f"reset() after step {self.steps}" if self.steps else "reset()"

    def _record(self, label: str, observation: object, outcome: tuple[object, object, object], info: Info) -> None:
        self.events.append(HistoryEvent(label, *deepcopy((observation, *outcome)), deepcopy(info)))
        self.mask = deepcopy(info.get("action_mask"))
        if self.watch is not None:
            self.watch(observation, info)

    def _call(self, label: str, call: Callable[[], object]) -> object:
        try:
            return call()
        except Exception as failure:
            raise Interrupted(f"{label} raised {raised(failure)}") from failure

    def _ended(self, terminated: npt.ArrayLike, truncated: npt.ArrayLike) -> bool:
        if isinstance(self.env, VectorEnv) or self.env.batch_shape:
            mode = AutoresetMode.of(self.env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
            return mode is AutoresetMode.DISABLED and bool(np.any(terminated) or np.any(truncated))
        return bool(np.any(terminated) or np.any(truncated))


def as_pair(result: object, label: str = "reset") -> tuple[object, Info]:
    """`reset`'s observation and info; raises ContractViolation for anything else."""
    if not is_tuple(result) or len(result) != 2 or not is_dict(result[1]):
        raise ContractViolation(f"{label}: expected a pair (observation, info dictionary), got {_layout(result)}")
    return result[0], result[1]


def as_step(result: object, label: str = "step") -> tuple[object, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, Info]:
    """`step`'s five values; raises ContractViolation for anything else."""
    if not is_tuple(result) or len(result) != 5:
        raise ContractViolation(
            f"{label}: expected five values (observation, reward, terminated, truncated, info), got {_layout(result)}"
        )
    if not is_dict(result[4]):
        raise ContractViolation(f"{label} info: expected a dictionary, got {shorten(result[4])}")
    observation, *told = result[:4]
    reward, terminated, truncated = cast(list[npt.ArrayLike], told)
    return observation, reward, terminated, truncated, result[4]


def _layout(result: object) -> str:
    if not is_list_or_tuple(result):
        return shorten(result)
    return f"a {type(result).__name__} of {len(result)}: {shorten(tuple(type(one).__name__ for one in result))}"


def play(env: AnyEnv, *, seed: Seed, steps: int, watch: Watch | None = None) -> list[HistoryEvent]:
    """The history of `seed`: the actions are the same for every seed, and the global generators are pinned."""
    return played(env, seed=seed, steps=steps, watch=watch).events


def played(env: AnyEnv, *, seed: Seed, steps: int, watch: Watch | None = None) -> Player:
    """Whoever played that history, at its end."""
    with global_random():
        player = Player(env, 0, watch)
        player.reset(seed)
        return player.run(steps)


def first_difference(first: Sequence[HistoryEvent], then: Sequence[HistoryEvent]) -> str | None:
    """Where two histories part, in words, or None."""
    for one, other in zip(first, then, strict=False):
        for name in HistoryEvent._fields[1:]:
            found = difference(getattr(one, name), getattr(other, name), name)
            if found is not None:
                return f"{one.label} {found.path}: {found.left} first, {found.right} then"
    if len(first) != len(then):
        return f"{len(first)} calls first, {len(then)} then"
    return None


def plain_history(env: AnyEnv, history: Sequence[HistoryEvent]) -> list[HistoryEvent]:
    """A history with observations as they are on the wire: beyond it, equal values need not be of one class."""
    space = env.observation_space
    return [one._replace(observation=space.encode(one.observation, binary=False)) for one in history]
