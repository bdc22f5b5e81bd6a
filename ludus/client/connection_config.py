"""`ConnectionConfig`: all that is needed to open a session, once or again: where, by whom, what, and on which terms."""

from collections.abc import Callable
from functools import partial

import msgspec

from ludus.client.access import ServerAccess
from ludus.client.flow import AsyncTransport, Opener, Transport
from ludus.client.session import SessionTerms, WireSession
from ludus.client.transport import CustomTransport, SocketTransport
from ludus.core import AutoresetMode, EnvSpec
from ludus.errors import ContractViolation, InvalidArgument, LudusError
from ludus.registry.resolution import foreign_spec
from ludus.remote.codec import BatchCodec, CodecOptions, EnvCodec
from ludus.spaces import Space
from ludus.spaces.kinds import is_list_or_tuple
from ludus.wire.messages import HelloRequest, WelcomeReply

__all__ = ["ConnectionConfig", "spec_of"]


def _nothing() -> None:
    """There is nothing to end."""


class ConnectionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions are opened."""

    way: ServerAccess | Opener
    """An address with its token, or a function that opens a transport."""
    hello: HelloRequest
    terms: SessionTerms
    end: Callable[[], None] = _nothing
    """What ends with the environment: the container that its server runs in, say."""
    models: tuple[type, ...] = ()
    """The caller's own classes for typed values."""
    spaces: tuple[type[Space[object]], ...] = ()
    """Custom space classes that may be built in this process."""

    @property
    def where(self) -> str:
        """The address, for messages."""
        return self.terms.where

    def line(self) -> Transport:
        """A line that blocks."""
        return SocketTransport(self.way) if isinstance(self.way, ServerAccess) else CustomTransport(self.way)

    def async_line(self) -> AsyncTransport:
        """A line of asyncio."""
        from ludus.client.async_transport import (  # asyncio is loaded for them
            AsyncCustomTransport,
            AsyncSocketTransport,
        )

        return AsyncSocketTransport(self.way) if isinstance(self.way, ServerAccess) else AsyncCustomTransport(self.way)

    def session(self) -> WireSession:
        """A session that is not opened yet."""
        return WireSession(self.terms, self.hello)

    def codec(self, welcome: WelcomeReply | None) -> EnvCodec:
        """How the values of a session's environment travel, or of its batch."""
        if welcome is None:
            raise ContractViolation(f"{self.where}: expected a welcome, got none")
        options = CodecOptions(known=self.spaces, models=self.models)
        if not welcome.lanes:
            codec = EnvCodec(welcome, **options)
        else:
            try:
                mode = AutoresetMode.of(welcome.autoreset_mode)
            except InvalidArgument as error:
                raise ContractViolation(f"{self.where}: {error}") from error
            codec = BatchCodec(welcome, welcome.lanes, mode, **options)
        # The window of a server is of no use here.
        modes: object = codec.metadata.get("render_modes", [])
        codec.metadata["render_modes"] = [mode for mode in modes if mode != "human"] if is_list_or_tuple(modes) else []
        return codec

    def forked(self, session: str) -> "ConnectionConfig":
        """The same for a session that is there already; what ends with this one does not end with it."""
        hello = HelloRequest(session=session, compression=self.hello.compression)
        return msgspec.structs.replace(self, hello=hello, end=partial(_nothing))


def spec_of(welcome: WelcomeReply | None) -> EnvSpec | None:
    """The spec that the server sent, where it is one: nothing is loaded by it, and what it names is made isolated."""
    text = "" if welcome is None else welcome.spec
    try:
        return foreign_spec(EnvSpec.from_json(text)) if text else None
    except LudusError:
        return None
