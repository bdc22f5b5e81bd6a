"""`PageServer`: an application for one person: on loopback, under a path that nobody can guess."""

import secrets
import threading
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount

from ludus.server.config import ServerConfig
from ludus.server.guard import Guard
from ludus.server.listen_config import ListenConfig
from ludus.server.run import RunningServer, on_signals
from ludus.server.uvicorn_server import UvicornServer, uvicorn_config
from ludus.web.bundle import bundle, document

__all__ = ["PageServer", "nobody", "page_route", "secret_app"]

SECRET_BYTES = 16
STOP_TIMEOUT_S = 10.0
"""Seconds for which the end of a server is waited for."""
HEAD = """<link rel="stylesheet" href="page.css">
<script src="theme.js"></script>
<script type="module" src="page.js"></script>"""


def secret_app(routes: Sequence[BaseRoute], secret: str) -> Starlette:
    """An application all of which is below a secret path: other users of the machine reach the port too."""
    guard = Middleware(Guard, config=ServerConfig(), hosts=())
    return Starlette(routes=[Mount(f"/{secret}", routes=[*routes])], middleware=[guard])


def page_route(entry: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers for a page made of one entry module: itself, its script and its style."""
    early, script, style = bundle(entry)
    files = {
        "": (document(head=HEAD, tail=""), "text/html"),
        "page.js": (script, "text/javascript"),
        "theme.js": (early, "text/javascript"),
        "page.css": (style, "text/css"),
    }

    async def file(request: Request) -> Response:
        found = files.get(request.path_params.get("name", ""))
        if found is None:
            return Response("no such file", 404, media_type="text/plain")
        return Response(found[0], headers={"cache-control": "no-cache"}, media_type=found[1])

    return file


def nobody(url: str) -> None:
    """What is called with the address where nobody wants to know it."""
    del url


class PageServer:
    """Serves what `make_app(secret)` gives; `ended` is called when it has stopped, `ready` with the address."""

    def __init__(
        self,
        make_app: Callable[[str], Starlette],
        *,
        port: int = 0,
        ready: Callable[[str], object] = nobody,
        ended: Callable[[], object] = lambda: None,
    ) -> None:
        secret, listening = secrets.token_urlsafe(SECRET_BYTES), ListenConfig(port=port)
        listening.check(open_to_all=True)
        app = make_app(secret)
        self._listener = listening.bind()
        self.url = f"{listening.url(self._listener)}/{secret}/"
        self._up, self._ready, self._ended = threading.Event(), ready, ended
        self._engine = UvicornServer(uvicorn_config(app, ServerConfig(listen=listening)), self._began)

    def _began(self) -> None:
        self._up.set()
        self._ready(self.url)

    def _live(self) -> None:
        try:
            self._engine.run([self._listener])
        finally:
            self._listener.close()
            self._ended()
            self._up.set()

    def run(self) -> None:
        """Until SIGINT or SIGTERM."""
        with on_signals(self._engine.stop):
            self._live()

    def start(self, name: str) -> RunningServer:
        """In a thread of that name, until the handle is closed."""
        thread = threading.Thread(target=self._live, name=name, daemon=True)
        thread.start()
        self._up.wait()

        def stop() -> None:
            self._engine.stop()
            thread.join(STOP_TIMEOUT_S)

        return RunningServer(self.url, stop)
