"""The Model Context Protocol over standard input and output: how agents' desktop programs start an environment.

The program is the session: one environment, from the first message to the end of the input. Requests are carried out as
they come, so that a ping is answered while a tool works; a request that is cancelled gets no reply, though a step that
has begun is made.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

import msgspec
from starlette.datastructures import Headers

from ludus.errors import InvalidArgument
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.protocols.mcp.calls import CallsUnderWay, cancelled_request
from ludus.server.protocols.mcp.env_access import EnvAccess
from ludus.server.protocols.mcp.rpc import RpcError, read, refused
from ludus.server.protocols.mcp.stateless import Stateless, is_stateless
from ludus.server.protocols.mcp.streamable import SESSION, Streamable
from ludus.server.rate import Bucket
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.targets import Application, ServeTarget, offered

__all__ = ["Stdio", "run"]

OWNER = Principal("orchestrator", "stdio")
TOO_LONG = b"too long\n"
"""What stands for a line beyond the limit of a body: it is no JSON, and refused as such."""
MAX_RUNNING = 256
"""Requests at one time; the next is read when one of them is done."""
MAX_WAITING_LINES = 16
"""Lines that are read and not looked at yet."""

Write = Callable[[bytes], None]


class Stdio:
    """One conversation: lines of JSON in, lines of JSON out."""

    def __init__(self, server: Server, write: Write, *, seed: int | None = None) -> None:
        self.access = EnvAccess(server, server.sessions.served(), OWNER)
        self._write, self._seed = write, seed
        self._running: set[asyncio.Task[None]] = set()
        self._calls = CallsUnderWay()

    async def run(self, lines: Callable[[], Awaitable[bytes]]) -> None:
        """Serve until the input ends, no faster than the server's rate: whoever writes more waits for its pipe."""
        sessions = self.access.server.sessions
        session, bucket = await self.access.open(), Bucket(self.access.server.config.rate)
        try:
            await self.access.reset(session, {"seed": self._seed})
            while line := await lines():
                if delay := bucket.take():
                    await asyncio.sleep(delay)
                while len(self._running) >= MAX_RUNNING:
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                if line.strip():
                    self._begin(line, session.id)
            if self._running:
                await asyncio.wait(self._running)
        finally:
            await sessions.close(session, "its input ended")

    def _begin(self, line: bytes, session: str) -> None:
        try:
            data = read(line)
        except RpcError as refusal:
            self._send(refused(None, refusal))
            return
        if (number := cancelled_request(data)) is not None:
            self._calls.cancel(session, number)
            return
        task = asyncio.get_running_loop().create_task(self._carry_out(data, session))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _carry_out(self, data: object, session: str) -> None:
        if is_stateless(Headers(), data):
            reply = await Stateless(self.access, None, session, self._calls, self._send).answer(data)
        else:
            headers = Headers({SESSION: session})
            reply = await Streamable(self.access, headers, session, self._calls, self._send).answer(data)
        if reply.message is not None:
            self._send(reply.message)

    def _send(self, message: object) -> None:
        self._write(msgspec.json.encode(message) + b"\n")


def run(target: ServeTarget, *, seed: int | None = None, config: ServerConfig | None = None) -> None:
    """Serve a target on standard input and output until the input ends; what environments print goes to the error."""
    own = config or ServerConfig()
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    asyncio.run(_serve(_tools_of(target, own), own, answers, seed))


def _tools_of(target: ServeTarget, config: ServerConfig) -> ServedEnv:
    found = offered([target], config)
    if isinstance(found, Application) or not found[0].agent_tools():
        name = found.name if isinstance(found, Application) else found[0].name
        raise InvalidArgument(
            f"{name}: expected tools or typed actions, got an environment whose actions are neither; derive it from "
            "ludus.tools.ToolEnv, or use `ludus serve`"
        )
    return found[0]


async def _serve(served: ServedEnv, config: ServerConfig, answers: int, seed: int | None) -> None:
    server = Server([served], config)
    loop = asyncio.get_running_loop()
    waiting = asyncio.Queue[bytes](MAX_WAITING_LINES)
    # A thread, and no transport of the loop: standard input may be a file or a terminal.
    feeding = loop.run_in_executor(None, _feed, loop, waiting, config.body)

    def write(data: bytes) -> None:
        with open(answers, "wb", closefd=False) as file:
            file.write(data)

    await server.sessions.start()
    try:
        await Stdio(server, write, seed=seed).run(waiting.get)
    finally:
        await server.sessions.stop()
        await feeding


def _feed(loop: asyncio.AbstractEventLoop, waiting: asyncio.Queue[bytes], most: int) -> None:
    """Hand on line by line, the end as an empty one; blocks while there are enough."""
    with open(0, "rb", closefd=False) as file:
        while line := file.readline(most):
            if len(line) == most and not line.endswith(b"\n"):
                while (rest := file.readline(most)) and not rest.endswith(b"\n"):
                    pass
                line = TOO_LONG
            asyncio.run_coroutine_threadsafe(waiting.put(line), loop).result()
    asyncio.run_coroutine_threadsafe(waiting.put(b""), loop).result()
