"""Environments in a sandbox: an `Env` here whose code runs in a sandboxed process, over one inherited socket.

Not here: the isolation itself, which is the backends' of `ludus.sandbox`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded when used: the sandboxed process imports this package too, and needs nothing of this side.
if TYPE_CHECKING:
    from ludus.sandbox.environment.fork_server import ForkServer
    from ludus.sandbox.environment.isolation import isolate, isolate_vec, sandbox_for
    from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
    from ludus.sandbox.environment.sandboxed_vector_env import SandboxedVectorEnv

__all__ = ["ForkServer", "SandboxedEnv", "SandboxedVectorEnv", "isolate", "isolate_vec", "sandbox_for"]

_HOME = {
    "ForkServer": "fork_server",
    "SandboxedEnv": "sandboxed_env",
    "SandboxedVectorEnv": "sandboxed_vector_env",
    "isolate": "isolation",
    "isolate_vec": "isolation",
    "sandbox_for": "isolation",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
