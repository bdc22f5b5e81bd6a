"""`make`: from an id, a spec or a class to an environment."""

from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeVar, overload

from ludus.core import Env, EnvSpec
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, shorten
from ludus.registry.arguments import Creator, Given, given_by
from ludus.registry.assembly import assemble, create, finish
from ludus.registry.foreign_code import file_spec
from ludus.registry.isolation import isolated
from ludus.registry.ownership import owner
from ludus.registry.resolution import ResolvedSpec, Target, resolve

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["Target", "build", "limited", "make"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
NO_LIMIT = -1
NOTHING_GIVEN = Given()


@overload
def make(
    id: Callable[..., Env[ObsT, ActT]],
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    isolation: "str | Sandbox | None" = None,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> Env[ObsT, ActT]: ...


@overload
def make(
    id: Target,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    isolation: "str | Sandbox | None" = None,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> AnyEnv: ...


def make(
    id: Target,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
    *,
    isolation: "str | Sandbox | None" = None,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> AnyEnv:
    """Make the environment of an id, a spec, or an Env class; other keywords go to its constructor, over the spec's.

    `kwargs` is for the same, and for arguments whose names `make` has too: `kwargs={"isolation": 3}`.
    `max_episode_steps=-1` takes the spec's time limit away. Around the environment come `PassiveEnvChecker`,
    `OrderEnforcing`, `TimeLimit` and the spec's own wrappers, in this order. `make(env.spec)` makes the same again.

    `isolation` is what it runs in: "none", "process", "sandbox", "container", or a `ludus.sandbox.Sandbox`, which has
    limits and deadlines: `Sandbox(deadlines=Deadlines(step=5))`. By default it is what the spec's security block and
    `ludus.trust` ask for, whichever is more; one that cannot be given is refused. Less than that takes the word here,
    and `env.spec.isolation_record` keeps it.

    >>> make("GridWorld-v0", size=3).reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    """
    own = {
        "max_episode_steps": max_episode_steps,
        "disable_env_checker": disable_env_checker,
        "isolation": isolation,
    }
    given = given_by("make", kwargs, env_kwargs, own)
    return build(resolve(id, isolation, given.arguments), given, max_episode_steps, disable_env_checker)


def assemble_here(spec: EnvSpec, arguments: Mapping[str, object]) -> AnyEnv:
    """Make the environment of a spec in this process, which is isolated already."""
    # The owner's name: what other packages announce is not looked at, which takes longer than all the rest.
    return assemble(spec, arguments, owner(spec))


EnvSpec.file_spec = file_spec
EnvSpec.maker = make  # core does not know the registry, yet `spec.make()` should work
EnvSpec.assembler = assemble_here  # as above, for `spec.assemble()`


def build(
    resolved: ResolvedSpec,
    given: Given = NOTHING_GIVEN,
    max_episode_steps: int | None = None,
    disable_env_checker: bool | None = None,
) -> AnyEnv:
    """Make what was decided on, without deciding again."""
    spec = limited(resolved.spec, max_episode_steps, disable_env_checker)
    if resolved.sandbox is None:
        creator = resolved.creator
        creator.check_meant(given, spec.id)
        return finish(create(spec, given.arguments, creator), spec)
    if callable(spec.entry_point):  # it is here already; what is not, is not loaded here
        Creator.of(spec.entry_point).check_meant(given, spec.id)
    return isolated(spec, given.arguments, resolved.sandbox)


def limited(spec: EnvSpec, max_episode_steps: object, disable_env_checker: object) -> EnvSpec:
    """The spec with another time limit, and with the checker or without it; None changes nothing."""
    if max_episode_steps is not None:
        spec = spec.replace(max_episode_steps=_limit(max_episode_steps))
    return spec if disable_env_checker is None else spec.replace(disable_env_checker=disable_env_checker)


def _limit(steps: object) -> int | None:
    try:
        number = index(steps) if isinstance(steps, SupportsIndex) else 0
    except TypeError:
        number = 0
    if isinstance(steps, bool) or (number < 1 and number != NO_LIMIT):
        raise InvalidArgument(
            f"max_episode_steps: expected a positive integer, or -1 for no limit, got {shorten(steps)}"
        )
    return None if number == NO_LIMIT else number
