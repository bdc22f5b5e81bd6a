"""`show_runs`: recorded runs in a browser, by a server on this machine alone, for whoever has its address."""

import asyncio
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from ludus.serve.access import Access
from ludus.serve.doors.browse.shown import plain
from ludus.serve.engine import Engine, config
from ludus.serve.failing import error_reply, status_of
from ludus.serve.guard import Guard
from ludus.serve.listening import Listening
from ludus.serve.run import on_signals
from ludus.serve.settings import Settings
from ludus.web.view.page import bundle, document
from ludus.web.view.viewer import Viewer

__all__ = ["runs_app", "show_runs"]

SECRET_BYTES = 16
EXECUTED = ("frames", "about")
"""Questions that execute episodes again; so does any that says `again=1`."""
HEAD = """<link rel="stylesheet" href="view.css">
<script src="theme.js"></script>
<script type="module" src="view.js"></script>"""


class _Answers:
    """Two readers of the same files, each with a thread of its own: pages go on while frames are drawn."""

    def __init__(self, open_viewer: Callable[[], Viewer]) -> None:
        self._viewers = open_viewer(), open_viewer()
        self._threads = [ThreadPoolExecutor(1, f"ludus-view-{name}") for name in ("read", "draw")]
        # What draws is made while the page is on its way.
        self._threads[1].submit(self._viewers[1].answer, "about", {})

    async def answer(self, name: str, question: dict[str, str]) -> Any:
        draws = name in EXECUTED or question.get("again") == "1"
        viewer = self._viewers[draws]
        if draws:
            for one in viewer.runs:
                one.refresh()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads[draws], viewer.answer, name, question)

    def close(self) -> None:
        for viewer, thread in zip(self._viewers, self._threads, strict=True):
            thread.submit(viewer.close)
            thread.shutdown(wait=False)


def runs_app(open_viewer: Callable[[], Viewer], secret: str) -> Starlette:
    """The application, all of it under a path that nobody can guess: other users of the machine reach the port too."""
    answers = _Answers(open_viewer)
    early, script, style = bundle()
    files = {
        "": (document(head=HEAD, tail=""), "text/html"),
        "view.js": (script, "text/javascript"),
        "theme.js": (early, "text/javascript"),
        "view.css": (style, "text/css"),
    }

    async def file(request: Request) -> Response:
        found = files.get(request.path_params.get("name", ""))
        if found is None:
            return Response("no such file", 404, media_type="text/plain")
        return Response(found[0], headers={"cache-control": "no-cache"}, media_type=found[1])

    async def ask(request: Request) -> Response:
        try:
            return _json(await answers.answer(request.path_params["name"], dict(request.query_params)))
        except Exception as error:
            reply = error_reply(error)
            return _json({"error": plain({"kind": reply.kind, "message": reply.message})}, status_of(error))

    within = [Route("/", file), Route("/{name:str}", file), Route("/ask/{name:str}", ask)]
    guard = Middleware(Guard, access=Access(), hosts=(), settings=Settings())
    app = Starlette(routes=[Mount(f"/{secret}", routes=within)], middleware=[guard])
    app.state.answers = answers
    return app


def _json(data: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(data), status, {"cache-control": "no-store"}, media_type="application/json")


def show_runs(
    files: Sequence[str | os.PathLike[str]],
    *,
    port: int = 0,
    trust: bool = False,
    isolation: str | None = None,
    ready: Callable[[str], Any] = lambda _: None,
) -> None:
    """Show runs until SIGINT or SIGTERM; `ready` is told the address. Port 0 is any that is free."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    app = runs_app(partial(Viewer, files, trust=trust, isolation=isolation), secret)
    listening = Listening(port=port)
    listening.check(open_to_all=True)
    try:
        with listening.bind() as listener:
            engine = Engine(config(app, Settings(), listening), lambda: ready(f"{listening.url(listener)}/{secret}/"))
            with on_signals(engine.stop):
                engine.run([listener])
    finally:
        app.state.answers.close()
