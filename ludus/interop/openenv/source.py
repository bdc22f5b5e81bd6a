"""`from_openenv`: classes, instances and factories of OpenEnv's environments as environments."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ludus.core import Env
from ludus.core.entry_point import load_entry_point
from ludus.core.env import is_env
from ludus.errors import InvalidType, shorten
from ludus.interop.openenv.environment import FromOpenEnv
from ludus.interop.openenv.models import Models, models_of
from ludus.interop.openenv.tool_environment import FromOpenEnvTools
from ludus.spaces.kinds import class_of

__all__ = ["create", "from_openenv"]

MCP_NAMES = ("Action", "CallToolAction", "ListToolsAction")
"""Action classes of OpenEnv that say nothing, or that an action is a call."""


def from_openenv(
    source: Any,
    *,
    action: type | None = None,
    observation: type | None = None,
    state: type | None = None,
    reset_observation: type | None = None,
) -> Env[Any, Any]:
    """An environment of OpenEnv as one of Ludus: `source` is its class, an instance, or a function that makes one.

    The models are those that its annotations name, unless they are given.

    >>> from ludus.interop.openenv.core.env_server import Action, Environment, Observation, State
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Say(Action):
    ...     word: str
    >>> @dataclass
    ... class Heard(Observation):
    ...     length: int = 0
    >>> class Ear(Environment):
    ...     def reset(self) -> Heard:
    ...         return Heard()
    ...     def step(self, action: Say) -> Heard:
    ...         return Heard(length=len(action.word), reward=1.0)
    ...     @property
    ...     def state(self) -> State:
    ...         return State()
    >>> env = from_openenv(Ear)
    >>> _ = env.reset()
    >>> env.step({"word": "hello"}).observation.length
    5
    """
    made: Any = source() if isinstance(source, type) or inspect.isroutine(source) or _is_factory(source) else source
    if not hasattr(made, "reset") or not hasattr(made, "step"):
        raise InvalidType(f"from_openenv: expected an Environment of OpenEnv, got {shorten(made)}")
    inner = getattr(made, "ludus_env", made)  # of `to_openenv`: what it was made of
    if is_env(inner):
        return inner
    told = models_of(class_of(made))
    models = Models(
        action or told.action,
        observation or told.observation,
        state or told.state,
        reset_observation or told.reset_observation,
    )
    return _adapter(made, models)(made, models)


def _adapter(made: Any, models: Models) -> type[FromOpenEnv]:
    name = None if models.action is None else models.action.__name__
    if hasattr(made, "mcp_server") and (name is None or name in MCP_NAMES):
        return FromOpenEnvTools
    if models.action is None:
        raise InvalidType(
            f"{type(made).__name__}: expected an annotation that tells the class of its actions, got none; write "
            "step(self, action: MyAction), or pass action=MyAction"
        )
    return FromOpenEnv


def _is_factory(source: Any) -> bool:
    return isinstance(source, Callable) and not hasattr(source, "step")  # type: ignore[arg-type]


def create(source: str, paths: Sequence[str] = (), **models: str) -> Env[Any, Any]:
    """What `ludus.make` calls: the environment of `module:Class`, with the models of such names, where given.

    `paths` are folders to import from before those of this process.
    """
    sys.path[:0] = [path for path in paths if path not in sys.path]  # before others, as PYTHONPATH would be
    return from_openenv(load_entry_point(source), **{name: load_entry_point(one) for name, one in models.items()})
