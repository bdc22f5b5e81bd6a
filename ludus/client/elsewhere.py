"""`Elsewhere`: what one environment and a batch at a server have in common on this side: session, seed, snapshots."""

from copy import deepcopy
from typing import Any

from ludus.client.talk import drive
from ludus.errors import EnvError, SnapshotError, shorten
from ludus.seeding import derived_stream, np_random

__all__ = ["Elsewhere"]


class Elsewhere:
    """An environment whose session, generator and state are at a server."""

    _remote: Any
    _line: Any
    _streams: Any
    observation_space: Any
    action_space: Any

    # --- the session ---

    @property
    def session(self) -> str:
        """The session's id: `connect(url, session=id)` goes on with it elsewhere. Whoever has it may use it."""
        return self._remote.session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._remote.session.resumed

    # --- randomness: the stream lives there, and here its seed is known ---

    @property
    def np_random(self) -> Any:
        """Refused: the generator is at the server."""
        raise EnvError(
            "np_random: expected np_random_seed or stream(name), got the generator, which lives at the server"
        )

    @np_random.setter
    def np_random(self, value: Any) -> None:
        raise EnvError(f"np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel")

    @property
    def np_random_seed(self) -> Any:
        """The seed of the environment's stream, or of each lane's; -1 where the server chose one."""
        seed = self._remote.seed
        return tuple(map(_told, seed)) if isinstance(seed, tuple) else _told(seed)

    def stream(self, name: str) -> Any:
        """The stream called `name`, derived from the environment's seed; it is this side's. Of a batch, one a lane."""
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            seed = self._remote.seed
            self._streams[name] = (
                tuple(_stream(one, name) for one in seed) if isinstance(seed, tuple) else _stream(seed, name)
            )
        return self._streams[name]

    # --- snapshots: the state stays there ---

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        for space in (self.observation_space, self.action_space):
            space.settle()
        handle = drive(self._remote.snapshot(self._line), self._line)
        return handle, deepcopy((self._streams, self.observation_space, self.action_space))

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        _reinstate(self, state, self._remote, self._line)


def _told(seed: int | None) -> int:
    return -1 if seed is None else seed


def _stream(seed: int | None, name: str) -> Any:
    return derived_stream(np_random(seed)[0], name)


def _reinstate(env: Any, state: Any, remote: Any, line: Any) -> None:
    """Go back to a snapshot: in its own session, or by a fork of that, where it is one of another at this server."""
    handle, mine = state
    if handle.belongs_to(remote.session):
        drive(remote.restore(handle), line)
    else:
        ours, theirs = remote.session, handle.session
        if ours.terms.where != theirs.terms.where or ours.welcome.env != theirs.welcome.env:
            raise SnapshotError(
                f"restore: expected a snapshot of {ours.name} at {ours.terms.where}, got one of {theirs.name} at "
                f"{theirs.terms.where}: the state stays with its server"
            )
        drive(remote.move(drive(handle.fork(), handle.line), handle), line)
    streams, observed, acted = deepcopy(mine)
    env._streams = streams
    env.observation_space.adopt_random(observed)
    env.action_space.adopt_random(acted)
