"""Ludus: one library for reinforcement-learning environments."""

from typing import TYPE_CHECKING

from ludus import errors, registry, spaces, vector, wrappers
from ludus.composition import compose
from ludus.core import (
    ActionWrapper,
    AutoresetMode,
    Env,
    EnvSpec,
    ObservationWrapper,
    Outcome,
    RewardWrapper,
    Step,
    VectorEnv,
    Wrapper,
)
from ludus.registry import list_envs, make, make_vec, pprint_registry, register, register_envs, spec, trust
from ludus.spaces import Space
from ludus.version import __version__
from ludus.wrappers.wrapper_list import wrap

if TYPE_CHECKING:
    from ludus.client.connection import connect
    from ludus.server import create_app, serve

__all__ = [
    "ActionWrapper",
    "AutoresetMode",
    "Env",
    "EnvSpec",
    "ObservationWrapper",
    "Outcome",
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


def __getattr__(name: str) -> object:
    # Servers and clients are loaded when they are used: `import ludus` opens NumPy and little else.
    if name == "connect":
        from ludus.client.connection import connect as found  # see above
    elif name == "create_app":
        from ludus.server import create_app as found  # see above; it says which extra is missing
    elif name == "serve":
        from ludus.server import serve as found  # as create_app
    else:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    globals()[name] = found
    return found


# The one thing that is done here: rooms below learn of those above, which are loaded when they are used.
_composed = compose()
