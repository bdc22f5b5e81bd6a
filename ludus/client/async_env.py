"""`AsyncRemoteEnv`: an environment or a batch at a server, for programs of asyncio."""

import asyncio
import weakref
from collections.abc import Sequence
from time import monotonic
from typing import Generic, NamedTuple, Self, TypeVar

import numpy as np

from ludus.client.connection_config import ConnectionConfig, spec_of
from ludus.client.flow import AsyncTransport, Flow, run_flow_async
from ludus.client.session import ClientSession, WireSession
from ludus.core import Info, Step
from ludus.core.env import ActT, ObsT_co
from ludus.core.options import Options
from ludus.errors import SessionLost, SnapshotError
from ludus.remote.codec import BatchCodec, EnvCodec, travelling
from ludus.remote.env import next_seed
from ludus.seeding import Seed, as_seed, lane_seeds
from ludus.wire import encode_value
from ludus.wire.messages import (
    BatchReply,
    BatchResetRequest,
    BatchStepReply,
    BatchStepRequest,
    DoneReply,
    ForkReply,
    ForkRequest,
    NetworkRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

__all__ = ["AsyncRemoteEnv"]

T = TypeVar("T")


class AsyncSnapshot(NamedTuple):
    """A snapshot that a session keeps, by its number."""

    session: str
    number: int


class AsyncRemoteEnv(Generic[ObsT_co, ActT]):
    """The methods of an environment, to be awaited; sessions and codecs are the same code as `RemoteEnv`'s.

    Calls of several tasks are carried out one after another.

    >>> import asyncio
    >>> from ludus.client import aconnect
    >>> from ludus.server.protocols.memory import LocalServer
    >>> async def main(server):
    ...     async with await aconnect(server, kwargs={"size": 3}) as env:
    ...         await env.reset(seed=0)
    ...         return (await env.step(1)).observation
    >>> with LocalServer("GridWorld-v0") as server:
    ...     asyncio.run(main(server))
    array([1, 0])
    """

    def __init__(
        self, opening: ConnectionConfig, line: AsyncTransport, session: ClientSession, codec: EnvCodec[ObsT_co, ActT]
    ) -> None:
        self._opening, self._line, self._session, self._codec = opening, line, session, codec
        self._turn = asyncio.Lock()
        self._seed: int | list[int | None] | None = None
        self._restarts = 0
        self._finalizer = weakref.finalize(self, opening.end)
        self.observation_space, self.action_space = codec.observation_space, codec.action_space
        self.single_observation_space = codec.single_observation_space
        self.single_action_space = codec.single_action_space
        self.metadata, self.render_mode = codec.metadata, codec.render_mode
        self.spec = spec_of(getattr(session, "welcome", None))
        self.num_envs: int | None = codec.num_envs if isinstance(codec, BatchCodec) else None

    async def _do(self, flow: Flow[T]) -> T:
        async with self._turn:
            return await run_flow_async(flow, self._line)

    async def _ask(self, request: NetworkRequest, kind: type[T]) -> T:
        session, line = self._session, self._line
        async with self._turn:
            if not isinstance(session, WireSession):  # OpenEnv's
                return await run_flow_async(session.ask(request, kind), line)
            number, data = session.number(request)
            seconds = session.terms.timeout
            try:
                payload = await line.exchange(data, seconds)
            except OSError as error:
                return await run_flow_async(session.wait(number, kind, monotonic() + seconds, error), line)
            reply = session.reply(payload, number, kind)
            if reply is None:
                return await run_flow_async(session.wait(number, kind, monotonic() + seconds), line)
            return reply

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """`()` for one environment, `(n,)` for a batch of `n`."""
        return () if self.num_envs is None else (self.num_envs,)

    @property
    def session(self) -> str:
        """The session's id, which is a secret."""
        return self._session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._session.resumed

    async def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[ObsT_co, Info]:
        """Start an episode, or one in each lane; in another session where the last one was lost, which `info` says."""
        codec, given = self._codec, travelling(options, "options")
        if isinstance(codec, BatchCodec):
            seeds = lane_seeds(seed, codec.num_envs)
            each = None if seed is None else int(seed) if isinstance(seed, int | np.integer) else seeds
            lanes, told = await self._begun(BatchResetRequest(travelling(each, "seed"), given), BatchReply, each)
            observation, info = codec.read_batch(lanes)
        else:
            asked = None if seed is None else as_seed(seed)
            reply, told = await self._begun(ResetRequest(encode_value(asked), given), ResetReply, asked)
            observation, info = codec.read_reset(reply)
        return observation, {**info, **told}

    async def _begun(
        self, request: BatchResetRequest | ResetRequest, kind: type[T], seed: int | list[int | None] | None
    ) -> tuple[T, Info]:
        """The reply to a reset, in another session where the last one was lost, and what is told of that."""
        told: Info = {} if self._session.alive else await self._reopen(request)
        try:
            reply = await self._ask(request, kind)
        except SessionLost:
            if self._session.alive or told:
                raise
            told = await self._reopen(request)
            reply = await self._ask(request, kind)
        if seed is not None:
            self._seed, self._restarts = seed, 0
        return reply, told

    async def _reopen(self, request: BatchResetRequest | ResetRequest) -> Info:
        """Open another session; a reset without a seed follows from the last one that was given."""
        why = await self._do(self._session.reopen())
        if request.seed is None and type(self._seed) is int:
            self._restarts += 1
            request.seed = encode_value(next_seed(self._seed, self._restarts))
        return {"session_reopened": why}

    async def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance by one action, or by one for each lane."""
        codec = self._codec
        data = codec.write_action(action)
        if isinstance(codec, BatchCodec):
            return Step(*codec.read_step_columns(await self._ask(BatchStepRequest(data), BatchStepReply)))
        return codec.read_step(await self._ask(StepRequest(data), StepReply))

    async def render(self) -> object:
        """The current picture."""
        return self._codec.read_picture(await self._ask(RenderRequest(), ValueReply))

    async def state_data(self, *, private: bool = False) -> Info:
        """What the environment shows of its episode."""
        return self._codec.read_state(await self._ask(StateRequest(private), ValueReply))

    async def snapshot(self) -> AsyncSnapshot:
        """Have the state kept at the server, to `restore` any number of times in this session."""
        reply = await self._ask(SnapshotRequest([]), SnapshotReply)
        return AsyncSnapshot(self._session.id, reply.number)

    async def restore(self, snapshot: AsyncSnapshot) -> None:
        """Go back to a snapshot of this session."""
        if snapshot.session != self._session.id:
            raise SnapshotError(
                f"restore: expected a snapshot of this session of {self._session.name}, got one of another; "
                "fork() gives a session that goes on from one"
            )
        await self._ask(RestoreRequest(snapshot.number), DoneReply)

    async def fork(self) -> Self:
        """Another environment, with a session of its own, that goes on from where this one is."""
        opening = self._opening.forked((await self._ask(ForkRequest(), ForkReply)).session)
        line, session = opening.async_line(), opening.session()
        await run_flow_async(session.open(), line)
        return type(self)(opening, line, session, opening.codec(session.welcome))

    async def close(self) -> None:
        """Have the session closed, and end the connection; harmless twice."""
        await self._do(self._session.close())
        await asyncio.to_thread(self._finalizer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncRemoteEnv<{self._codec.name}> at {self._opening.where}>"
