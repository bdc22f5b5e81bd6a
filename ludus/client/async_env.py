"""`AsyncRemoteEnv`: an environment or a batch at a server, for programs of asyncio."""

import asyncio
import weakref
from typing import Any, Self, TypeVar

from ludus.client.beginning import begin
from ludus.client.handle import Handle
from ludus.client.opening import Opening
from ludus.client.talk import Talk, drive_async
from ludus.core import Info, Step

__all__ = ["AsyncRemoteEnv"]

T = TypeVar("T")


class AsyncRemoteEnv:
    """The methods of an environment, to be awaited; what they say and do is the same code as `RemoteEnv`'s.

    Calls of several tasks are carried out one after another.

    >>> import asyncio
    >>> from ludus.client import aconnect
    >>> from ludus.serve.doors.memory import LocalServer
    >>> async def main(server):
    ...     async with await aconnect(server, size=3) as env:
    ...         await env.reset(seed=0)
    ...         return (await env.step(1)).observation
    >>> with LocalServer("GridWorld-v0") as server:
    ...     asyncio.run(main(server))
    array([1, 0])
    """

    def __init__(self, opening: Opening, line: Any, remote: Any) -> None:
        self._opening, self._line, self._remote = opening, line, remote
        self._turn = asyncio.Lock()
        self._finalizer = weakref.finalize(self, opening.end)
        self.observation_space, self.action_space = remote.observation_space, remote.action_space
        self.single_observation_space = remote.single_observation_space
        self.single_action_space = remote.single_action_space
        self.metadata, self.render_mode, self.spec = remote.metadata, remote.render_mode, remote.spec
        self.num_envs: int | None = getattr(remote, "num_envs", None)

    @classmethod
    async def open(cls, opening: Opening) -> Self:
        """Connect, and open a session."""
        line = opening.async_line()
        return cls(opening, line, await drive_async(begin(opening), line))

    async def _do(self, talk: Talk[T]) -> T:
        async with self._turn:
            return await drive_async(talk, self._line)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """`()` for one environment, `(n,)` for a batch of `n`."""
        return () if self.num_envs is None else (self.num_envs,)

    @property
    def session(self) -> str:
        """The session's id, which is a secret."""
        return self._remote.session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._remote.session.resumed

    async def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Start an episode, or one in each lane."""
        return await self._do(self._remote.reset(seed, options))

    async def step(self, action: Any) -> Step[Any]:
        """Advance by one action, or by one for each lane."""
        return await self._do(self._remote.step(action))

    async def render(self) -> Any:
        """The current picture."""
        return await self._do(self._remote.render())

    async def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """What the environment shows of its episode."""
        return await self._do(self._remote.state(private=private))

    async def snapshot(self) -> Handle:
        """Have the state kept at the server, to `restore` any number of times in this session."""
        return await self._do(self._remote.snapshot())

    async def restore(self, snapshot: Handle) -> None:
        """Go back to a snapshot of this session."""
        await self._do(self._remote.restore(snapshot))

    async def fork(self) -> "AsyncRemoteEnv":
        """Another environment, with a session of its own, that goes on from where this one is."""
        twin = await self.open(self._opening.forked(await self._do(self._remote.fork())))
        twin._remote.seed = self._remote.seed
        return twin

    async def close(self) -> None:
        """Have the session closed, and end the connection; harmless twice."""
        await self._do(self._remote.close())
        await asyncio.to_thread(self._finalizer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncRemoteEnv<{self._remote.name}> at {self._opening.where}>"
