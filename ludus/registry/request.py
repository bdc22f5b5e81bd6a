"""Requests: from what somebody passes to `make` to the spec that they mean."""

from collections.abc import Callable
from typing import Any

from ludus.core import Env, EnvSpec
from ludus.errors import InvalidType, shorten
from ludus.registry.shared import registry
from ludus.registry.target import adhoc_spec

__all__ = ["Target", "requested"]

Target = str | EnvSpec | Callable[..., Any]


def requested(id: Any) -> EnvSpec:
    """The spec that somebody means by an id, a spec, a class or a function."""
    if isinstance(id, EnvSpec):
        return id
    if isinstance(id, str):
        return registry.spec(id)
    if callable(id) and not isinstance(id, Env):
        return adhoc_spec(id)
    hint = "; it is made already" if isinstance(id, Env) else ""
    raise InvalidType(f"make: expected an id like 'CartPole-v1', an EnvSpec or an Env class, got {shorten(id)}{hint}")
