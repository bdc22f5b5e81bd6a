"""`Server`: what all protocols of one server process share."""

from collections.abc import Sequence
from typing import Any

from ludus.errors import InvalidArgument
from ludus.server.served_env import ServedEnv
from ludus.server.sessions import Sessions
from ludus.server.settings import Settings

__all__ = ["Server"]


class Server:
    """The environments on offer, their sessions, and who may use them. Protocols are in `ludus.server.protocols`.

    >>> Server(["CartPole-v1"]).sessions.served().name
    'CartPole-v1'
    """

    def __init__(self, targets: Sequence[Any], settings: Settings | None = None, *, worker: int = 0) -> None:
        if not targets:
            raise InvalidArgument("serve: expected at least one environment, got none")
        self.settings = Settings() if settings is None else settings
        self.access = self.settings.access
        offered = [one if isinstance(one, ServedEnv) else ServedEnv(one, settings=self.settings) for one in targets]
        self.sessions = Sessions(offered, self.settings, worker=worker)
        self.metrics = self.sessions.metrics

    @property
    def offered(self) -> dict[str, ServedEnv]:
        """The environments by name; the first is the one that is meant where none is named."""
        return self.sessions.offered
