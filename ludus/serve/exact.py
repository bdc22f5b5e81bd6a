"""`ExactPaths`: requests whose path is one of ours to the letter go to their endpoint, past the routers' patterns."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.serve.doors.openenv.exchange import Endpoint

__all__ = ["ExactPaths"]


class Found(NamedTuple):
    """What a path leads to."""

    endpoint: ASGIApp
    methods: frozenset[str]
    root: str


class ExactPaths:
    """An ASGI application before the routers; what it does not know, or is asked by another method, is theirs.

    Only endpoints that answer every error by themselves are known: nothing is around them here.
    """

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self.app, self._known = app, dict[str, Found]()
        for path, found in _endpoints(routes, ""):
            self._known.setdefault(path, found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._known.get(scope["path"]) if scope["type"] == "http" and not scope.get("root_path") else None
        if found is None or scope["method"] not in found.methods:
            await self.app(scope, receive, send)
            return
        scope["root_path"] = found.root
        await found.endpoint(scope, receive, send)


def _endpoints(routes: Iterable[BaseRoute], root: str) -> Iterator[tuple[str, Found]]:
    for one in routes:
        inner: Any = one
        if isinstance(one, Mount) and not one.param_convertors:
            yield from _endpoints(inner.routes or (), root + one.path)
        elif isinstance(one, Route) and not one.param_convertors and isinstance(one.endpoint, Endpoint):
            yield root + one.path, Found(one.endpoint, frozenset(one.methods or ()), root)
