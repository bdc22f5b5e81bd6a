"""`make`: from an id, a spec or a class to an environment."""

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any

from ludus.core import Env, EnvSpec, VectorEnv
from ludus.errors import InvalidArgument, shorten
from ludus.registry.assembly import assemble
from ludus.registry.confinement import Settled, confined, confined_batch, settle
from ludus.registry.request import Target, requested
from ludus.registry.shared import registry

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox
    from ludus.sandbox.environment import Deadlines

__all__ = ["Target", "make", "make_settled", "make_settled_batch", "requested"]

NO_LIMIT = -1


def make(
    id: Target,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    isolation: "str | Sandbox | None" = None,
    deadline: "Deadlines | float | None" = 30.0,
    **kwargs: Any,
) -> Env[Any, Any]:
    """Make the environment of an id, a spec, or an Env class; `kwargs` go to its constructor, over those of the spec.

    `max_episode_steps=-1` takes the spec's time limit away. Around the environment come `PassiveEnvChecker`,
    `OrderEnforcing`, `TimeLimit` and the spec's own wrappers, in this order. `make(env.spec)` makes the same again.

    `isolation` is the wall to make it behind: "none", "process", "sandbox", "container", or a `ludus.sandbox.Sandbox`.
    By default it is what the spec's security block and `ludus.trust` ask for, whichever is more; one that cannot be
    given is refused. Less than that takes the word here, and `env.spec.wall` keeps it. Behind a wall, `deadline` is the
    seconds that a step may take, or `ludus.sandbox.environment.Deadlines`; None waits for ever.

    >>> make("GridWorld-v0", size=3).reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    """
    spec = settle(id, isolation)
    return make_settled(spec, max_episode_steps, disable_env_checker, deadline=deadline, **kwargs)


EnvSpec.maker = make  # core does not know the registry, yet `spec.make()` should work


def make_settled(
    settled: Settled,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    deadline: "Deadlines | float | None" = 30.0,
    **kwargs: Any,
) -> Env[Any, Any]:
    """Make what was decided on, without deciding again: what was said of trust is known to this process only."""
    spec = _changed(settled.spec, max_episode_steps, disable_env_checker)
    if settled.sandbox is None:
        return assemble(spec, kwargs, registry.package(spec))
    return confined(spec, kwargs, settled.sandbox, deadline)


def make_settled_batch(
    settled: Settled,
    options: Mapping[str, Any],
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    **kwargs: Any,
) -> VectorEnv[Any, Any]:
    """The same as a batch behind a wall; `options` are those of `ludus.sandbox.environment.confine_vec`."""
    spec = _changed(settled.spec, max_episode_steps, disable_env_checker)
    return confined_batch(spec, kwargs, settled.sandbox, options)


def _changed(spec: EnvSpec, max_episode_steps: Any, disable_env_checker: bool | None) -> EnvSpec:
    changes: dict[str, Any] = {}
    if max_episode_steps is not None:
        changes["max_episode_steps"] = _limit(max_episode_steps)
    if disable_env_checker is not None:
        changes["disable_env_checker"] = disable_env_checker
    return spec.replace(**changes) if changes else spec


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
