"""`make`: from an id, a spec or a class to an environment."""

from collections.abc import Callable
from operator import index
from typing import Any

from ludus.core import Env, EnvSpec
from ludus.errors import InvalidArgument, InvalidType, IsolationNeeded, listing, shorten
from ludus.registry.assembly import assemble
from ludus.registry.search import WALLS
from ludus.registry.shared import registry
from ludus.registry.target import adhoc_spec

__all__ = ["make", "requested"]

Target = str | EnvSpec | Callable[..., Any]
NO_LIMIT = -1


def make(
    id: Target,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    isolation: str | None = None,
    **kwargs: Any,
) -> Env[Any, Any]:
    """Make the environment of an id, a spec, or an Env class; `kwargs` go to its constructor, over those of the spec.

    `max_episode_steps=-1` takes the spec's time limit away. An environment that asks for isolation is refused, unless
    `isolation="none"` says that its code may run in this process, with your rights. Around the environment come
    `PassiveEnvChecker`, `OrderEnforcing`, `TimeLimit` and the spec's own wrappers, in this order. `make(env.spec)`
    makes the same again.

    >>> make("GridWorld-v0", size=3).reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    """
    spec = requested(id)
    _check_isolation(spec, isolation)
    changes: dict[str, Any] = {}
    if max_episode_steps is not None:
        changes["max_episode_steps"] = _limit(max_episode_steps)
    if disable_env_checker is not None:
        changes["disable_env_checker"] = disable_env_checker
    return assemble(spec.replace(**changes), kwargs, registry.package(spec))


EnvSpec.maker = make  # core does not know the registry, yet `spec.make()` should work


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


def _check_isolation(spec: EnvSpec, isolation: str | None) -> None:
    """Fail closed: nothing weaker than what the spec asks for, unless that was said outright."""
    if isolation is not None and isolation not in WALLS:
        raise InvalidArgument(f"isolation: expected one of {listing(WALLS)}, got {shorten(isolation)}")
    wall = spec.security.isolation if isolation is None else isolation
    if wall != "none":
        raise IsolationNeeded(
            f"{spec.id}: expected to run behind a {wall}, got no wall, since this version of Ludus has none; "
            "pass isolation='none' to run its code in this process, with your rights"
        )


def _limit(steps: Any) -> int | None:
    try:
        number = index(steps)
    except TypeError:
        number = 0
    if isinstance(steps, bool) or (number < 1 and number != NO_LIMIT):
        raise InvalidArgument(
            f"max_episode_steps: expected a positive integer, or -1 for no limit, got {shorten(steps)}"
        )
    return None if number == NO_LIMIT else number
