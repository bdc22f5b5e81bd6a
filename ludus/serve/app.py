"""`create_app`: a server as an ASGI application, for `ludus serve` and for whoever has an ASGI server of their own."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from ludus.serve.access import Access
from ludus.serve.doors import wire
from ludus.serve.guard import Guard
from ludus.serve.server import Server
from ludus.serve.settings import Settings

__all__ = ["app_of", "create_app"]


def create_app(
    *targets: Any, settings: Settings | None = None, access: Access | None = None, hosts: Iterable[str] | None = ()
) -> Starlette:
    """An ASGI application that serves environments: ids, specs, Env classes, or `Served` values.

    The first is at the root, and each under `/env/NAME`. `hosts` are the names that the server may be called by beside
    this machine's own; None allows any.

    >>> create_app("CartPole-v1").state.server.sessions.served().name
    'CartPole-v1'
    """
    return app_of(Server(targets, settings, access), hosts)


def app_of(server: Server, hosts: Iterable[str] | None = ()) -> Starlette:
    """The application of a server that is made already."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        await server.sessions.start()
        try:
            yield
        finally:
            await server.sessions.stop()

    guard = Middleware(Guard, access=server.access, hosts=hosts)
    app = Starlette(routes=_routes(server), middleware=[guard], lifespan=lifespan)
    app.state.server = server
    return app


def _routes(server: Server) -> list[BaseRoute]:
    return [*wire.routes(server)]
