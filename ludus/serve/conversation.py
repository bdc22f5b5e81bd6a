"""`converse`: one connection that speaks the wire, over any link, from its hello to its end."""

import asyncio
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from time import perf_counter
from typing import Any, Protocol

from ludus.errors import CodecError, InvalidArgument
from ludus.remote.host import EnvHost
from ludus.serve.access import Principal
from ludus.serve.failing import error_reply
from ludus.serve.greeting import Greeting, greet
from ludus.serve.rate import Bucket
from ludus.serve.server import Server
from ludus.wire.dialogue import Verdict
from ludus.wire.messages import (
    Answered,
    Asked,
    BatchStepRequest,
    CancelRequest,
    CloseRequest,
    DoneReply,
    FailedReply,
    ForkReply,
    ForkRequest,
    StepRequest,
    read_asked,
    write_message,
)

__all__ = ["Link", "converse"]

STEPS = (StepRequest, BatchStepRequest)
CANCELLED = "Cancelled"
TURN = 32
"""Messages of one connection, after which others have their turn, though more of them wait."""
LARGE = 1 << 16
"""Bytes from which on a message is taken apart in a thread: thousands of values would keep everybody waiting."""


class Link(Protocol):
    """A connection that carries whole messages."""

    async def receive(self) -> bytes | None:
        """The next message; None at the end of the connection."""
        ...

    async def send(self, data: bytes) -> None:
        """Send a message; OSError where the connection is gone."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


async def converse(server: Server, link: Link, principal: Principal) -> None:
    """Serve a connection until it ends, and close it; its session outlives it, unless it was closed by word."""
    try:
        greeting = await greet(server, link, principal)
        if greeting is not None:
            await Conversation(server, link, principal, greeting).run()
    except Exception as error:  # whatever a constructor raises is told, and ends this connection alone
        server.metrics.count("errors", kind=type(error).__name__)
        with suppress(OSError):
            await link.send(write_message(Answered(0, error_reply(error, trace=principal.may("run")))))
    finally:
        with suppress(OSError):
            await link.close()


class Conversation:
    """A connection that has its session."""

    def __init__(self, server: Server, link: Link, principal: Principal, greeting: Greeting) -> None:
        self.server, self.link, self.principal, self.session = server, link, principal, greeting.session
        self.limits, self.compression = server.settings.limits, greeting.compression
        self._greeting = greeting
        self._ready = False
        """Whether its welcome is sent: replies come after it."""
        self._steps, self._runs = principal.may("step"), principal.may("run")
        self._bucket = Bucket(server.settings.rate)

    async def run(self) -> None:
        """Read requests and carry them out, until the connection ends or another one takes the session over."""
        session, link, take = self.session, self.link, self._bucket.take
        count = 0
        try:
            await self._begin()
            data = await self._greeting.first
            while data is not None and session.connection is self:
                pause, count = take(), count + 1
                if pause or not count % TURN:
                    await asyncio.sleep(pause)
                await self._take(data)
                if session.lost is not None:
                    break
                data = await link.receive()
        finally:
            await self._end()

    async def _begin(self) -> None:
        """Take the session over from an older connection, and say welcome."""
        session = self.session
        welcome = write_message(Answered(0, self._greeting.welcome(self.principal)))
        older: Any = session.connection
        session.connection, session.was_connected = self, True
        if older is not None:
            closing = older.close()
            if isawaitable(closing):
                await closing
        await self._send(welcome)
        self._ready = True

    async def _end(self) -> None:
        session = self.session
        self._greeting.first.cancel()
        if session.connection is self:
            session.connection = None
            session.touch()

    async def close(self) -> None:
        """End the connection: another one has taken the session over."""
        await self.link.close()

    # --- requests ---

    async def _take(self, data: bytes) -> None:
        try:
            if len(data) < LARGE:
                asked = read_asked(self.compression.unpack(data, self.limits), self.limits)
            else:
                asked = await asyncio.get_running_loop().run_in_executor(None, self._read, data)
        except CodecError as error:
            await self._send(write_message(Answered(0, error_reply(error))))
            return
        number, session = asked.number, self.session
        if number == 0:
            await self._out_of_order(asked)
            return
        verdict = session.dialogue.judge(number)
        if verdict is Verdict.RUN:
            session.dialogue.begin(number, asked.received)
            kind = type(asked.request)
            if kind in STEPS and self._steps and session.is_quick(kind):
                await self._send(self._stepped(asked, kind))
            elif session.is_quick(kind) or kind is CloseRequest:
                await self._carry_out(asked)
            else:
                task = asyncio.get_running_loop().create_task(self._carry_out(asked))
                session.tasks.add(task)
                task.add_done_callback(session.tasks.discard)
        elif verdict is not Verdict.WAIT:
            await self._send(self._repeated(number, verdict))

    def _read(self, data: bytes) -> Asked:
        return read_asked(self.compression.unpack(data, self.limits), self.limits)

    async def _out_of_order(self, asked: Asked) -> None:
        if isinstance(asked.request, CancelRequest):
            if self._steps:
                self.session.cancel(asked.request.number)
            return
        await self._send(write_message(Answered(0, FailedReply("CodecError", "session: expected a number from 1 on"))))

    def _repeated(self, number: int, verdict: Verdict) -> bytes:
        dialogue = self.session.dialogue
        if verdict is Verdict.REFUSE:
            return write_message(Answered(number, FailedReply("CodecError", dialogue.refusal(number))))
        if dialogue.is_restricted(number) and not self._runs:
            told = f"request {number}: expected a role with the right to run, got {self.principal.role}"
            return write_message(Answered(number, FailedReply("AccessDenied", told)))
        return dialogue.reply(number)

    # --- carrying them out ---

    def _stepped(self, asked: Asked, kind: type[Any]) -> bytes:
        """A quick step, from the request to the bytes of its reply: nothing else runs in between."""
        begin, session, request = perf_counter(), self.session, asked.request
        try:
            reply = session.now(lambda hosted: hosted.answer(request), kind)
        except Exception as error:
            reply = self._failed(error)
        return self._finished(asked, reply, begin)

    async def _carry_out(self, asked: Asked) -> None:
        """Do it, keep the reply, and send it to whoever is connected by then."""
        begin = perf_counter()
        try:
            reply = await self._answer(asked)
        except Exception as error:
            reply = self._failed(error)
        data = self._finished(asked, reply, begin)
        connection: Any = self.session.connection
        if asked.request.__class__ is CloseRequest:
            connection = self
        if isinstance(connection, Conversation):
            await connection.deliver(asked.number, data)

    async def deliver(self, number: int, data: bytes) -> None:
        """Send a reply, if this connection may have it; before its welcome nothing is sent: it will ask again."""
        if self._ready and (self._runs or not self.session.dialogue.is_restricted(number)):
            await self._send(data)

    def _finished(self, asked: Asked, reply: Any, begin: float) -> bytes:
        number, session, metrics = asked.number, self.session, self.server.metrics
        steps = asked.request.__class__ in STEPS
        data = self._bytes(number, reply)
        told_all = steps and not (type(reply) is FailedReply and reply.trace)
        session.dialogue.finish(number, data, restricted=self._runs and not told_all)
        if session.cancelled:
            session.cancelled.discard(number)
        if steps:
            metrics.count("steps", session.lanes or 1, env=session.served.name)
            metrics.time("step", perf_counter() - begin)
        return data

    def _bytes(self, number: int, reply: Any) -> bytes:
        """A reply as a message; one that the client would not take is an error instead."""
        try:
            data = write_message(Answered(number, reply))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            return write_message(Answered(number, self._failed(CodecError(f"reply: expected plain data: {error}"))))
        if len(data) > self.limits.size:
            told = f"reply: expected at most {self.limits.size} bytes, got {len(data)}; it was carried out all the same"
            return write_message(Answered(number, FailedReply("CodecError", told)))
        return data

    def _failed(self, error: Exception) -> FailedReply:
        self.server.metrics.count("errors", env=self.session.served.name, kind=type(error).__name__)
        return error_reply(error, trace=self._runs)

    async def _answer(self, asked: Asked) -> Any:
        request, session = asked.request, self.session
        steps = isinstance(request, STEPS)
        self.principal.need("step" if steps else "run", type(request).__name__)
        if asked.seconds is not None and not asked.seconds > 0:
            raise InvalidArgument(f"seconds: expected a number above 0, got {asked.seconds}")
        if isinstance(request, ForkRequest):
            twin = await self.server.sessions.fork(session, request.number, self.principal, lanes=request.lanes)
            return ForkReply(twin.id)
        if isinstance(request, CloseRequest):
            await self.server.sessions.close(session)
            return DoneReply()
        work = partial(self._in_turn, asked)
        return await session.call(work, asked.seconds, long=not steps, kind=type(request))

    def _in_turn(self, asked: Asked, hosted: EnvHost) -> Any:
        """Where the environment lives: carry it out, unless it was cancelled while it waited."""
        session, number = self.session, asked.number
        if number in session.cancelled:
            return FailedReply(CANCELLED, f"request {number}: it was cancelled before it began")
        session.under_way = number
        try:
            return hosted.answer(asked.request)
        finally:
            session.under_way = 0

    async def _send(self, data: bytes) -> None:
        with suppress(OSError):  # the end of the connection is seen where it is read
            await self.link.send(self.compression.pack(data))
