"""`shake_hands`: the first message of a connection, which opens a session or goes on with one."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Protocol

from ludus.core import EnvSpec, VectorEnv
from ludus.errors import CodecError, InvalidArgument, InvalidSpec, SessionLost
from ludus.server.access import Principal
from ludus.server.server import Server
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict
from ludus.wire import decode_value, encode_value, write_space
from ludus.wire.compression import Compression
from ludus.wire.messages import PROTOCOL, HelloRequest, WelcomeReply, read_asked

__all__ = ["Handshake", "shake_hands"]

HELLO_DEADLINE_S = 30.0
"""Seconds for a connection to say hello."""


class MessageReader(Protocol):
    """A connection, as far as its beginning needs it."""

    def receive(self) -> Coroutine[object, object, bytes | None]:
        """The next message; None at the end of the connection."""
        ...


class Handshake:
    """A session that was opened or found, and what the connection agreed on."""

    def __init__(
        self, server: Server, session: Session, hello: HelloRequest, first: "asyncio.Task[bytes | None]"
    ) -> None:
        self.session, self.hello, self.compression = session, hello, Compression(hello.compression)
        self.first = first
        """The message after the hello, which is waited for already."""
        self._limits = server.config.limits

    def welcome(self, principal: Principal) -> WelcomeReply:
        """What the client is sent."""
        session = self.session
        served, hosted, limits = session.served, session.hosted, self._limits
        if hosted is None:
            raise SessionLost(f"session {session.id[:8]}…: expected one that is there, got none: {session.lost}")
        env = hosted.env
        mode = env.autoreset_mode.value if isinstance(env, VectorEnv) else ""
        description = served.description()
        own = {**env.metadata, "autoreset_mode": mode} if mode else dict(env.metadata)
        return WelcomeReply(
            PROTOCOL,
            session.id,
            served.name,
            session.lanes,
            mode,
            write_space(hosted.space),
            write_space(hosted.action_space),
            encode_value(own, "metadata") if session.arguments else description.metadata,
            env.render_mode,
            description.name,
            _spec(served.spec),
            session.dialogue.begun,
            principal.role,
            {"size": limits.size, "depth": limits.depth, "items": limits.items},
            self.compression.method,
        )


async def shake_hands(server: Server, link: MessageReader, principal: Principal) -> Handshake | None:
    """Read the hello, and open or find its session; None where the connection ends before there is one."""
    try:
        async with asyncio.timeout(HELLO_DEADLINE_S):
            data = await link.receive()
    except TimeoutError:
        return None
    if data is None:
        return None
    hello = _hello(data, server)
    Compression(hello.compression)  # refused before there is a session
    first: asyncio.Task[bytes | None] = asyncio.get_running_loop().create_task(link.receive())
    try:
        session = await _session(server, principal, hello, first)
        if session is not None:
            return Handshake(server, session, hello, first)
    except BaseException:
        await _cancelled(first)
        raise
    return None


def _hello(data: bytes, server: Server) -> HelloRequest:
    numbered = read_asked(data, server.config.limits)
    hello = numbered.request
    if numbered.number or not isinstance(hello, HelloRequest):
        raise CodecError("session: expected a hello under number 0 first, got another message")
    if hello.protocol != PROTOCOL:
        raise CodecError(f"session: expected protocol {PROTOCOL}, got {hello.protocol}")
    return hello


async def _session(
    server: Server, principal: Principal, hello: HelloRequest, first: "asyncio.Task[bytes | None]"
) -> Session | None:
    if hello.session:
        principal.need("step", "go on with a session")
        return server.sessions.find(hello.session)
    opening = asyncio.get_running_loop().create_task(_opened(server, principal, hello))
    try:
        await asyncio.wait((opening, first), return_when=asyncio.FIRST_COMPLETED)
        if not opening.done() and first.done() and first.result() is None:
            await _cancelled(opening)  # the client is gone: nobody will ever know its id
            if not opening.done() or opening.cancelled():
                return None
        session = await opening
    except BaseException:
        await _cancelled(opening)
        raise
    if first.done() and first.result() is None:
        await server.sessions.close(session, "its connection ended before it began")
        return None
    return session


async def _opened(server: Server, principal: Principal, hello: HelloRequest) -> Session:
    return await server.sessions.open(
        hello.env,
        principal,
        lanes=hello.lanes,
        autoreset_mode=hello.autoreset_mode,
        arguments=_arguments(hello),
        planned=hello.planned,
    )


async def _cancelled(task: "asyncio.Task[Session] | asyncio.Task[bytes | None]") -> None:
    task.cancel()
    with suppress(BaseException):
        await task


def _arguments(hello: HelloRequest) -> dict[str, object]:
    found: object = decode_value(hello.arguments, "arguments")
    if not is_dict(found) or not all(isinstance(name, str) for name in found):
        raise InvalidArgument("arguments: expected them by name, got another value")
    return found


def _spec(spec: EnvSpec) -> str:
    if not isinstance(spec.entry_point, str):
        return ""
    try:
        return spec.to_json()
    except (InvalidSpec, TypeError, ValueError):  # arguments that are no data
        return ""
