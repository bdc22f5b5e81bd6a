"""Randomness of environments at a server: the stream lives there, and here its seed is known."""

from typing import Any

from ludus.errors import EnvError, shorten
from ludus.seeding import derived_stream, np_random

__all__ = ["Elsewhere"]


class Elsewhere:
    """What an environment whose generator is at a server says about it."""

    _remote: Any
    _streams: Any

    @property
    def np_random(self) -> Any:
        """Refused: the generator is at the server."""
        raise EnvError(
            "np_random: expected np_random_seed or stream(name), got the generator, which lives at the server"
        )

    @np_random.setter
    def np_random(self, value: Any) -> None:
        raise EnvError(f"np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel")

    @property
    def np_random_seed(self) -> Any:
        """The seed of the environment's stream, or of each lane's; -1 where the server chose one."""
        seed = self._remote.seed
        return tuple(map(_told, seed)) if isinstance(seed, tuple) else _told(seed)

    def stream(self, name: str) -> Any:
        """The stream called `name`, derived from the environment's seed; it is this side's. Of a batch, one a lane."""
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            seed = self._remote.seed
            self._streams[name] = (
                tuple(_stream(one, name) for one in seed) if isinstance(seed, tuple) else _stream(seed, name)
            )
        return self._streams[name]


def _told(seed: int | None) -> int:
    return -1 if seed is None else seed


def _stream(seed: int | None, name: str) -> Any:
    return derived_stream(np_random(seed)[0], name)
