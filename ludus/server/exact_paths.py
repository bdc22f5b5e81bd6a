"""`ExactPaths`: requests whose path is one of ours to the letter go to their endpoint, past the routers' patterns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.server.protocols.openenv.exchange import Endpoint

__all__ = ["ExactPaths"]


class RouteMatch(NamedTuple):
    """Where a request leads."""

    endpoint: Endpoint
    root: str
    """The path of what it is mounted in."""


class ExactPaths:
    """An ASGI application before the routers: it knows what they find for a path and a method; all else is theirs.

    Only endpoints that answer every error by themselves are known: nothing is around them here.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self.app = app
        matches = {(path, method): _found(routes, _scope(path, method)) for path, method in _paths(routes, "")}
        self.known = {key: found for key, found in matches.items() if found is not None}
        """By path and method."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None
        if scope["type"] == "http" and not scope.get("root_path"):
            found = self.known.get((scope["path"], scope["method"]))
        if found is None:
            await self.app(scope, receive, send)
        else:
            scope["root_path"] = found.root
            await found.endpoint(scope, receive, send)


def _paths(routes: Iterable[BaseRoute], root: str) -> Iterator[tuple[str, str]]:
    """The paths without parameters that lead to endpoints of ours, with their methods."""
    for one in routes:
        if isinstance(one, Mount):
            yield from _paths(one.routes or (), root + one.path)
        elif isinstance(one, Route) and not one.param_convertors and isinstance(one.endpoint, Endpoint):
            yield from ((root + one.path, method) for method in one.methods or ())


def _scope(path: str, method: str) -> Scope:
    return {"type": "http", "path": path, "method": method, "root_path": "", "headers": []}


def _found(routes: Iterable[BaseRoute], scope: Scope) -> RouteMatch | None:
    """What the routers would find, which take the first that matches; None where that is not an endpoint of ours."""
    for one in routes:
        match, inner = one.matches(scope)
        if match is Match.FULL:
            if isinstance(one, Mount):
                return _found(one.routes or (), {**scope, **inner})
            if isinstance(one, Route) and isinstance(one.endpoint, Endpoint):
                return RouteMatch(one.endpoint, scope["root_path"])
            return None
    return None
