"""`WireSession`: a client's end of a session, without I/O: hello, numbered requests, and lost connections.

Its methods are flows. A request is sent once, and again only on a new connection: the server carries out each number
once, so that nothing is repeated and nothing is lost.
"""

from contextlib import suppress
from itertools import count
from secrets import token_urlsafe
from time import monotonic
from typing import Protocol, TypeVar

import msgspec

from ludus.client.flow import Flow, TransportCall
from ludus.errors import (
    ChannelError,
    ClosedEnvironment,
    CodecError,
    ConnectionLost,
    InvalidArgument,
    LudusError,
    ServerBusy,
    SessionLost,
    shorten,
)
from ludus.wire import FrameLimits
from ludus.wire.compression import Compression
from ludus.wire.dialogue import ClientDialogue
from ludus.wire.failures import clean, read_failure
from ludus.wire.messages import (
    PROTOCOL,
    CancelRequest,
    CloseRequest,
    DoneReply,
    FailedReply,
    HelloRequest,
    NetworkRequest,
    NumberedRequest,
    WelcomeReply,
    read_answered,
    write_message,
)

__all__ = ["FIRST_PAUSE_S", "LONGEST_PAUSE_S", "ClientSession", "SessionTerms", "WireSession", "lost", "marked"]

ReplyT = TypeVar("ReplyT")
ErrorT = TypeVar("ErrorT", bound=LudusError)
PATH = "/v1/ws"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 2.0
"""Between two connections, one after another, without an answer in between."""
HELLOS, HELLO_PAUSE_S = 3, 0.1
"""How often a server is greeted whose connection ends at once, and the pause in between."""
CLOSE_DEADLINE_S = 5.0
"""For a server to close the session."""
THERE = "at the server"
LIMITS = FrameLimits(size=1 << 28, items=1 << 24)
MAX_LANES = 1 << 20
"""Of a session that is gone on with, which alone knows how many it has."""


class SessionTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How a client uses a server."""

    where: str
    """The address, for messages."""
    timeout: float = 120.0
    """Seconds for a request, new connections included."""
    deadline: float | None = None
    """Seconds that the server gives a request, where they are fewer than its own."""

    def __post_init__(self) -> None:
        for name in ("timeout", "deadline"):
            value: object = getattr(self, name)
            if value is None and name == "deadline":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
                raise InvalidArgument(f"{name}: expected seconds above 0, got {shorten(value)}")


class ClientSession(Protocol):
    """A session at a server of whichever kind, as environments use it."""

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        ...

    @property
    def dropped(self) -> list[int]:
        """Snapshots that nobody holds any more."""
        ...

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        ...

    @property
    def id(self) -> str:
        """The session's id, which is a secret; empty where it goes with its connection."""
        ...

    @property
    def alive(self) -> bool:
        """Whether the session is there, as far as is known."""
        ...

    def ask(self, request: NetworkRequest, kind: type[ReplyT], /) -> Flow[ReplyT]:
        """The reply to a request; the error that the server names."""
        ...

    def reopen(self) -> Flow[str]:
        """Open another session in place of one that was lost; why that was."""
        ...

    def close(self) -> Flow[None]:
        """Have the session closed; harmless twice."""
        ...


class WireSession:
    """One session at a server, whatever connections come and go."""

    def __init__(self, terms: SessionTerms, hello: HelloRequest) -> None:
        self.terms, self._hello = terms, hello
        self.welcome: WelcomeReply | None = None
        self.name = hello.env or "the environment"
        self.closed = False
        self.dropped: list[int] = []
        """Snapshots that nobody holds any more."""
        self.resumed = 0
        """How often a new connection took the place of a lost one."""
        self.lost = ""
        """Why the session is not there any more; `reopen` begins another one."""
        self._lost_kind: type[SessionLost] = SessionLost
        self._client = token_urlsafe(12)
        """Who we are: the same client may always come back to its session."""
        self._dialogue = ClientDialogue()
        self._size = LIMITS.size
        self._compression: Compression | None = None
        """None: messages travel as they are."""

    @property
    def id(self) -> str:
        """The session's id, which is a secret: whoever has it may use the session."""
        return "" if self.welcome is None else self.welcome.session

    @property
    def env(self) -> str:
        """The name of the environment among those of its server."""
        return "" if self.welcome is None else self.welcome.env

    # --- beginning ---

    def open(self) -> Flow[WelcomeReply]:
        """Connect and open the session; a server that is busy is asked again when it says, within the time there is."""
        ends, tries = monotonic() + self.terms.timeout, 0
        while True:
            try:
                welcome = yield from self._greet(self._hello, ends)
            except OSError as error:
                yield TransportCall("close")
                tries += 1
                if self._tries_again(error, tries, ends):
                    pause = HELLO_PAUSE_S if not self.lost else min(FIRST_PAUSE_S * 2**tries, LONGEST_PAUSE_S)
                    yield TransportCall("pause", (pause,))
                    continue
                raise lost(self.terms.where, error, "is it running? start one with `ludus serve ID`") from error
            except ServerBusy as busy:
                yield TransportCall("close")
                if monotonic() + busy.retry_after >= ends:
                    raise
                yield TransportCall("pause", (busy.retry_after,))
            except LudusError:
                yield TransportCall("close")
                raise
            else:
                return self._begin(welcome)

    def _tries_again(self, error: OSError, tries: int, ends: float) -> bool:
        """A server that is there for the first time is not waited for; one that there was, for as long as one may."""
        if self.lost:
            return monotonic() + LONGEST_PAUSE_S < ends
        return isinstance(error, ConnectionResetError) and tries < HELLOS  # a process of its may just have died

    def reopen(self) -> Flow[str]:
        """Open another session in place of the one that was lost; why that was."""
        why = self.lost
        if self.closed:
            raise self._closed_error()
        if self._hello.session:
            raise marked(
                SessionLost(f"{self.name}: expected the session that was there before us, got none: {why}"), True
            )
        self.dropped.clear()
        yield from self.open()
        self.lost = ""
        return why

    @property
    def alive(self) -> bool:
        """Whether the session is there, as far as is known."""
        return not self.lost and not self.closed

    def _closed_error(self) -> ClosedEnvironment:
        return ClosedEnvironment(f"{self.name}: expected an open environment, got a closed one; connect again")

    def _failure(self, reply: FailedReply) -> LudusError:
        """The error that the server tells; where the session is gone, that is remembered."""
        error = read_failure(reply, self.name, THERE)
        if isinstance(error, SessionLost):
            self.lost, self._lost_kind = str(error), type(error)
        return error

    def _begin(self, welcome: WelcomeReply) -> WelcomeReply:
        self.welcome, self._dialogue = welcome, ClientDialogue()
        self._dialogue.last = welcome.last
        self._compression = Compression(welcome.compression) if welcome.compression != "none" else None
        self._size = min(LIMITS.size, max(1, welcome.limits.get("size", LIMITS.size)))
        self.name = "".join(char for char in welcome.name if char.isprintable())[:80] or "the environment"
        return welcome

    def _greet(self, hello: HelloRequest, ends: float) -> Flow[WelcomeReply]:
        """Connect, and say hello; neither that nor the answer is compressed."""
        yield TransportCall("open", (PATH, False, _left(ends)))
        hello.client = self._client
        payload = yield TransportCall("exchange", (write_message(NumberedRequest(0, hello)), _left(ends)))
        try:
            reply = read_answered(payload, LIMITS).reply
        except CodecError as error:
            raise ChannelError(f"{self.terms.where}: {error}") from error
        if type(reply) is FailedReply:
            raise self._failure(reply)
        if type(reply) is not WelcomeReply or reply.protocol != PROTOCOL:
            raise ChannelError(f"{self.terms.where}: expected a welcome of protocol {PROTOCOL}, got another")
        if not 0 <= reply.lanes <= MAX_LANES if hello.session else reply.lanes != hello.lanes:
            expected = f"at most {MAX_LANES:,}" if hello.session else hello.lanes
            raise ChannelError(f"{self.terms.where}: expected {expected} lanes, got {reply.lanes}")
        return reply

    # --- requests ---

    def ask(self, request: NetworkRequest, kind: type[ReplyT], timeout: float | None = None) -> Flow[ReplyT]:
        """The reply to a request; the error that the server names; ConnectionLost where it cannot be had in time."""
        seconds = timeout or self.terms.timeout
        number, data = self.number(request)
        ends = monotonic() + seconds
        try:
            payload = yield TransportCall("exchange", (data, seconds))
        except OSError as error:
            return (yield from self.wait(number, kind, ends, error))
        reply = self.reply(payload, number, kind)
        return reply if reply is not None else (yield from self.wait(number, kind, ends))

    def wait(self, number: int, kind: type[ReplyT], ends: float, error: OSError | None = None) -> Flow[ReplyT]:
        """The reply to a request that is sent; over a new connection where one was lost by `error`."""
        while True:
            try:
                if error is not None:
                    payload = yield from self._again(error, ends)
                else:
                    payload = yield TransportCall("receive", (_left(ends),))
            except OSError as newer:
                error = newer
                continue
            error = None
            reply = self.reply(payload, number, kind)
            if reply is not None:
                return reply

    # The two halves of a request that goes well, for who exchanges messages without a flow: every step is one.

    def number(self, request: NetworkRequest) -> tuple[int, bytes]:
        """The next number, and the message under it; a request that is too large takes no number."""
        if self.closed or self.lost or self.welcome is None:
            raise self._absent()
        dialogue, deadline = self._dialogue, self.terms.deadline
        number = dialogue.last + 1
        if dialogue.open:
            numbered = dialogue.ask(request, deadline)
        else:  # what `ask` does, without a call: all that was asked before is answered
            numbered = dialogue.open[number] = NumberedRequest(number, request, deadline, dialogue.last)
            dialogue.last = number
        data = write_message(numbered)
        if len(data) > self._size:
            dialogue.withdraw(numbered)
            raise InvalidArgument(f"{self.name}: expected a request of at most {self._size} bytes, got {len(data)}")
        return number, data if self._compression is None else self._compression.pack(data)

    def reply(self, payload: bytes, number: int, kind: type[ReplyT]) -> ReplyT | None:
        """The reply in what came, which is of that kind, or else the error that the server names.

        None where it is the reply to another request than that of the number, which is noted.
        """
        try:
            if self._compression is not None:
                payload = self._compression.unpack(payload, LIMITS)
            answered = read_answered(payload, LIMITS)
        except CodecError as error:
            raise ChannelError(f"{self.terms.where}: {error}") from error
        reply = answered.reply
        if answered.number == 0:
            raise self._unexpected(reply, "the reply to a request")
        if self._dialogue.take(answered) is None or answered.number != number:
            return None
        if type(reply) is kind:
            return reply
        raise self._unexpected(reply, f"a {kind.__name__}")

    def _absent(self) -> LudusError:
        if self.closed or not self.lost:
            return self._closed_error()
        return marked(self._lost_kind(f"{self.lost}; reset() opens another session"), True)

    def _unexpected(self, reply: object, expected: str) -> LudusError:
        if type(reply) is FailedReply:
            return self._failure(reply)
        return ChannelError(f"{self.name}: expected {expected}, got a {type(reply).__name__}")

    # --- lost connections ---

    def _again(self, error: OSError, ends: float) -> Flow[bytes]:
        """Connect anew, go on with the session, and send again what was not answered; the first message that comes.

        That is tried for as long as the request may take.
        """
        for attempt in count():
            if isinstance(error, TimeoutError):
                yield from self._give_up(error)
            yield TransportCall("close")
            pause = min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S) if attempt else 0.0
            if monotonic() + pause >= ends:
                break
            if pause:
                yield TransportCall("pause", (pause,))
            try:
                yield from self._greet(self._hello_again(self.id), ends)
                self.resumed += 1
                for numbered in self._dialogue.unanswered:
                    data = write_message(numbered)
                    yield TransportCall("send", (data if self._compression is None else self._compression.pack(data),))
                return (yield TransportCall("receive", (_left(ends),)))
            except OSError as newer:
                error = newer
        raise lost(self.terms.where, error, "the session is kept there for a while: try again") from error

    def _hello_again(self, session: str) -> HelloRequest:
        """What is said at the beginning of another connection."""
        return HelloRequest(session=session, compression=self._hello.compression)

    def _give_up(self, error: OSError) -> Flow[None]:
        """Too late: the server need not go on with it, and whatever it answers is not waited for."""
        number = self._dialogue.last
        with suppress(OSError):  # it hears of it by the end of the connection, then
            yield TransportCall("send", (write_message(NumberedRequest(0, CancelRequest(number))),))
        message = f"{self.name}: expected an answer within {self.terms.timeout:g} seconds, got none; it was cancelled"
        raise marked(ConnectionLost(message), True) from error

    # --- the end ---

    def attach(self, session: str) -> Flow[WelcomeReply]:
        """Go on with another session from now on; the one that there was is closed."""
        yield from self.close()
        self.closed, self.lost = False, ""
        self._hello = self._hello_again(session)
        return (yield from self.open())

    def close(self) -> Flow[None]:
        """Have the session closed at the server, and end the connection; harmless twice, and where both are gone."""
        if not self.closed:
            try:
                if self.welcome is not None and not self.lost:
                    yield from self.ask(CloseRequest(), DoneReply, min(CLOSE_DEADLINE_S, self.terms.timeout))
            except LudusError:
                pass  # it is gone, or not ours to close: then its server closes it when nobody uses it
            finally:
                self.closed = True
        yield TransportCall("close")


def lost(where: object, error: BaseException, todo: str = "") -> ConnectionLost:
    """The error for a server that cannot be reached."""
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    found = ConnectionLost(f"{where}: expected a server that answers, got {clean(reason, 300)}{todo and '; '}{todo}")
    return marked(found, True)


def marked(error: ErrorT, infrastructure: bool) -> ErrorT:
    """The error, with word of whose fault it was."""
    setattr(error, "infrastructure", infrastructure)  # noqa: B010  (errors of any class carry it)
    return error


def _left(ends: float) -> float:
    return max(ends - monotonic(), 0.001)
