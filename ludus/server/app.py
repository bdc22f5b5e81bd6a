"""`create_app`: a server as an ASGI application, for `ludus serve` and for whoever has an ASGI server of their own."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.errors import InvalidArgument, LudusError
from ludus.registry.extensions import extensions
from ludus.server.access import Access, Principal
from ludus.server.config import ServerConfig
from ludus.server.exact_paths import ExactPaths
from ludus.server.guard import Guard
from ludus.server.logs import log_session
from ludus.server.peers import Peers
from ludus.server.protocols import admin, mcp, openenv, web_api, wire
from ludus.server.protocols.unix import serve_unix
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.targets import Application, ServeTarget, offered
from ludus.server.worker_proxy import WorkerProxy

__all__ = ["app_of", "create_app", "guarded"]

FOR_RUNNERS = "role: expected orchestrator, for an application that knows no roles, got another"
FORBIDDEN = JSONResponse({"detail": FOR_RUNNERS}, 403)


def create_app(
    *targets: ServeTarget,
    config: ServerConfig | None = None,
    access: Access | None = None,
    hosts: Iterable[str] | None = (),
) -> Starlette:
    """An ASGI application that serves environments: ids, specs, Env classes, folders, or `ServedEnv` values.

    The first is at the root, and each under `/env/NAME`. `hosts` are the names that the server may be called by beside
    this machine's own; None allows any. It is for one process: sessions live in it.

    >>> create_app("CartPole-v1").state.server.sessions.served().name
    'CartPole-v1'
    """
    config = config or ServerConfig()
    config = config if access is None else msgspec.structs.replace(config, access=access)
    found = offered(targets, config)
    if isinstance(found, Application):
        raise InvalidArgument(f"create_app: expected environments, got {found.name!r}, which is an application already")
    return app_of(Server(found, config), hosts)


def app_of(server: Server, hosts: Iterable[str] | None = (), *, peers: Peers | None = None) -> Starlette:
    """The application of a server that is made already; with its path for the wire where it is not one of workers."""
    listen = server.config.listen
    unix = listen.unix if peers is None else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as held:
            await server.sessions.start()
            held.push_async_callback(server.sessions.stop)
            try:
                if unix is not None:
                    await held.enter_async_context(await serve_unix(server, unix))
            except LudusError as error:
                app.state.failure = error
                raise
            if peers is not None:
                held.callback(peers.close)
            yield

    server.sessions.listeners += [log_session] if peers is None else [log_session, peers.hear]
    middleware = [Middleware(Guard, config=server.config, hosts=hosts, pages=listen.pages)]
    if peers is not None:
        middleware.append(Middleware(WorkerProxy, peers=peers, config=server.config))
    routes = _routes(server, peers)
    middleware.append(Middleware(ExactPaths, routes=routes))
    app = Starlette(routes=routes, middleware=middleware, lifespan=lifespan)
    app.state.server = server
    return app


def guarded(app: ASGIApp, config: ServerConfig, hosts: Iterable[str] | None = ()) -> ASGIApp:
    """An application that is not ours behind our guard; roles mean nothing to it, so it is for those who may run it."""

    async def for_runners(scope: Scope, receive: Receive, send: Send) -> None:
        principal: Principal | None = scope.get("state", {}).get("principal")
        if principal is not None and not principal.may("run"):
            refusal = {"type": "websocket.close", "code": 4403, "reason": FOR_RUNNERS}
            await (send(refusal) if scope["type"] == "websocket" else FORBIDDEN(scope, receive, send))
            return
        await app(scope, receive, send)

    return Guard(for_runners, config, hosts)


def _routes(server: Server, peers: Peers | None) -> list[BaseRoute]:
    """All routes: each environment under its name, the first at the root too, and what belongs to the whole server."""
    whole = [*admin.routes(server, peers), *web_api.routes(server)]
    named: list[BaseRoute] = [
        Mount(f"/env/{name}", routes=_routes_of(server, one)) for name, one in server.offered.items()
    ]
    first = _routes_of(server, server.sessions.served())
    return [
        *wire.routes(server),
        *named,
        *whole,
        *first,
        *(extensions().pages() if server.config.listen.pages else []),
    ]


def _routes_of(server: Server, served: ServedEnv) -> list[BaseRoute]:
    return [*openenv.routes(server, served), *mcp.routes(server, served)]
