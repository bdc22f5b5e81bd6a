"""`ServerPlan`: what is to be served, where, and to whom; settled, but not running yet."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.errors import InvalidArgument
from ludus.server.access import Access
from ludus.server.app import app_of, guarded
from ludus.server.listen_config import ListenConfig
from ludus.server.peers import Peers
from ludus.server.server import Server
from ludus.server.session_counts import SessionCounts
from ludus.server.settings import Settings
from ludus.server.targets import Application, offered
from ludus.server.uvicorn_server import UvicornServer, config
from ludus.server.worker_proxy import WITHIN

__all__ = ["ServerPlan"]


class ServerPlan:
    """Everything is checked here, before anything is bound or started."""

    def __init__(self, targets: Sequence[Any], settings: Settings, access: Access, listening: ListenConfig) -> None:
        listening.check(open_to_all=access.open)
        self.settings, self.access, self.listening = settings, access, listening
        self.offered = offered(targets, settings)
        several = settings.workers > 1
        if several and isinstance(self.offered, Application):
            raise InvalidArgument(f"workers: expected 1 for the application {self.offered.name!r}, got several")
        if several and listening.unix is not None:
            raise InvalidArgument("workers: expected 1 for a server with a Unix socket, got several")

    @property
    def described(self) -> str:
        """What is served, and in which isolation."""
        offered = [self.offered] if isinstance(self.offered, Application) else self.offered
        return ", ".join(f"{one.name} (isolation: {one.isolation})" for one in offered)

    def engine(self, ready: Callable[[], Any] = lambda: None) -> tuple[UvicornServer, Server | None]:
        """What runs it in this process, alone."""
        hosts = self.listening.allowed
        if isinstance(self.offered, Application):
            app, server = guarded(self.offered.app, self.access, hosts), None
        else:
            server = Server(self.offered, self.settings, self.access)
            app = app_of(server, hosts, pages=self.listening.pages, unix=self.listening.unix)
        return UvicornServer(config(app, self.settings, self.listening), ready), server

    @property
    def shares(self) -> list[int]:
        """How many sessions each worker may hold."""
        most, workers = self.settings.max_sessions, self.settings.workers
        return [max(1, most // workers + (number < most % workers)) for number in range(workers)]

    def session_counts(self) -> SessionCounts:
        """What the workers count their sessions with."""
        return SessionCounts(self.shares)

    def engines(self, peers: Peers, ready: Callable[[], Any]) -> tuple[UvicornServer, UvicornServer]:
        """What runs a worker: for the world, and for the other workers, whose word about the caller counts."""
        settings = msgspec.structs.replace(self.settings, max_sessions=self.shares[peers.number])
        served = [] if isinstance(self.offered, Application) else self.offered
        server = Server(served, settings, self.access, worker=peers.number)
        app = app_of(server, self.listening.allowed, pages=self.listening.pages, peers=peers)
        within = config(
            _within(app), settings, ListenConfig(), lifespan="off", proxy_headers=True, forwarded_allow_ips="*"
        )
        return UvicornServer(config(app, settings, self.listening), ready), UvicornServer(within)


def _within(app: ASGIApp) -> ASGIApp:
    """The same application for the other workers: what they pass on is not passed on again."""

    async def within(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, WITHIN: True}, receive, send)

    return within
