"""Gymnasium: its environments in Ludus and Ludus's in it, one or a batch, with identical histories.

Importing this module enters every Ludus environment into Gymnasium's registry, as `ludus/CartPole-v1` and so on, which
imports none of them; so `gymnasium.make("ludus.interop.gymnasium:ludus/CartPole-v1")` works by itself.
"""

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ludus.core import Env, EnvSpec
from ludus.core.env import AnyEnv
from ludus.errors import InvalidType, MissingExtra, NameNotFound, shorten
from ludus.interop.gymnasium_batch import BatchFromGymnasium, BatchToGymnasium
from ludus.interop.gymnasium_library import gymnasium
from ludus.interop.gymnasium_library import registration as their_registration
from ludus.interop.gymnasium_single import FromGymnasium, ToGymnasium
from ludus.interop.gymnasium_spaces import space_from_gymnasium, space_to_gymnasium
from ludus.interop.gymnasium_specs import id_for_gymnasium, spec_from_gymnasium, spec_to_gymnasium
from ludus.registry import make, registry

__all__ = [
    "from_gymnasium",
    "register_all",
    "resolve",
    "space_from_gymnasium",
    "space_to_gymnasium",
    "spec_from_gymnasium",
    "spec_to_gymnasium",
    "to_gymnasium",
]

registration: Any = their_registration
BROUGHT_BY = {"ALE": ("ale_py", "atari")}
"""Modules that register a namespace with Gymnasium when they are imported, and the extra that installs them."""


def to_gymnasium(env: AnyEnv) -> Any:
    """A Ludus environment, one or a batch, as Gymnasium's; one that came from there is given back as it was.

    >>> import ludus
    >>> env = to_gymnasium(ludus.make("GridWorld-v0"))
    >>> isinstance(env, gymnasium.Env), env.spec.id
    (True, 'ludus/GridWorld-v0')
    """
    if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidType(f"to_gymnasium: expected a ludus Env, got {shorten(env)}")
    if isinstance(env, FromGymnasium | BatchFromGymnasium):
        return env.gymnasium_env
    return BatchToGymnasium(env) if env.batch_shape else ToGymnasium(env)


def from_gymnasium(env: Any) -> AnyEnv:
    """A Gymnasium environment, one or a vector, as Ludus's; one that came from there is given back as it was.

    >>> env = from_gymnasium(gymnasium.make("CartPole-v1"))
    >>> env.spec.id, env.action_space
    ('gymnasium/CartPole-v1', Discrete(2))
    """
    if isinstance(env, ToGymnasium | BatchToGymnasium):
        return env.ludus_env
    if isinstance(env, gymnasium.Env):
        return FromGymnasium(env)
    if isinstance(env, gymnasium.vector.VectorEnv):
        return BatchFromGymnasium(env)
    raise InvalidType(f"from_gymnasium: expected a gymnasium Env or VectorEnv, got {shorten(env)}")


# --- Ludus's environments for gymnasium.make ---


def register_all() -> None:
    """Enter the environments that Ludus knows now into Gymnasium's registry; those entered before stay as they are."""
    for spec in registry.values():
        if id_for_gymnasium(spec.id) not in registration.registry:
            known = spec_to_gymnasium(spec)
            registration.registry[known.id] = known


def create_for_gymnasium(ludus_spec: str | EnvSpec, **kwargs: Any) -> Any:
    """What `gymnasium.make` calls: the environment of an id, a spec or its JSON, without the wrappers that it adds."""
    spec = ludus_spec
    if isinstance(spec, str):
        spec = EnvSpec.from_json(spec) if spec.startswith("{") else registry.spec(spec)
    bare = spec.replace(max_episode_steps=None, order_enforce=False, disable_env_checker=True)
    return to_gymnasium(make(bare, **kwargs))


# --- Gymnasium's environments for ludus.make ---


def resolve(id: str) -> EnvSpec:
    """The spec of the Gymnasium environment `id`, for `ludus.make("gymnasium/ID")`; no version means the newest.

    >>> resolve("CartPole").id
    'gymnasium/CartPole-v1'
    """
    namespace, name, version = registration.parse_env_id(id)
    if namespace in BROUGHT_BY:
        _bring(namespace)
    if version is None and id not in registration.registry:
        version = registration.find_highest_version(namespace, name)
    try:
        return spec_from_gymnasium(registration.spec(registration.get_env_id(namespace, name, version)))
    except gymnasium.error.Error as error:
        raise NameNotFound(
            f"no environment 'gymnasium/{id}': {error} "
            f"Where a package brings it, name the package: 'package:gymnasium/{id}'"
        ) from error


def _bring(namespace: str) -> None:
    module, extra = BROUGHT_BY[namespace]
    if find_spec(module) is None:
        raise MissingExtra(
            f"gymnasium/{namespace}: expected the module {module!r}, got none; "
            f'pip install "ludus-rl[gymnasium,{extra}]"',
            name=module,
        )
    import_module(module)


def create_from_gymnasium(gymnasium_spec: Any, **kwargs: Any) -> AnyEnv:
    """What `ludus.make` calls: the environment of an id, a spec or its JSON, without the wrappers that Ludus adds."""
    spec = gymnasium_spec
    if isinstance(spec, str):
        spec = registration.EnvSpec.from_json(spec) if spec.startswith("{") else registration.spec(spec)
    bare = replace(spec, max_episode_steps=None, order_enforce=False, disable_env_checker=True)
    return FromGymnasium(registration.make(bare, **kwargs))


register_all()
