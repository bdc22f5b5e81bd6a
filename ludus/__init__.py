"""Ludus: one library for reinforcement-learning environments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ludus import errors, spaces, vector, wrappers
from ludus.core import (
    ActionWrapper,
    AutoresetMode,
    Env,
    EnvSpec,
    ObservationWrapper,
    RewardWrapper,
    Step,
    VectorEnv,
    Wrapper,
)
from ludus.core.spec import load_entry_point

# The mapping takes its room's name: `ludus.registry["GridWorld-v0"]`; `from ludus.registry import …` still works.
from ludus.registry import list_envs, make, make_vec, pprint_registry, register, register_envs, registry, spec, trust
from ludus.spaces import Space
from ludus.wrappers.wrapping import wrap

if TYPE_CHECKING:
    from ludus.client.connecting import connect
    from ludus.serve.app import create_app
    from ludus.serve.run import serve

__version__ = "0.1.0"

__all__ = [
    "ActionWrapper",
    "AutoresetMode",
    "Env",
    "EnvSpec",
    "ObservationWrapper",
    "RewardWrapper",
    "Space",
    "Step",
    "VectorEnv",
    "Wrapper",
    "__version__",
    "connect",
    "create_app",
    "errors",
    "list_envs",
    "make",
    "make_vec",
    "pprint_registry",
    "register",
    "register_envs",
    "registry",
    "serve",
    "spaces",
    "spec",
    "trust",
    "vector",
    "wrap",
    "wrappers",
]

LATER = {"connect": "ludus.client.connecting:connect", "create_app": "ludus.serve:create_app"}
"""Names whose rooms are loaded when they are used; `serve` is another, and a room that can be called."""


def __getattr__(name: str) -> Any:
    if name == "serve":
        return import_module("ludus.serve")
    if name not in LATER:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    globals()[name] = load_entry_point(LATER[name])
    return globals()[name]
