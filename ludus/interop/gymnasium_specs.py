"""Specs, from Ludus to Gymnasium and back: either library's `make` makes the same environment from them."""

from typing import Any

from ludus.core import EnvSpec
from ludus.errors import InvalidSpec
from ludus.interop.gymnasium_library import registration as their_registration
from ludus.registry import registry
from ludus.registry.libraries import adapter_of

__all__ = ["id_for_gymnasium", "id_from_gymnasium", "spec_from_gymnasium", "spec_to_gymnasium"]

registration: Any = their_registration


def id_for_gymnasium(id: str) -> str:
    """The id under which Gymnasium has a Ludus environment: its grammar allows one namespace, which is `ludus`.

    >>> id_for_gymnasium("my/Maze-v0")
    'ludus/my.Maze-v0'
    """
    return f"ludus/{id.replace('/', '.')}"


def id_from_gymnasium(id: str) -> str:
    """The id under which Ludus has a Gymnasium environment.

    >>> id_from_gymnasium("ALE/Pong-v5")
    'gymnasium/ALE/Pong-v5'
    """
    return f"gymnasium/{id.replace(':', '.')}"


def spec_to_gymnasium(spec: EnvSpec) -> Any:
    """A spec of Gymnasium that makes the environment of a Ludus spec; its time limit is Gymnasium's to keep.

    >>> spec_to_gymnasium(EnvSpec("GridWorld-v0", "ludus.envs.teaching.grid_world:GridWorld", kwargs={"size": 3})).id
    'ludus/GridWorld-v0'
    """
    known = registry.get(spec.id)
    plain = known is not None and known.entry_point == spec.entry_point and not spec.additional_wrappers
    meant = {"ludus_spec": spec.id, **spec.kwargs} if plain else {"ludus_spec": _written(spec)}
    return registration.EnvSpec(
        id_for_gymnasium(spec.id),
        entry_point=f"{adapter_of('gymnasium')}:create_for_gymnasium",
        reward_threshold=spec.reward_threshold,
        nondeterministic=spec.nondeterministic,
        max_episode_steps=spec.max_episode_steps,
        order_enforce=spec.order_enforce,
        disable_env_checker=spec.disable_env_checker,
        kwargs=meant,
    )


def spec_from_gymnasium(spec: Any) -> EnvSpec:
    """A spec of Ludus that makes the environment of a Gymnasium spec; its time limit is Ludus's to keep.

    >>> spec_from_gymnasium(registration.spec("CartPole-v1")).max_episode_steps
    500
    """
    known = registration.registry.get(spec.id)
    plain = known is not None and known.entry_point == spec.entry_point and not spec.additional_wrappers
    meant = {"gymnasium_spec": spec.id, **spec.kwargs} if plain else {"gymnasium_spec": _dumped(spec)}
    return EnvSpec(
        id_from_gymnasium(spec.id),
        entry_point=f"{adapter_of('gymnasium')}:create_from_gymnasium",
        reward_threshold=spec.reward_threshold,
        nondeterministic=spec.nondeterministic,
        max_episode_steps=spec.max_episode_steps,
        order_enforce=spec.order_enforce,
        disable_env_checker=spec.disable_env_checker,
        kwargs=meant,
        extras=("gymnasium",),
    )


def _written(spec: EnvSpec) -> Any:
    """The spec as JSON text, so that Gymnasium can write it down; itself where part of it is code."""
    try:
        return spec.to_json()
    except InvalidSpec:
        return spec


def _dumped(spec: Any) -> Any:
    try:
        return spec.to_json()
    except (TypeError, ValueError):  # as above
        return spec
