"""`wrap`: several wrappers at once, from objects or from plain data."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from ludus.core import Wrapper, WrapperSpec
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces.kinds import is_mapping

__all__ = ["wrap", "wrapper_of"]


def wrap(env: AnyEnv, *wrappers: object) -> AnyEnv:
    """`env` with each wrapper around it, the first one innermost.

    A wrapper is `X.using(…)`, a wrapper class, any function of an environment, or plain data as files have it: a spec
    as an object, `{"TimeLimit": {arguments}}` for Ludus's own, or `{"module:Class": {arguments}}`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.wrappers import ClipReward, TimeLimit
    >>> wrap(GridWorld(), TimeLimit.using(10), ClipReward.using(0, 1))
    <ClipReward(min_reward=0, max_reward=1)<TimeLimit(max_episode_steps=10)<GridWorld instance>>>
    """
    for one in wrappers:
        env = wrapper_of(one)(env)
    return env


def wrapper_of(given: object) -> Callable[[AnyEnv], AnyEnv]:
    """A function of an environment from any of the forms `wrap` takes."""
    if isinstance(given, WrapperSpec):
        return given
    if is_mapping(given):
        return _from_mapping(given)
    kind: type | None = given if inspect.isclass(given) else None
    if kind is not None and not issubclass(kind, Wrapper):
        raise InvalidType(f"wrapper: expected a Wrapper class, got {shorten(given)}")
    if not callable(given):
        raise InvalidType(
            f"wrapper: expected X.using(…), a Wrapper class or a function of an environment, got {shorten(given)}"
        )
    return cast(Callable[[AnyEnv], AnyEnv], given)


def _from_mapping(given: Mapping[str, Any]) -> WrapperSpec:  # as a file has it; the spec looks at what it is made of
    if "entry_point" in given:
        name = given.get("name") or str(given["entry_point"]).rpartition(":")[2]
        return WrapperSpec(name, given["entry_point"], dict(given.get("kwargs") or {}))
    if len(given) != 1:
        raise InvalidArgument(f"wrapper: expected one 'module:Class' with its arguments, got {shorten(dict(given))}")
    ((entry_point, arguments),) = given.items()
    if ":" not in entry_point:
        entry_point = f"ludus.wrappers:{entry_point}"
    return WrapperSpec(entry_point.rpartition(":")[2], entry_point, dict(arguments or {}))
