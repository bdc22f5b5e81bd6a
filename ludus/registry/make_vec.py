"""`make_vec`: many environments of one spec, stepped together."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import index
from typing import Any

from ludus.core import AutoresetMode, Env, EnvSpec, VectorEnv
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.registry.make import Target, make, requested
from ludus.vector import SerialVectorEnv
from ludus.wrappers.wrapping import wrapper_of

__all__ = ["make_vec"]

WrapLane = Callable[[Env[Any, Any]], Env[Any, Any]]
EXECUTORS = ("serial", "kernel")
KERNEL = "ludus.kernels.batch:KernelVectorEnv"
"""By name: the compiler is loaded only when it is asked for."""


def make_vec(
    id: Target,
    num_envs: int = 1,
    executor: str = "serial",
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[Any] = (),
    **kwargs: Any,
) -> VectorEnv[Any, Any]:
    """A batch of `num_envs` lanes, each made as `make(id, **kwargs)` makes it and then wrapped by each of `wrappers`.

    The executor says where lanes run; it never changes what they do. `spec` is that of one lane.

    >>> envs = make_vec("GridWorld-v0", num_envs=2, size=3)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1]])
    """
    if executor not in EXECUTORS:
        raise InvalidArgument(f"executor: expected one of {listing(EXECUTORS)}, got {shorten(executor)}")
    if callable(wrappers) or isinstance(wrappers, str | Mapping):
        raise InvalidType(f"wrappers: expected a sequence of wrappers, got {shorten(wrappers)}")
    lane = partial(_lane, requested(id), tuple(wrapper_of(one) for one in wrappers), kwargs)
    if executor == "kernel":
        return _compiled(lane, _count(num_envs), autoreset_mode)
    envs = SerialVectorEnv([lane] * _count(num_envs), autoreset_mode=autoreset_mode)
    envs.spec = envs.envs[0].spec
    return envs


def _compiled(
    lane: Callable[[], Env[Any, Any]], count: int, autoreset_mode: AutoresetMode | str
) -> VectorEnv[Any, Any]:
    """A compiled batch of lanes that nothing but `make`'s own wrappers is around."""
    one = lane()
    spec, bare = one.spec, one.unwrapped
    if not hasattr(bare, "rules") or spec is None or spec.additional_wrappers or bare.render_mode is not None:
        raise InvalidArgument(
            f"executor='kernel': expected an environment made of rules, without wrappers or render_mode, got {one}; "
            "wrap the batch instead of its lanes, or use executor='serial'"
        )
    batch = load_entry_point(KERNEL)
    envs = batch(lambda: bare, count, autoreset_mode=autoreset_mode, max_episode_steps=spec.max_episode_steps)
    envs.spec = spec
    return envs


def _count(num_envs: Any) -> int:
    try:
        number = index(num_envs)
    except TypeError:
        number = 0
    if isinstance(num_envs, bool) or number < 1:
        raise InvalidArgument(f"num_envs: expected a positive integer, got {shorten(num_envs)}")
    return number


def _lane(spec: EnvSpec, wrappers: tuple[WrapLane, ...], kwargs: dict[str, Any]) -> Env[Any, Any]:
    env = make(spec, **kwargs)
    for wrap in wrappers:
        env = wrap(env)
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"wrappers: expected {shorten(wrap)} to return an Env, got {shorten(env)}")
    return env
