"""A small client of the wire, for tests: says what it is told to, and reads what comes."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.server.protocols.memory import LocalConnection, LocalServer
from ludus.wire import FrameLimits
from ludus.wire.compression import Compression
from ludus.wire.messages import (
    CancelRequest,
    FailedReply,
    HelloRequest,
    NumberedReply,
    NumberedRequest,
    ResetRequest,
    StepRequest,
    read_answered,
    write_message,
)
from tests.patience import PATIENCE_S as PATIENCE

LIMITS = FrameLimits()


class Caller:
    """A connection with the numbers of one session."""

    def __init__(self, connect: Callable[[], LocalConnection], **hello: Any) -> None:
        self.connection = connect()
        self.compression = Compression()
        self.heard: dict[int, Any] = {}
        self.client = hello.setdefault("client", secrets.token_hex(8))
        self.post(0, HelloRequest(**hello))
        self.welcome: Any = self.read().reply
        self.last = 0
        if type(self.welcome) is not FailedReply:
            self.last = self.welcome.last
            self.compression = Compression(self.welcome.compression)

    def again(self, connect: Callable[[], LocalConnection], **hello: Any) -> "Caller":
        """The same client over a new connection."""
        return Caller(connect, session=self.welcome.session, client=self.client, **hello)

    def post(self, number: int, request: Any, seconds: float | None = None, received: int = 0) -> None:
        message = write_message(NumberedRequest(number, request, seconds, received))
        self.connection.send(self.compression.pack(message))

    def read(self) -> NumberedReply:
        return read_answered(self.compression.unpack(self.connection.receive(PATIENCE), LIMITS), LIMITS)

    def begin(self, request: Any, seconds: float | None = None) -> int:
        """Send under the next number."""
        self.last += 1
        self.post(self.last, request, seconds)
        return self.last

    def reply(self, number: int) -> Any:
        """The reply to a number, whatever else comes first."""
        while number not in self.heard:
            answered = self.read()
            self.heard[answered.number] = answered.reply
        return self.heard.pop(number)

    def ask(self, request: Any, seconds: float | None = None) -> Any:
        return self.reply(self.begin(request, seconds))

    def step(self, action: Any, seconds: float | None = None) -> Any:
        return self.ask(StepRequest(action), seconds)

    def reset(self, seed: Any = 0, options: Any = None) -> Any:
        return self.ask(ResetRequest(seed, options))

    def cancel(self, number: int) -> None:
        self.post(0, CancelRequest(number))

    def drop(self) -> None:
        """Lose the connection."""
        self.connection.close()


def wait_until(local: LocalServer, condition: Callable[[], bool]) -> None:
    """Wait until something is so in the server's event loop."""

    async def wait() -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.001)

    local.run(wait())


def sessions(local: LocalServer) -> int:
    return len(local.server.sessions.infos())


def same(a: Any, b: Any) -> None:
    """Equal, type for type, in dictionaries and columns of objects too."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, np.ndarray) and a.dtype == object:
        for one, other in zip(a, b, strict=True):
            same(one, other)
    else:
        np.testing.assert_equal(a, b)
