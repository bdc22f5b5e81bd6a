"""`serve_connection`: one connection that speaks the wire, over any link, from its hello to its end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from time import monotonic
from typing import Protocol, runtime_checkable

from ludus.errors import CodecError, InvalidArgument, SessionTaken
from ludus.remote.host import EnvHost
from ludus.server.access import Principal
from ludus.server.direct import DirectTransport
from ludus.server.failures import error_reply
from ludus.server.handshake import Handshake, shake_hands
from ludus.server.rate import Bucket
from ludus.server.server import Server
from ludus.server.watchdog import SLOW_STEP_S
from ludus.wire.dialogue import RequestVerdict
from ludus.wire.messages import (
    BatchResetRequest,
    BatchStepRequest,
    CancelRequest,
    CloseRequest,
    DoneReply,
    FailedReply,
    ForkReply,
    ForkRequest,
    NetworkReply,
    NumberedReply,
    NumberedRequest,
    RenderRequest,
    ResetRequest,
    RestoreRequest,
    SnapshotRequest,
    StateRequest,
    StepRequest,
    read_asked,
    write_message,
)

__all__ = ["ServerTransport", "serve_connection"]

STEP_REQUESTS = (StepRequest, BatchStepRequest)
ORDINARY = {
    *(ResetRequest, BatchResetRequest, RenderRequest),
    *(SnapshotRequest, RestoreRequest, StateRequest),
}
"""What the environment alone answers, beside steps."""
MIN_POLLED_DEADLINE_S = 10 * SLOW_STEP_S
"""Seconds: a shorter time for a request is kept by a timer of the event loop."""
CANCELLED = "Cancelled"
MESSAGES_PER_TURN = 32
"""Messages of one connection, after which others have their turn, though more of them wait."""
RATION_MESSAGES = 64
"""Messages that a thread may take before it asks again whether they come too fast."""
LARGE_MESSAGE_BYTES = 1 << 16
"""Bytes from which on a message is taken apart in a thread: thousands of values would keep everybody waiting."""


class ServerTransport(Protocol):
    """A connection that carries whole messages."""

    @property
    def direct(self) -> DirectTransport | None:
        """What lets a thread read it for a while; None: nothing does."""
        ...

    async def receive(self) -> bytes | None:
        """The next message; None at the end of the connection."""
        ...

    async def send(self, data: bytes) -> None:
        """Send a message; OSError where the connection is gone."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


async def serve_connection(server: Server, link: ServerTransport, principal: Principal) -> None:
    """Serve a connection until it ends, and close it; its session outlives it, unless it was closed by word."""
    try:
        handshake = await shake_hands(server, link, principal)
        if handshake is not None:
            await Connection(server, link, principal, handshake).run()
    except Exception as error:  # whatever a constructor raises is reported, and ends this connection alone
        server.metrics.count("errors", kind=type(error).__name__)
        with suppress(OSError):
            await link.send(write_message(NumberedReply(0, error_reply(error, trace=principal.may("run")))))
    finally:
        with suppress(OSError):
            await link.close()


@runtime_checkable
class Closable(Protocol):
    """Whoever is connected to a session, by any protocol."""

    def close(self) -> object:
        """End it; what is awaitable is awaited."""
        ...


class Connection:
    """A connection that has its session."""

    def __init__(self, server: Server, link: ServerTransport, principal: Principal, handshake: Handshake) -> None:
        self.server, self.link, self.principal, self.session = server, link, principal, handshake.session
        self.limits, self.compression = server.config.limits, handshake.compression
        self._compressed = self.compression.method != "none"
        self._handshake = handshake
        self._ready = False
        """Whether its welcome is sent: replies come after it."""
        self._waits = False
        """Whether it has no message that is not carried out, but waits for the next."""
        self._steps, self._runs = principal.may("step"), principal.may("run")
        self._bucket = Bucket(server.config.rate)
        self._ration = max(1, min(RATION_MESSAGES, int(server.config.rate / 10)))
        kinds = {*(STEP_REQUESTS if self._steps else ()), *(ORDINARY if self._runs else ())}
        self._accept: Callable[[bytes], NumberedRequest | None] = partial(
            self.session.dialogue.accept,
            limits=self.limits,
            kinds=frozenset(kinds),
            least_seconds=MIN_POLLED_DEADLINE_S,
        )
        self.accept = self._unpacked if self._compressed else self._accept
        """In the session's thread: an ordinary request, which begins; None leaves the message to the event loop."""

    async def run(self) -> None:
        """Read requests and carry them out, until the connection ends or another one takes the session over."""
        session, link, take = self.session, self.link, self._bucket.take
        count = 0
        try:
            await self._begin()
            data = await self._handshake.first
            while data is not None and session.connection is self:
                pause, count = take(), count + 1
                if pause or not count % MESSAGES_PER_TURN:
                    await asyncio.sleep(pause)
                await self._take(data)
                if session.lost is not None:
                    break
                self._waits = True
                data = await link.receive()
                self._waits = False
        finally:
            await self._end()

    async def _begin(self) -> None:
        """Take the session over from an older connection, where that may be, and say welcome."""
        session, hello = self.session, self._handshake.hello
        session.admit(hello.client, takeover=hello.takeover)
        older = session.connection
        session.connection, session.was_connected = self, True
        await session.recall()
        if session.connection is not self:
            raise SessionTaken(f"session {session.id[:8]}…: expected to drive it, got that another client came at once")
        session.drive(hello.client)
        welcome = write_message(NumberedReply(0, self._handshake.welcome(self.principal)))
        if isinstance(older, Closable):
            closing = older.close()
            if isawaitable(closing):
                await closing
        await self._send(welcome)
        self._ready = True

    async def _end(self) -> None:
        session = self.session
        self._handshake.first.cancel()
        if session.connection is self:
            session.connection = None
            session.touch()
            await session.recall()

    async def close(self) -> None:
        """End the connection, if it is still there: another one has taken the session over."""
        with suppress(OSError):
            await self.link.close()

    # --- requests ---

    async def _take(self, data: bytes) -> None:
        try:
            if len(data) < LARGE_MESSAGE_BYTES:
                numbered = read_asked(self.compression.unpack(data, self.limits), self.limits)
            else:
                numbered = await asyncio.get_running_loop().run_in_executor(None, self._read, data)
        except CodecError as error:
            await self._send(write_message(NumberedReply(0, error_reply(error))))
            return
        number, session = numbered.number, self.session
        if number == 0:
            await self._out_of_order(numbered)
            return
        verdict = session.dialogue.judge(number)
        if verdict is RequestVerdict.RUN:
            session.dialogue.begin(number, numbered.received)
            carrying = self._carry_out(numbered, self._answer(numbered))
            if type(numbered.request) is CloseRequest or session.lost is not None:
                await carrying  # the connection ends after it
            else:
                self._start(carrying)
        elif number <= session.since:
            await self._send(write_message(NumberedReply(number, self._refused(number))))
        elif verdict is not RequestVerdict.WAIT:
            await self._send(self._repeated(number, verdict))

    def _start(self, carrying: Coroutine[object, object, None]) -> None:
        tasks, task = self.session.tasks, asyncio.get_running_loop().create_task(carrying)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _refused(self, number: int) -> FailedReply:
        """Another client asked that, before this one came."""
        message = f"request {number}: expected one from {self.session.since + 1} on, got one of another client"
        return FailedReply("SessionTaken", message)

    def _read(self, data: bytes) -> NumberedRequest:
        return read_asked(self.compression.unpack(data, self.limits), self.limits)

    async def _out_of_order(self, numbered: NumberedRequest) -> None:
        if isinstance(numbered.request, CancelRequest):
            if self._steps:
                self.session.cancel(numbered.request.number)
            return
        await self._send(
            write_message(NumberedReply(0, FailedReply("CodecError", "session: expected a number from 1 on")))
        )

    def _repeated(self, number: int, verdict: RequestVerdict) -> bytes:
        dialogue = self.session.dialogue
        if verdict is RequestVerdict.REFUSE:
            return write_message(NumberedReply(number, FailedReply("CodecError", dialogue.refusal(number))))
        if dialogue.is_restricted(number) and not self._runs:
            message = f"request {number}: expected a role with the right to run, got {self.principal.role}"
            return write_message(NumberedReply(number, FailedReply("AccessDenied", message)))
        return dialogue.reply(number)

    # --- carrying them out ---

    async def _carry_out(
        self, numbered: NumberedRequest, answering: Awaitable[NetworkReply], begun: float | None = None
    ) -> None:
        """Do it, keep the reply, and send it to the client that is connected by then."""
        begun = monotonic() if begun is None else begun
        try:
            reply: NetworkReply = await answering
        except Exception as error:
            reply = self.fail(error)
        data = self._finished(numbered, reply, begun)
        connection = self.session.connection
        if numbered.request.__class__ is CloseRequest:
            connection = self
        if isinstance(connection, Connection):
            await connection.deliver(numbered.number, data)
            if monotonic() - begun < SLOW_STEP_S:
                connection.plan_direct()

    async def deliver(self, number: int, data: bytes) -> None:
        """Send a reply, if this connection may have it; before its welcome nothing is sent: it will ask again."""
        own = self._ready and number > self.session.since
        if own and (self._runs or not self.session.dialogue.is_restricted(number)):
            await self._send(data)

    def _finished(self, numbered: NumberedRequest, reply: NetworkReply, begun: float) -> bytes:
        number, session = numbered.number, self.session
        steps = numbered.request.__class__ in STEP_REQUESTS
        data = self._bytes(number, reply)
        is_public = steps and not (type(reply) is FailedReply and reply.trace)
        if session.cancelled:
            session.cancelled.discard(number)
        if steps:
            session.meter.add(session.lanes or 1, monotonic() - begun)
        session.dialogue.finish(number, data, restricted=self._runs and not is_public)
        return data

    def _bytes(self, number: int, reply: NetworkReply) -> bytes:
        """A reply as a message; one that the client would not take is an error instead."""
        try:
            data = write_message(NumberedReply(number, reply))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            return write_message(NumberedReply(number, self.fail(CodecError(f"reply: expected plain data: {error}"))))
        if len(data) > self.limits.size:
            message = (
                f"reply: expected at most {self.limits.size} bytes, got {len(data)}; it was carried out all the same"
            )
            return write_message(NumberedReply(number, FailedReply("CodecError", message)))
        return data

    def fail(self, error: BaseException) -> FailedReply:
        """The reply that reports an error; it is counted."""
        self.server.metrics.count("errors", env=self.session.served.name, kind=type(error).__name__)
        return error_reply(error, trace=self._runs)

    async def _answer(self, numbered: NumberedRequest) -> NetworkReply:
        request, session = numbered.request, self.session
        steps = isinstance(request, STEP_REQUESTS)
        self.principal.need("step" if steps else "run", type(request).__name__)
        if numbered.seconds is not None and not numbered.seconds > 0:
            raise InvalidArgument(f"seconds: expected a number above 0, got {numbered.seconds}")
        if isinstance(request, ForkRequest):
            twin = await self.server.sessions.fork(session, request.number, self.principal, lanes=request.lanes)
            return ForkReply(twin.id)
        if isinstance(request, CloseRequest):
            await self.server.sessions.close(session)
            return DoneReply()
        return await session.call(partial(self.perform, numbered), numbered.seconds, long=not steps)

    def perform(self, numbered: NumberedRequest, hosted: EnvHost) -> NetworkReply:
        """In the session's thread: carry it out, unless it was cancelled while it waited; errors are replies."""
        session, number = self.session, numbered.number
        if number in session.cancelled:
            return FailedReply(CANCELLED, f"request {number}: it was cancelled before it began")
        session.under_way = number
        try:
            return hosted.answer(numbered.request)
        except BaseException as error:
            return self.fail(error)
        finally:
            session.under_way = 0

    async def _send(self, data: bytes) -> None:
        with suppress(OSError):  # the end of the connection is seen where it is read
            await self.link.send(self.compression.pack(data))

    # --- without the event loop ---

    def plan_direct(self) -> None:
        """Have the session's thread read the connection, once what was written is sent."""
        if self.link.direct is not None:
            asyncio.get_running_loop().call_soon(self._go_direct)

    def _go_direct(self) -> None:
        link = self.link.direct
        if self._waits and link is not None and self.session.connection is self:
            self.session.go_direct(link, self)

    def _unpacked(self, data: bytes) -> NumberedRequest | None:
        try:
            return self._accept(self.compression.unpack(data, self.limits))
        except CodecError:
            return None

    def ration(self) -> int:
        """In the session's thread: how many messages may be taken before it is asked again."""
        if not self._bucket.take(self._ration):
            return self._ration
        self._bucket.take(-self._ration)
        return 0

    def finish(self, numbered: NumberedRequest, reply: NetworkReply, begun: float) -> bytes:
        """In the session's thread: the message to send."""
        self.session.used = monotonic()
        data = self._finished(numbered, reply, begun)
        return self.compression.pack(data) if self._compressed else data

    def take_over(self, numbered: NumberedRequest, running: "asyncio.Future[NetworkReply]", begun: float) -> None:
        """On the event loop: wait for what the thread is at, as for any other request."""
        granted = self.session.allowed_seconds(numbered.seconds, long=not isinstance(numbered.request, STEP_REQUESTS))
        self._start(self._carry_out(numbered, self.session.finish(running, granted, begun), begun))
