"""What both protocols do with a session: find it, begin an episode in it, call a tool in it."""

import asyncio
from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import NamedTuple

from ludus.core.progress import Progress, reporting
from ludus.errors import InvalidArgument, ResetNeeded, SessionLost, shorten
from ludus.remote.host import EnvHost
from ludus.server.access import Principal
from ludus.server.protocols.mcp.results import CallResult, ToolEntry, answer_of, tool_entries
from ludus.server.protocols.mcp.rpc import INTERNAL, INVALID_PARAMS, RpcError
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict
from ludus.tools import Call, Tool, action_of

__all__ = ["ToolRequest", "EnvAccess", "tool_request"]

NO_TOOLS = "Environment does not support MCP"


class ToolRequest(NamedTuple):
    """A tool and its arguments, as they came."""

    tool: str
    arguments: dict[str, object]


class EnvAccess(NamedTuple):
    """One environment of a server, and whoever uses it."""

    server: Server
    served: ServedEnv
    principal: Principal

    # --- sessions ---

    def find(self, id: object) -> Session:
        """A session of this environment."""
        try:
            session = self.server.sessions.find(id if isinstance(id, str) else "")
        except SessionLost:
            session = None
        if session is None or session.served is not self.served:
            raise RpcError(
                INVALID_PARAMS,
                f"Unknown session_id: {shorten(id)}; it was closed, or left alone for too long: create another",
                status=404,
            )
        return session

    async def open(self, joined: str = "") -> Session:
        """A new session, in which nothing happened yet; or one that is there already, to act in it with others."""
        if joined:
            self.principal.need("step", "join a session")
            return self.find(joined)
        return await self.server.sessions.open(self.served.name, self.principal)

    async def close(self, session: Session) -> None:
        """End a session."""
        self.principal.need("run", "close a session")
        await self.server.sessions.close(session)

    # --- what is done in them ---

    async def tools(self, session: Session | None = None) -> list[ToolEntry]:
        """The tools as they are listed; the first time, an instance has to be made to know them."""
        self.principal.need("read", "list the tools")
        if session is not None:
            return tool_entries(self.served)
        return await asyncio.to_thread(tool_entries, self.served)

    async def reset(self, session: Session, params: Mapping[str, object]) -> dict[str, object]:
        """Begin an episode: with `seed`, `options` and `episode_id`, or none of them."""
        self.principal.need("run", "begin an episode")
        options = params.get("options")
        if options is not None and not is_dict(options):
            raise InvalidArgument(f"options: expected an object, got {shorten(options)}")
        return await session.call(partial(_reset, params.get("seed"), options, params.get("episode_id")), long=True)

    async def begin(self, session: Session) -> CallResult | None:
        """Begin an episode where none has begun; what it began with, or None where it is under way already."""
        return await session.call(_begin, long=True)

    async def check(self, call: ToolRequest, session: Session | None, *, unknown: int) -> None:
        """A Refusal where the environment has no such tool; `unknown` is its code, in which the protocols differ."""
        self.principal.need("step", "call a tool")
        served = self.served
        known = served.agent_tools() if session else await asyncio.to_thread(served.agent_tools)
        if not known:
            raise RpcError(INTERNAL, NO_TOOLS)
        if call.tool not in known:
            raise RpcError(unknown, f"Unknown tool: {shorten(call.tool)}")

    async def call(self, session: Session, call: ToolRequest, progress: Progress | None = None) -> CallResult:
        """Call a tool, which is one step of the episode."""
        if session.hosted is None or session.hosted.episode_id is None:
            await self.begin(session)
        start, metrics = monotonic(), self.server.metrics
        try:
            return await session.call(partial(_step, self.served.agent_tools(), call, progress))
        except Exception as error:
            metrics.count("errors", env=self.served.name, kind=type(error).__name__)
            raise
        finally:
            metrics.step(self.served.name, monotonic() - start)


def tool_request(params: Mapping[str, object]) -> ToolRequest:
    """The tool and the arguments that a request names."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not name:
        raise RpcError(INVALID_PARAMS, f"Missing 'name' in params: expected that of a tool, got {shorten(name)}")
    if arguments is not None and not is_dict(arguments):
        raise RpcError(INVALID_PARAMS, f"arguments: expected an object, got {shorten(arguments)}")
    return ToolRequest(name, arguments or {})


def _step(tools: dict[str, Tool], call: ToolRequest, progress: Progress | None, hosted: EnvHost) -> CallResult:
    if hosted.batched:
        raise InvalidArgument("tools/call: expected a session of one environment, got one of a batch")
    if hosted.done:
        raise ResetNeeded(
            f"the episode is over, after {hosted.step_count} steps; begin anew, with the method ludus/reset or in "
            "another session"
        )
    action = action_of(hosted.action_space, tools, Call(call.tool, call.arguments))
    with reporting(progress):
        return answer_of(hosted.space, hosted.step(action))


def _begin(hosted: EnvHost) -> CallResult | None:
    if hosted.batched or hosted.step_count:
        return None
    return answer_of(hosted.space, hosted.reset() if hosted.episode_id is None else hosted.last)


def _reset(seed: object, options: dict[str, object] | None, episode_id: object, hosted: EnvHost) -> dict[str, object]:
    if hosted.batched:
        raise InvalidArgument("ludus/reset: expected a session of one environment, got one of a batch")
    outcome = hosted.reset(seed=seed, options=options, episode_id=episode_id)
    return {
        "episode_id": hosted.episode_id,
        "observation": hosted.space.encode(outcome.observation, binary=False),
        "content": [{"type": "text", "text": answer_of(hosted.space, outcome).text}],
    }
