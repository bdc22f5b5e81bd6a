"""`converse`: one connection that speaks the wire, over any link, from its hello to its end."""

import asyncio
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol

from ludus.errors import AccessDenied, ChannelError, CodecError, InvalidArgument, LudusError
from ludus.serve.access import Principal
from ludus.serve.failing import error_reply
from ludus.serve.hosted import Hosted
from ludus.serve.server import Server
from ludus.serve.session import Session
from ludus.wire import decode_value, write_space
from ludus.wire.dialogue import Verdict
from ludus.wire.message import CloseRequest, DoneReply, StepRequest
from ludus.wire.network import (
    NETWORK_PROTOCOL,
    Answered,
    Asked,
    CancelRequest,
    ErrorReply,
    ForkReply,
    ForkRequest,
    HelloRequest,
    VectorStepRequest,
    WelcomeReply,
    read_asked,
    write_message,
)

__all__ = ["Link", "converse"]

STEPS = (StepRequest, VectorStepRequest)
MOST_UNANSWERED = 64
CANCELLED = "Cancelled"


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
    """Serve a connection until it ends; its session outlives it, unless it was closed by word."""
    try:
        session = await _greet(server, link, principal)
    except LudusError as error:
        await _send(link, Answered(0, error_reply(error, trace=principal.may("run"))))
        await link.close()
        return
    if session is not None:
        await Conversation(server, link, principal, session).run()


async def _greet(server: Server, link: Link, principal: Principal) -> Session | None:
    """Open or find the session that the first message asks for, and take it over from an older connection."""
    data = await link.receive()
    if data is None:
        return None
    asked = read_asked(data, server.settings.limits)
    hello = asked.request
    if asked.number or not isinstance(hello, HelloRequest) or hello.protocol != NETWORK_PROTOCOL:
        raise ChannelError(f"session: expected a hello of protocol {NETWORK_PROTOCOL} under number 0, got another")
    if hello.session:
        principal.need("step", "go on with a session")
        session = server.sessions.find(hello.session)
    else:
        session = await server.sessions.open(
            hello.env,
            principal,
            lanes=hello.lanes,
            autoreset_mode=hello.autoreset_mode,
            arguments=_arguments(hello),
        )
    older: Any = session.connection
    session.connection = link
    if older is not None:
        await older.close()
    await _send(link, Answered(0, _welcome(server, session, principal)))
    return session


def _arguments(hello: HelloRequest) -> dict[str, Any]:
    found = decode_value(hello.arguments, "arguments")
    if not isinstance(found, dict):
        raise InvalidArgument("arguments: expected them by name, got another value")
    return found


def _welcome(server: Server, session: Session, principal: Principal) -> WelcomeReply:
    served, hosted = session.served, session.hosted
    if hosted is None:
        raise ChannelError("session: expected one that is there, got one that is being closed")
    env: Any = hosted.env
    limits = server.settings.limits
    return WelcomeReply(
        NETWORK_PROTOCOL,
        session.id,
        served.name,
        session.lanes,
        env.autoreset_mode.value if session.lanes else "",
        write_space(hosted.space),
        write_space(hosted.action_space),
        served.description().metadata,
        env.render_mode,
        served.description().name,
        served.spec.to_json() if isinstance(served.spec.entry_point, str) else "",
        session.dialogue.last,
        principal.role,
        {"size": limits.size, "depth": limits.depth, "items": limits.items},
        "none",
        "raw",
    )


async def _send(link: Link, answered: Answered) -> None:
    with suppress(OSError):
        await link.send(write_message(answered))


class Conversation:
    """A connection that has its session."""

    def __init__(self, server: Server, link: Link, principal: Principal, session: Session) -> None:
        self.server, self.link, self.principal, self.session = server, link, principal, session
        self.limits = server.settings.limits
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._cancelled: set[int] = set()

    async def run(self) -> None:
        """Read requests and carry them out, until the connection ends or another one takes the session over."""
        session, link = self.session, self.link
        try:
            while session.connection is link:
                data = await link.receive()
                if data is None:
                    break
                try:
                    asked = read_asked(data, self.limits)
                except CodecError as error:
                    await _send(link, Answered(0, error_reply(error)))
                    continue
                await self._take(asked)
        finally:
            if session.connection is link:
                session.connection = None
            session.used = monotonic()

    async def _take(self, asked: Asked) -> None:
        number, dialogue = asked.number, self.session.dialogue
        if number == 0:
            await self._out_of_order(asked)
            return
        verdict = dialogue.judge(number)
        if verdict is Verdict.RUN:
            dialogue.begin(number)
            if self.session.inline and not self.session.busy:
                await self._carry_out(asked)
                return
            if len(self._tasks) >= MOST_UNANSWERED:
                await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
            task = asyncio.get_running_loop().create_task(self._carry_out(asked))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))
        elif verdict is Verdict.REPEAT:
            await _send(self.link, dialogue.reply(number))
        elif verdict is Verdict.REFUSE:
            await _send(self.link, Answered(number, ErrorReply("ChannelError", dialogue.refusal(number))))

    async def _out_of_order(self, asked: Asked) -> None:
        if isinstance(asked.request, CancelRequest):
            self._cancelled.add(asked.request.number)
            if self.session.dialogue.last + 1 == asked.request.number:
                self.session.interrupt()
        else:
            await _send(self.link, Answered(0, ErrorReply("ChannelError", "session: expected a number from 1 on")))

    async def _carry_out(self, asked: Asked) -> None:
        """Do it, keep the reply, and send it to whoever is connected by then."""
        begin, session = monotonic(), self.session
        try:
            reply = await self._answer(asked)
        except Exception as error:
            self.server.metrics.count("errors", env=session.served.name, kind=type(error).__name__)
            reply = error_reply(error, trace=self.principal.may("run"))
        answered = session.dialogue.finish(asked.number, reply)
        if isinstance(asked.request, STEPS):
            self.server.metrics.count("steps", max(1, session.lanes), env=session.served.name)
            self.server.metrics.time("step", monotonic() - begin)
        link: Any = session.connection
        if link is not None:
            await _send(link, answered)

    async def _answer(self, asked: Asked) -> Any:
        request = asked.request
        if asked.number in self._cancelled:
            self._cancelled.discard(asked.number)
            return ErrorReply(CANCELLED, f"request {asked.number}: it was cancelled before it began")
        if not isinstance(request, STEPS):
            self.principal.need("run", type(request).__name__)
        elif not self.principal.may("step"):
            raise AccessDenied(f"step: expected a role with the right to step, got {self.principal.role}")
        if isinstance(request, ForkRequest):
            return ForkReply((await self.server.sessions.fork(self.session, request.number, self.principal)).id)
        if isinstance(request, CloseRequest):
            await self.server.sessions.close(self.session)
            return DoneReply()
        work = partial(_answered, request)
        return await self.session.call(work, asked.seconds, long=not isinstance(request, STEPS))


def _answered(request: Any, hosted: Hosted) -> Any:
    return hosted.answer(request)
