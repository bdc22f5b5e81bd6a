"""`ImagePolicy`: what a container that serves may use."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from ludus.errors import InvalidArgument, shorten

__all__ = ["ImagePolicy"]

MIB = 1 << 20


class ImagePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a container that serves may use.

    >>> ImagePolicy(memory=512 << 20, network="open").cpus
    2.0
    """

    memory: int = 2048 * MIB
    """Bytes, swap included."""
    cpus: float = 2.0
    processes: int = 512
    disk: int = 256 * MIB
    """Bytes of `/tmp` and `/run`; the rest is read-only."""
    writable: bool = False
    """Whether the image's own files may be changed, in a copy that goes with the container."""
    network: Literal["none", "open"] = "none"
    """`open`: the engine's network, with a port on loopback; servers that fetch things need it."""
    port: int = 8000
    """Where the server listens inside."""
    variables: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    engine: Literal["podman", "docker"] | None = None
    """None: the first that has the image."""

    def __post_init__(self) -> None:
        for name in ("memory", "cpus", "processes", "disk", "port"):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InvalidArgument(f"image policy {name}: expected a number above 0, got {shorten(value)}")
        if self.network not in ("none", "open"):
            raise InvalidArgument(f"image policy network: expected 'none' or 'open', got {shorten(self.network)}")
