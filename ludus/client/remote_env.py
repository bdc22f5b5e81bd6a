"""`RemoteEnv`: an environment at a server, which is an `Env` here."""

import weakref
from typing import Any, Self

from ludus.client.beginning import begin
from ludus.client.elsewhere import Elsewhere
from ludus.client.opening import Opening
from ludus.client.talk import drive
from ludus.core import Env, Info, Step
from ludus.seeding import Seed

__all__ = ["RemoteEnv", "let_go"]


class RemoteEnv(Elsewhere, Env[Any, Any]):
    """An environment at a server: the same API, spaces, seeds, histories and errors as beside you.

    A connection that is lost is made anew, and the episode goes on: no step is repeated, none is lost. SessionLost says
    that the server does not have it any more. `error.infrastructure` is true where the server failed, not the action.

    >>> from ludus.client import connect
    >>> from ludus.serve.doors.memory import LocalServer
    >>> server = LocalServer("GridWorld-v0")
    >>> env = connect(server, size=3)
    >>> env.reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    >>> env.step(1).observation
    array([1, 0])
    >>> env.close()
    >>> server.close()
    """

    def __init__(self, opening: Opening, line: Any, remote: Any) -> None:
        self._opening, self._line, self._remote = opening, line, remote
        self.observation_space, self.action_space = remote.observation_space, remote.action_space
        self.metadata, self.render_mode, self.spec = remote.metadata, remote.render_mode, remote.spec
        self._finalizer = weakref.finalize(self, let_go, line, opening)

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Start an episode."""
        found = drive(self._remote.reset(seed, options), self._line)
        if seed is not None:
            self._streams = None
        return found

    def step(self, action: Any) -> Step[Any]:
        """Advance the episode, by one message each way."""
        return drive(self._remote.step(action), self._line)

    def render(self) -> Any:
        """The current picture."""
        return drive(self._remote.render(), self._line)

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """What the environment shows of its episode, its name and the number of its steps."""
        return drive(self._remote.state(private=private), self._line)

    def close(self) -> None:
        """Have the session closed, and end the connection; harmless twice."""
        drive(self._remote.close(), self._line)
        self._finalizer()

    # --- sessions ---

    def fork(self) -> Self:
        """Another environment, with a session of its own, that goes on from where this one is."""
        opening = self._opening.forked(drive(self._remote.fork(), self._line))
        line = opening.line()
        twin = type(self)(opening, line, drive(begin(opening), line))
        twin._remote.seed = self._remote.seed
        return twin

    def __repr__(self) -> str:
        name = self._remote.name if self.spec is None else self.spec.id
        return f"<RemoteEnv<{name}> at {self._opening.where}>"


def let_go(line: Any, opening: Opening) -> None:
    """End the connection, and what was started for it: also where an environment is forgotten without `close`."""
    line.close()
    opening.end()
