"""`HTTPEnvClient`: the guide's client class, whose three hooks a subclass defines."""

from typing import Any, Generic, TypeVar

from ludus.client.env_client import EnvClient

__all__ = ["HTTPEnvClient"]

ActT = TypeVar("ActT")
ObsT = TypeVar("ObsT")


class HTTPEnvClient(EnvClient[ActT, ObsT, Any], Generic[ActT, ObsT]):
    """A client by address, or of a container by `from_docker_image`, which `close` removes.

    >>> import ludus
    >>> with ludus.serve("open/Echo-v0", port=0, block=False) as server:
    ...     client = HTTPEnvClient(base_url=server.url)
    ...     _ = client.reset()
    ...     print(client.step({"message": "hi"}).reward)
    ...     client.close()
    0.2
    """
