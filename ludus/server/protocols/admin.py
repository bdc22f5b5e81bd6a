"""For whoever runs the server: its sessions, and its metrics, over all of its workers."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ludus.errors import LudusError, SessionLost
from ludus.server.access import Principal
from ludus.server.failures import is_infrastructure, status_of
from ludus.server.logs import event, short
from ludus.server.metrics import summed
from ludus.server.peers import Peers, worker_of
from ludus.server.server import Server

__all__ = ["routes"]

HERE = "here"
"""`?here=1`: of this worker alone, as the others ask."""
ASK_TIMEOUT_S = 5.0
"""Seconds for another worker to tell what it has."""
PROMETHEUS = "text/plain; version=0.0.4"


def routes(server: Server, peers: Peers | None = None) -> list[BaseRoute]:
    """`/v1/sessions`, `/v1/sessions/ID` and `/metrics`."""
    admin = Admin(server, peers)
    return [
        Route("/v1/sessions", _answering(admin.sessions), methods=["GET"]),
        Route("/v1/sessions/{id}", _answering(admin.kill), methods=["DELETE"]),
        Route("/metrics", _answering(admin.metrics), methods=["GET"]),
    ]


class Admin:
    """What is asked of the whole server."""

    def __init__(self, server: Server, peers: Peers | None) -> None:
        self.server, self.peers = server, peers
        self._begun = monotonic()

    async def sessions(self, request: Request) -> Response:
        """All sessions, oldest first."""
        _principal(request).need("run", "list sessions")
        rows: list[dict[str, object]] = [
            {**one._asdict(), "worker": worker_of(one.id)} for one in self.server.sessions.infos()
        ]
        stuck: list[object] = [one._asdict() for one in self.server.sessions.watch.stuck()]
        silent: list[int] = []
        for number, body in await self._others(request):
            if body is None:
                silent.append(number)
            else:
                told = msgspec.json.decode(body)
                rows += told["sessions"]
                stuck += told["stuck"]
        rows.sort(key=_opened)
        workers = 1 if self.peers is None else len(self.peers.paths)
        return _json({"sessions": rows, "workers": workers, "silent": silent, "stuck": stuck})

    async def kill(self, request: Request) -> Response:
        """Close a session, whoever uses it."""
        principal = _principal(request)
        principal.need("run", "close a session")
        session = self.server.sessions.find(request.path_params["id"])
        event("killed", session=short(session.id), env=session.served.name, by=principal.name)
        await self.server.sessions.close(session, "it was closed by whoever runs the server")
        return _json({"closed": session.id})

    async def metrics(self, request: Request) -> Response:
        """Counters, gauges and times, as Prometheus reads them."""
        _principal(request).need("read", "read metrics")
        texts = [self._text()] + [body.decode() for _, body in await self._others(request) if body is not None]
        return PlainTextResponse(texts[0] if len(texts) == 1 else summed(texts), media_type=PROMETHEUS)

    def _text(self) -> str:
        metrics, sessions = self.server.metrics, self.server.sessions
        infos = sessions.infos()
        metrics.gauge("sessions", len(infos))
        metrics.gauge("sessions_connected", sum(one.connected for one in infos))
        metrics.gauge("sessions_waiting", sessions.waiting)
        metrics.gauge("sessions_stuck", len(sessions.watch.stuck()))
        metrics.gauge("workers", 1)
        metrics.gauge("uptime_seconds", round(monotonic() - self._begun, 3))
        return metrics.text()

    async def _others(self, request: Request) -> list[tuple[int, bytes | None]]:
        """What every other worker answers to the same question about itself; None from one that does not."""
        if self.peers is None or request.query_params.get(HERE):
            return []
        kept = [one for one in request.scope["headers"] if one[0] in (b"authorization", b"host")]
        asked = [self._other(number, f"{request.url.path}?{HERE}=1".encode(), kept) for number in self.peers.others]
        return list(await asyncio.gather(*asked))

    async def _other(self, number: int, target: bytes, headers: list[tuple[bytes, bytes]]) -> tuple[int, bytes | None]:
        if self.peers is None:
            return number, None
        try:
            status, body = await asyncio.wait_for(self.peers.whole(number, target, headers), ASK_TIMEOUT_S)
        except (SessionLost, TimeoutError):
            return number, None
        return number, body if status == 200 else None


def _principal(request: Request) -> Principal:
    return request.state.principal


def _json(data: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(data), status, media_type="application/json")


def _answering(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Our own errors as answers."""

    async def answering(request: Request) -> Response:
        try:
            return await answer(request)
        except LudusError as error:
            told = {"detail": str(error), "kind": type(error).__name__, "infrastructure": is_infrastructure(error)}
            return _json(told, status_of(error))

    return answering


def _opened(row: dict[str, object]) -> float:
    """When the session of a row was opened."""
    found = row["opened"]
    return float(found) if isinstance(found, int | float) else 0.0
