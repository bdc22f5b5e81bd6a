"""`make_vec`: many environments, stepped together, by the executor that suits them.

Of a class whose observations and actions are arrays or integers a type checker knows those of the batch, as Ludus's own
spaces batch them: arrays with a leading axis. Of all else they are `Any`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Env, EnvSpec, EpisodePlan, VectorEnv
from ludus.core.vector_env import AnyVectorEnv, IntegerActions, Integers
from ludus.registry.arguments import LIMITS, given_by
from ludus.registry.resolution import Target

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox
    from ludus.vector.executor import Executor

__all__ = ["make_vec"]

ObsNumber = TypeVar("ObsNumber", bound=np.generic)
ActNumber = TypeVar("ActNumber", bound=np.generic)


class _Unknown:
    """A type that no value has: of all observations only `Any` fits it, of which nothing is to be claimed."""


@overload
def make_vec(
    id: Callable[..., Env[_Unknown, Any]] | Callable[..., Env[Any, _Unknown]],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> AnyVectorEnv: ...


@overload
def make_vec(
    id: Callable[..., Env[npt.NDArray[ObsNumber], npt.NDArray[ActNumber]]],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> VectorEnv[npt.NDArray[ObsNumber], npt.NDArray[ActNumber]]: ...


@overload
def make_vec(
    id: Callable[..., Env[npt.NDArray[ObsNumber], int]],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> VectorEnv[npt.NDArray[ObsNumber], IntegerActions]: ...


@overload
def make_vec(
    id: Callable[..., Env[int, npt.NDArray[ActNumber]]],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> VectorEnv[Integers, npt.NDArray[ActNumber]]: ...


@overload
def make_vec(
    id: Callable[..., Env[int, int]],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> VectorEnv[Integers, IntegerActions]: ...


@overload
def make_vec(
    id: Target | Sequence[Target],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> AnyVectorEnv: ...


def make_vec(
    id: Target | Sequence[Target],
    num_envs: int | None = None,
    executor: "str | Executor | None" = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[object] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    each: Mapping[str, Sequence[object]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    kwargs: Mapping[str, object] | None = None,
    **env_kwargs: object,
) -> AnyVectorEnv:
    """A batch of lanes, each made as `make(id, …)` makes it and then wrapped by each of `wrappers`.

    `id` is an id, a spec, an Env class or a function that returns an environment; a list of them gives every lane its
    own. `each` gives an argument, or a parameter of the rules, one value for each lane. The executor says where lanes
    run, as a name or as a value with options, `ludus.vector.Process(workers=4)`; it never changes what they do. By
    default environments made of rules are compiled and others run serially; `verbose` prints which it is, and why.
    `isolation`, `kwargs` and other keywords are those of `make`. Isolated lanes share one process, or as many as
    `Process(workers=…)` says, each of which steps its lanes in one message. `spec` is that of one lane.

    >>> envs = make_vec("GridWorld-v0", num_envs=2, size=3)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1]])
    >>> make_vec("CartPole-v1", 2, each={"gravity": [9.8, 1.6]}).get_attr("gravity")
    (9.8, 1.6)
    """
    limits = {name: env_kwargs.pop(name) for name in LIMITS if name in env_kwargs}
    own = {
        **limits,
        "num_envs": num_envs,
        "executor": executor,
        "autoreset_mode": None if autoreset_mode is AutoresetMode.NEXT_STEP else autoreset_mode,
        "wrappers": wrappers or None,
        "isolation": isolation,
        "each": each,
        "episodes": episodes,
        "verbose": verbose or None,
    }
    from ludus.registry.batch import Batch  # with the executors: milliseconds, which `import ludus` does not take

    given = given_by("make_vec", kwargs, env_kwargs, own)
    batch = Batch(executor, autoreset_mode, episodes, wrappers)
    envs, why = batch.of(id, num_envs, given, limits=limits, each=each or {}, isolation=isolation)
    if verbose:
        print(f"{envs}: executor {envs.executor!r}, {why}; {envs.autoreset_mode.value}")  # noqa: T201
    return envs


EnvSpec.batch_maker = make_vec  # as `make` is the maker of one
