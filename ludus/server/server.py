"""`Server`: what all protocols of one server process share."""

from collections.abc import Sequence

from ludus.errors import InvalidArgument
from ludus.registry.resolution import Target
from ludus.server.config import ServerConfig
from ludus.server.served_env import ServedEnv
from ludus.server.sessions import Sessions

__all__ = ["Server"]


class Server:
    """The environments on offer, their sessions, and who may use them. Protocols are in `ludus.server.protocols`.

    >>> Server(["CartPole-v1"]).sessions.served().name
    'CartPole-v1'
    """

    def __init__(
        self, targets: Sequence[Target | ServedEnv], config: ServerConfig | None = None, *, worker: int = 0
    ) -> None:
        if not targets:
            raise InvalidArgument("serve: expected at least one environment, got none")
        self.config = ServerConfig() if config is None else config
        self.access = self.config.access
        offered = [one if isinstance(one, ServedEnv) else ServedEnv(one, config=self.config) for one in targets]
        self.sessions = Sessions(offered, self.config, worker=worker)
        self.metrics = self.sessions.metrics

    @property
    def offered(self) -> dict[str, ServedEnv]:
        """The environments by name; the first is the one that is meant where none is named."""
        return self.sessions.offered
