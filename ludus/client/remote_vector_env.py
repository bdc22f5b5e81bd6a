"""`RemoteVectorEnv`: a batch at a server, whose lanes share one connection and one message a step."""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.client.batch import Batch
from ludus.client.beginning import begin
from ludus.client.elsewhere import Elsewhere
from ludus.client.opening import Opening
from ludus.client.remote_env import let_go
from ludus.client.talk import drive
from ludus.core import Info, Step, VectorEnv
from ludus.errors import ClosedEnvironment, InvalidArgument, shorten
from ludus.seeding import Seed

__all__ = ["RemoteVectorEnv"]


class RemoteVectorEnv(Elsewhere, VectorEnv[Any, Any]):
    """A batch at a server. Histories are those of the batch beside you, in all three autoreset modes.

    >>> from ludus.client import connect
    >>> from ludus.serve.doors.memory import LocalServer
    >>> server = LocalServer("GridWorld-v0")
    >>> envs = connect(server, num_envs=3, size=3)
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

    executor = "remote"

    def __init__(self, opening: Opening, line: Any, remote: Batch) -> None:
        self._opening, self._line, self._remote = opening, line, remote
        self.num_envs = remote.num_envs
        self.observation_space, self.action_space = remote.observation_space, remote.action_space
        self.single_observation_space = remote.single_observation_space
        self.single_action_space = remote.single_action_space
        self.metadata, self.render_mode, self.spec = remote.metadata, remote.render_mode, remote.spec
        self._finalizer = weakref.finalize(self, let_go, line, opening)

    # --- the episodes ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self.reset_mask(options)
        found = drive(self._remote.reset(seed, options), self._line)
        if seed is not None:
            self._streams = None
        return found

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane, by one message each way."""
        return drive(self._remote.step(action), self._line)

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        return drive(self._remote.render(), self._line)

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """What each lane shows where it can, the number of steps, and the episode's name."""
        return drive(self._remote.state(private=private), self._line)

    def close_extras(self, **kwargs: Any) -> None:
        """Have the session closed, and end the connection."""
        del kwargs
        drive(self._remote.close(), self._line)
        self._finalizer()

    # --- sessions ---

    def fork(self, lanes: Any = None) -> "RemoteVectorEnv":
        """Another batch that goes on from where this one is; all lanes in their order, or None for the same."""
        if self.closed:
            raise ClosedEnvironment("fork: expected an open batch, got one that was closed; connect again")
        if lanes is not None and not np.array_equal(self._forked_lanes(lanes), np.arange(self.num_envs)):
            raise InvalidArgument(
                f"fork: expected all {self.num_envs} lanes in their order, got {shorten(lanes)}; a server forks whole "
                "sessions"
            )
        opening = self._opening.forked(drive(self._remote.fork(), self._line))
        line = opening.line()
        remote: Any = drive(begin(opening), line)
        remote.seed = self._remote.seed
        return type(self)(opening, line, remote)
