"""Ludus: one library for reinforcement-learning environments."""

from typing import TYPE_CHECKING, Any

from ludus import errors, registry, spaces, vector, wrappers
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


def __getattr__(name: str) -> Any:
    # Servers and clients are loaded when they are used: `import ludus` opens NumPy and little else.
    if name == "connect":
        from ludus.client.connecting import connect as found  # see above
    elif name == "create_app":
        from ludus.serve import create_app as found  # see above; it says which extra is missing
    elif name == "serve":
        import ludus.serve as found  # see above: a package that can be called
    else:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    globals()[name] = found
    return found
