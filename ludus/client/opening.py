"""`Opening`: all that is needed to open a session, once or again: where, by whom, what, and on which terms."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from ludus.client.access import Access
from ludus.client.lines import SocketLine, TransportLine
from ludus.client.session import Terms, WireSession
from ludus.core.spec import load_entry_point
from ludus.wire.network import HelloRequest

__all__ = ["Opening"]

ASYNC_SOCKET = "ludus.client.async_lines:AsyncSocketLine"
ASYNC_TRANSPORT = "ludus.client.async_lines:AsyncTransportLine"
"""By name: asyncio costs as much to load as this whole room."""


def _nothing() -> None:
    """There is nothing to end."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions are opened."""

    way: Access | Callable[[], Any]
    """An address with its token, or a function that opens a transport."""
    hello: HelloRequest
    terms: Terms
    end: Callable[[], None] = _nothing
    """What ends with the environment: the container that its server runs in, say."""

    @property
    def where(self) -> str:
        """The address, for messages."""
        return self.terms.where

    def line(self) -> Any:
        """A line that blocks."""
        return SocketLine(self.way) if isinstance(self.way, Access) else TransportLine(self.way)

    def async_line(self) -> Any:
        """A line of asyncio."""
        if isinstance(self.way, Access):
            return load_entry_point(ASYNC_SOCKET)(self.way)
        return load_entry_point(ASYNC_TRANSPORT)(self.way)

    def session(self) -> WireSession:
        """A session that is not opened yet."""
        return WireSession(self.terms, self.hello)

    def forked(self, session: str) -> "Opening":
        """The same for a session that is there already; what ends with this one does not end with it."""
        hello = HelloRequest(session=session, pictures=self.hello.pictures, compression=self.hello.compression)
        return msgspec.structs.replace(self, hello=hello, end=partial(_nothing))
