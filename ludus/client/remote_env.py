"""`RemoteEnv`: an environment at a server, which is an `Env` here."""

from typing import Self

from ludus.client.flow import run_flow
from ludus.client.link import SessionLink
from ludus.core import EnvSpec
from ludus.core.env import ActT, ObsT_co
from ludus.remote.codec import EnvCodec
from ludus.remote.env import ProxyEnv

__all__ = ["RemoteEnv"]


class RemoteEnv(ProxyEnv[ObsT_co, ActT]):
    """An environment at a server: the same API, spaces, seeds, histories and errors as beside you.

    A connection that is lost is made anew, and the episode goes on: no step is repeated, none is lost. SessionLost says
    that the server does not have it any more; the next `reset` opens another session, and its info says so.
    `error.infrastructure` is true where the server failed, not the action.

    >>> from ludus.client import connect
    >>> from ludus.server.protocols.memory import LocalServer
    >>> server = LocalServer("GridWorld-v0")
    >>> env = connect(server, kwargs={"size": 3})
    >>> env.reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    >>> env.step(1).observation
    array([1, 0])
    >>> env.close()
    >>> server.close()
    """

    _link: SessionLink

    def __init__(self, link: SessionLink, codec: EnvCodec[ObsT_co, ActT], spec: EnvSpec | None = None) -> None:
        super().__init__(link, codec, spec)

    @property
    def session(self) -> str:
        """The session's id: `connect(url, session=id)` goes on with it elsewhere. Whoever has it may use it."""
        return self._link.session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._link.session.resumed

    def fork(self) -> Self:
        """Another environment, with a session of its own, that goes on from where this one is."""
        opening = self._link.fork()
        line = opening.line()
        session = opening.session()
        run_flow(session.open(), line)
        twin = type(self)(SessionLink(opening, line, session), opening.codec(session.welcome), self.spec)
        twin._seed, twin._last, twin._begun = self._seed, self._last, self._begun
        return twin

    def __repr__(self) -> str:
        name = self._codec.name if self.spec is None else self.spec.id
        return f"<RemoteEnv<{name}> at {self._link.opening.where}>"
