"""A service as an environment: connect to a server, and it is an `Env`.

Not here: servers, which are in `ludus.server`, and the messages, which are in `ludus.wire`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded when used: connecting to a server takes little of it.
if TYPE_CHECKING:
    from ludus.client.async_env import AsyncRemoteEnv
    from ludus.client.connection import aconnect, connect
    from ludus.client.env_client import EnvClient, GenericEnvClient
    from ludus.client.fields import Fields
    from ludus.client.image_policy import ImagePolicy
    from ludus.client.remote_env import RemoteEnv
    from ludus.client.remote_vector_env import RemoteVectorEnv
    from ludus.client.result import StepResult
    from ludus.client.typed_client import TypedClient

__all__ = [
    "AsyncRemoteEnv",
    "EnvClient",
    "Fields",
    "GenericEnvClient",
    "ImagePolicy",
    "RemoteEnv",
    "RemoteVectorEnv",
    "StepResult",
    "TypedClient",
    "aconnect",
    "connect",
]

_HOME = {
    "AsyncRemoteEnv": "async_env",
    "EnvClient": "env_client",
    "Fields": "fields",
    "GenericEnvClient": "env_client",
    "ImagePolicy": "image_policy",
    "RemoteEnv": "remote_env",
    "RemoteVectorEnv": "remote_vector_env",
    "StepResult": "result",
    "TypedClient": "typed_client",
    "aconnect": "connection",
    "connect": "connection",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
