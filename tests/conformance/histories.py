"""Histories: what environments and batches give, and whether it is the same to the last bit."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ludus.core import AutoresetMode
from ludus.testing.equality import difference
from tests.conformance.kinds import KINDS, Kind
from tests.conformance.places import LANES, REFERENCE, Place

SEED = 15
STEPS = 20
BESIDE_OBSERVATIONS = ("metadata",)
"""Fields that OpenEnv's observations have of themselves."""


def history(env: Any, actions: Sequence[Any], *, seed: int | None = SEED, steps: int = STEPS) -> list[Any]:
    """Reset, then step; an episode that is over is followed by another, without a seed."""
    found: list[Any] = [env.reset(seed=seed)]
    for number in range(steps):
        found.append(tuple(env.step(actions[number % len(actions)])))
        if found[-1][2] or found[-1][3]:
            found.append(env.reset())
    return found


def expected(kind: Kind, actions: Sequence[Any] | None = None, **options: Any) -> list[Any]:
    """The same in process, from actions of the author's own classes."""
    with REFERENCE.own(kind) as env:
        return history(env, kind.actions if actions is None else actions, **options)


@cache
def lasting_seed(kind: str) -> int:
    """A seed whose first episode lasts a while."""
    for seed in range(100):
        with REFERENCE.own(KINDS[kind]) as env:
            env.reset(seed=seed)
            first = env.step(KINDS[kind].actions[0])
            if not first.terminated and len(onward(env, KINDS[kind])) == len(KINDS[kind].actions):
                return seed
    raise AssertionError(f"{kind}: expected a seed whose episode lasts, got none")


def onward(env: Any, kind: Kind) -> list[Any]:
    """A few steps more, until the episode is over."""
    found: list[Any] = []
    for action in kind.actions:
        found.append(tuple(env.step(action)))
        if found[-1][2] or found[-1][3]:
            break
    return found


def in_turn(kind: Kind, number: int, lanes: int = LANES) -> tuple[Any, ...]:
    """Actions for the lanes of a batch, each lane another."""
    return tuple(kind.actions[(number + lane) % len(kind.actions)] for lane in range(lanes))


def batched(envs: Any, actions: Sequence[Any]) -> Any:
    """One action for each lane, as the batch takes them."""
    if all(isinstance(one, int | np.integer | np.ndarray) for one in actions):
        return np.array([int(one) for one in actions])
    return tuple(actions)


def batch_history(
    envs: Any, kind: Kind, *, seed: Any = SEED, steps: int = STEPS, resets: Iterable[int] = ()
) -> list[Any]:
    """The same of a batch; before the steps of `resets`, lanes 1 and 2 are reset from outside."""
    found: list[Any] = [] if seed is None else [envs.reset(seed=seed)]
    over = np.zeros(envs.num_envs, np.bool_)
    for number in range(steps):
        mask = over & (envs.autoreset_mode is AutoresetMode.DISABLED)
        if number in resets:
            mask[1:3] = True
        if mask.any():
            found.append(envs.reset(options={"reset_mask": mask}))
        found.append(tuple(envs.step(batched(envs, in_turn(kind, number, envs.num_envs)))))
        over = found[-1][2] | found[-1][3]
    return found


def assert_same(place: Place, found: Any, wanted: Any, path: str = "history") -> None:
    """Equal to the last bit, types too; from OpenEnv's server, the same data as far as its protocol tells it."""
    if place.same_classes:
        apart = difference(found, wanted, path)
        assert apart is None, f"{apart}, where the first is {place.title}"
        return
    assert told(found) == told(wanted)


def told(one: Any) -> Any:
    """What OpenEnv's protocol tells of a history: observations as JSON, rewards, and whether an episode is over."""
    if isinstance(one, list):
        return [told(part) for part in one]
    if len(one) == 2:
        return plain(one[0])
    observation, reward, terminated, truncated, _ = one
    over = terminated | truncated
    return plain(observation), np.asarray(reward).tolist(), np.asarray(over).tolist()


def plain(value: Any) -> Any:
    """A value of any class as the data that it is."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if hasattr(value, "value"):
        return value.value
    names = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", None)
    names = names or getattr(type(value), "__struct_fields__", None) or getattr(value, "__dict__", None)
    if names is None or isinstance(value, int | float | str):
        return value
    return {name: plain(getattr(value, name)) for name in sorted(names) if name not in BESIDE_OBSERVATIONS}
