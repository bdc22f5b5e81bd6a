"""Ludus: one library for reinforcement-learning environments."""

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

# The mapping takes its room's name: `ludus.registry["GridWorld-v0"]`; `from ludus.registry import …` still works.
from ludus.registry import list_envs, make, make_vec, pprint_registry, register, register_envs, registry, spec, trust
from ludus.spaces import Space
from ludus.wrappers.wrapping import wrap

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
    "errors",
    "list_envs",
    "make",
    "make_vec",
    "pprint_registry",
    "register",
    "register_envs",
    "registry",
    "spaces",
    "spec",
    "trust",
    "vector",
    "wrap",
    "wrappers",
]
