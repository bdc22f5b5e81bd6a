"""`ServerPlan`: what is to be served, and how; checked, but not running yet."""

from collections.abc import Callable, Sequence

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.errors import InvalidArgument
from ludus.server.app import app_of, guarded
from ludus.server.config import ServerConfig
from ludus.server.listen_config import ListenConfig
from ludus.server.peers import Peers
from ludus.server.server import Server
from ludus.server.session_counts import SessionCounts
from ludus.server.targets import Application, ServeTarget, offered
from ludus.server.uvicorn_server import UvicornServer, uvicorn_config
from ludus.server.worker_proxy import WITHIN

__all__ = ["ServerPlan"]


class ServerPlan:
    """Everything is checked here, before anything is bound or started."""

    def __init__(self, targets: Sequence[ServeTarget], config: ServerConfig) -> None:
        config.listen.check(open_to_all=config.access.open)
        self.config = config
        self.offered = offered(targets, config)
        several = config.workers > 1
        if several and isinstance(self.offered, Application):
            raise InvalidArgument(f"workers: expected 1 for the application {self.offered.name!r}, got several")
        if several and config.listen.unix is not None:
            raise InvalidArgument("workers: expected 1 for a server with a Unix socket, got several")

    @property
    def described(self) -> str:
        """What is served, and in which isolation."""
        offered = [self.offered] if isinstance(self.offered, Application) else self.offered
        return ", ".join(f"{one.name} (isolation: {one.isolation})" for one in offered)

    def engine(self, ready: Callable[[], object] = lambda: None) -> tuple[UvicornServer, Server | None]:
        """What runs it in this process, alone."""
        hosts = self.config.listen.allowed
        if isinstance(self.offered, Application):
            app, server = guarded(self.offered.app, self.config, hosts), None
        else:
            server = Server(self.offered, self.config)
            app = app_of(server, hosts)
        return UvicornServer(uvicorn_config(app, self.config), ready), server

    @property
    def shares(self) -> list[int]:
        """How many sessions each worker may hold."""
        most, workers = self.config.max_sessions, self.config.workers
        return [max(1, most // workers + (number < most % workers)) for number in range(workers)]

    def session_counts(self) -> SessionCounts:
        """What the workers count their sessions with."""
        return SessionCounts(self.shares)

    def engines(self, peers: Peers, ready: Callable[[], object]) -> tuple[UvicornServer, UvicornServer]:
        """What runs a worker: for the world, and for the other workers, whose word about the caller counts."""
        config = msgspec.structs.replace(self.config, max_sessions=self.shares[peers.number])
        served = [] if isinstance(self.offered, Application) else self.offered
        server = Server(served, config, worker=peers.number)
        app = app_of(server, config.listen.allowed, peers=peers)
        plain = msgspec.structs.replace(config, listen=ListenConfig())  # workers speak no TLS among themselves
        within = uvicorn_config(_within(app), plain, lifespan="off", proxy_headers=True, forwarded_allow_ips="*")
        return UvicornServer(uvicorn_config(app, config), ready), UvicornServer(within)


def _within(app: ASGIApp) -> ASGIApp:
    """The same application for the other workers: what they pass on is not passed on again."""

    async def within(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, WITHIN: True}, receive, send)

    return within
