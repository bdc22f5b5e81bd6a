"""`create_app`: a server as an ASGI application, for `ludus serve` and for whoever has an ASGI server of their own."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount

from ludus.core.spec import load_entry_point
from ludus.serve.access import Access
from ludus.serve.doors import admin, browse, mcp, openenv, wire
from ludus.serve.guard import Guard
from ludus.serve.served import Served
from ludus.serve.server import Server
from ludus.serve.settings import Settings

__all__ = ["app_of", "create_app"]

PAGES = "ludus.web.pages:routes"
"""By name: the pages are above this room, and a server without them is still one."""


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
    """All doors: each environment under its name, the first at the root too, and what belongs to the whole server."""
    whole = [*wire.routes(server), *admin.routes(server), *browse.routes(server)]
    named: list[BaseRoute] = [Mount(f"/env/{name}", routes=_doors(server, one)) for name, one in server.offered.items()]
    return [*whole, *named, *_doors(server, server.sessions.served()), *load_entry_point(PAGES)()]


def _doors(server: Server, served: Served) -> list[BaseRoute]:
    return [*openenv.routes(server, served), *mcp.routes(server, served)]
