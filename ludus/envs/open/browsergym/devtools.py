"""`DevTools`: Chromium's own protocol over one pipe. Calls wait for their answer, events go to subscribers."""

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count

import msgspec

from ludus.envs.open.browsergym.patience import Patience
from ludus.errors import ChannelError, shorten
from ludus.spaces.kinds import is_dict

__all__ = ["DevTools", "ProtocolError", "Reply", "part"]

CHUNK_BYTES = 1 << 18
MAX_MESSAGE_BYTES = 256 << 20
"""Bytes of one message; what is more is no page that anybody could use."""

Event = dict[str, object]


class ProtocolError(Exception):
    """The browser refused a call, or did not answer it in time."""


def part(fields: Mapping[str, object], name: str) -> dict[str, object]:
    """What a field of a message holds, where that is fields again; ProtocolError where it is not."""
    found = fields.get(name)
    if not is_dict(found):
        raise ProtocolError(f"expected fields as {name}, got {shorten(found, 100)}")
    return found


class Reply:
    """An answer under way."""

    def __init__(self, method: str, patience: Patience, session: str = "") -> None:
        self.method, self.session, self._patience = method, session, patience
        self._there = threading.Event()
        self._message: Event = {}

    @property
    def done(self) -> bool:
        """Whether it has come."""
        return self._there.is_set()

    def result(self, seconds: float) -> Event:
        """Wait for it; ProtocolError where it is an error, or late though the browser could run."""
        if not self._patience.wait(self._there.wait, seconds):
            raise ProtocolError(f"{self.method}: no answer within {seconds:g} s")
        if "error" in self._message:
            raise ProtocolError(f"{self.method}: {part(self._message, 'error').get('message', 'refused')}")
        return part(self._message, "result") if "result" in self._message else {}

    def fulfil(self, message: Event) -> None:
        """Hand the answer over."""
        self._message = message
        self._there.set()


class DevTools:
    """One connection to a browser. Any thread may call; events come from the reading thread, one after the other."""

    def __init__(self, channel: socket.socket, patience: Patience) -> None:
        self._channel, self.patience = channel, patience
        self._sending = threading.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, Reply] = {}
        self._listeners: dict[str, Callable[[str, Event], None]] = {}
        self.lost: str | None = None
        threading.Thread(target=self._read, name="ludus-browser", daemon=True).start()

    def subscribe(self, session: str, listener: Callable[[str, Event], None]) -> None:
        """Tell `listener` the method and parameters of each event of a session; "" is the browser's own."""
        self._listeners[session] = listener

    def unsubscribe(self, session: str) -> None:
        """Tell nobody any more."""
        self._listeners.pop(session, None)

    def forget(self, session: str) -> None:
        """Wait for no answer of a session that is disposed of: the browser gives none."""
        self._end_all(lambda reply: reply.session == session, "the page was closed")

    @property
    def unanswered(self) -> list[str]:
        """Methods of calls whose answer has not come."""
        return [reply.method for reply in list(self._waiting.values())]

    def post(self, method: str, params: Mapping[str, object] | None = None, session: str = "") -> Reply:
        """Send a call without waiting; those of one session are answered in order."""
        number, reply = next(self._numbers), Reply(method, self.patience, session)
        message: dict[str, object] = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self._waiting[number] = reply
        if self.lost is not None:
            raise ChannelError(f"browser: expected one that runs, got: {self.lost}")
        try:
            with self._sending:
                self._channel.sendall(msgspec.json.encode(message) + b"\0")
        except OSError as error:
            self._fail(error.strerror or "nobody listens")  # at once: a reset that follows must not take it for alive
            raise ChannelError(f"browser: expected one that listens, got {error.strerror}") from None
        return reply

    def call(
        self, method: str, params: Mapping[str, object] | None = None, session: str = "", *, seconds: float = 30.0
    ) -> Event:
        """Send a call, and wait for what it gives."""
        return self.post(method, params, session).result(seconds)

    def close(self) -> None:
        """End the connection; harmless twice."""
        self._fail("it was closed")
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        self._channel.close()

    def _read(self) -> None:
        buffer = bytearray()
        try:
            while data := self._channel.recv(CHUNK_BYTES):
                buffer += data
                if data.find(b"\0") < 0:
                    if len(buffer) > MAX_MESSAGE_BYTES:
                        raise OSError(f"a message of more than {MAX_MESSAGE_BYTES} bytes")
                    continue
                *messages, rest = buffer.split(b"\0")
                buffer = bytearray(rest)
                for message in messages:
                    self._dispatch(msgspec.json.decode(message))
            self._fail("its process ended")
        except (OSError, msgspec.MsgspecError) as error:
            self._fail(shorten(str(error), 200))

    def _dispatch(self, message: Event) -> None:
        number = message.get("id")
        if isinstance(number, int):
            reply = self._waiting.pop(number, None)
            if reply is not None:
                reply.fulfil(message)
            return
        listener = self._listeners.get(str(message.get("sessionId", "")))
        if listener is not None:
            with suppress(ChannelError):  # an answer to an event of a browser that is going
                listener(str(message["method"]), part(message, "params") if "params" in message else {})

    def _fail(self, reason: str) -> None:
        if self.lost is None:
            self.lost = reason
        self._end_all(lambda _: True, f"the browser is gone ({self.lost})")

    def _end_all(self, selects: Callable[[Reply], bool], reason: str) -> None:
        for number, reply in list(self._waiting.items()):
            if selects(reply) and self._waiting.pop(number, None) is not None:
                reply.fulfil({"error": {"message": reason}})
