"""`RemoteVectorEnv`: a batch at a server, whose lanes share one connection and one message a step."""

from ludus.client.flow import run_flow
from ludus.client.link import SessionLink
from ludus.core import EnvSpec, EpisodePlan
from ludus.core.env import ActT, ObsT_co
from ludus.core.fork import Lanes
from ludus.errors import ContractViolation
from ludus.remote.batch import ProxyVectorEnv
from ludus.remote.codec import BatchCodec
from ludus.remote.lane_group import LaneGroup

__all__ = ["RemoteVectorEnv"]


class RemoteVectorEnv(ProxyVectorEnv[ObsT_co, ActT]):
    """A batch at a server. Histories are those of the batch beside you, in all three autoreset modes.

    >>> from ludus.client import connect
    >>> from ludus.server.protocols.memory import LocalServer
    >>> server = LocalServer("GridWorld-v0")
    >>> envs = connect(server, num_envs=3, kwargs={"size": 3})
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1],
           [2, 1]])
    >>> envs.step([1, 1, 0]).observation
    array([[1, 0],
           [1, 0],
           [0, 0]])
    >>> envs.close()
    >>> server.close()
    """

    def __init__(
        self,
        link: SessionLink,
        codec: BatchCodec[ObsT_co, ActT],
        *,
        episodes: EpisodePlan | None = None,
        spec: EnvSpec | None = None,
    ) -> None:
        self._link = link
        super().__init__([LaneGroup(link, codec, 0)], codec, episodes=episodes, spec=spec)

    def attached(self) -> None:
        """The session was there before us: where its lanes are, it knows."""
        self._begun[:] = True
        self._columns.ended[:] = False

    @property
    def session(self) -> str:
        """The session's id: `connect(url, session=id)` goes on with it elsewhere. Whoever has it may use it."""
        return self._link.session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._link.session.resumed

    def fork(self, lanes: Lanes | None = None) -> "RemoteVectorEnv[ObsT_co, ActT]":
        """Another batch, in a session of its own, whose lane `j` goes on from where lane `lanes[j]` is; None: all."""
        self._check_open("fork")
        chosen = list(range(self.num_envs)) if lanes is None else [int(one) for one in self._forked_lanes(lanes)]
        opening = self._link.fork(chosen)
        line, session = opening.line(), opening.session()
        run_flow(session.open(), line)
        codec = opening.codec(session.welcome)
        if not isinstance(codec, BatchCodec):
            raise ContractViolation(f"fork: expected a session of {len(chosen)} lanes, got one of one environment")
        twin = RemoteVectorEnv(SessionLink(opening, line, session), codec, episodes=self.episodes, spec=self.spec)
        twin._take_known(self._known(chosen))
        return twin

    def __repr__(self) -> str:
        name = self._codec.name if self.spec is None else self.spec.id
        return f"<RemoteVectorEnv<{name}, num_envs={self.num_envs}> at {self._link.opening.where}>"
