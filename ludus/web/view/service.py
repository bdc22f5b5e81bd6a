"""`show_runs`: recorded runs in a browser, by a server on this machine alone, for whoever has its address."""

import asyncio
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

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
from ludus.serve.run import Running, on_signals
from ludus.serve.settings import Settings
from ludus.web.view.page import bundle, document
from ludus.web.view.viewer import Viewer, as_json

__all__ = ["runs_app", "show_runs"]

SECRET_BYTES = 16
ENDING = 10.0
Files = Sequence[str | os.PathLike[str]]
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
    return Response(as_json(data), status, {"cache-control": "no-store"}, media_type="application/json")


@overload
def show_runs(files: Files, *, block: Literal[False], **options: Unpack["ShowOptions"]) -> Running: ...
@overload
def show_runs(files: Files, *, block: Literal[True] = ..., **options: Unpack["ShowOptions"]) -> None: ...
def show_runs(files: Files, *, block: bool = True, **options: Unpack["ShowOptions"]) -> Running | None:
    """Show runs until SIGINT or SIGTERM; with `block=False` at once, with a handle whose `url` a browser opens.

    Options: `port` (0: any that is free), `trust` and `isolation` as for `Viewer`, `ready`, which is told the address.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("CartPole-v1"), path) as env:
    ...     _ = env.reset(seed=7), env.step(1)
    >>> with show_runs([path], block=False) as running:
    ...     running.url.startswith("http://127.0.0.1:")
    True
    """
    secret, listening = secrets.token_urlsafe(SECRET_BYTES), Listening(port=options.get("port", 0))
    listening.check(open_to_all=True)
    trust, isolation = options.get("trust", False), options.get("isolation")
    app = runs_app(partial(Viewer, files, trust=trust, isolation=isolation), secret)
    listener = listening.bind()
    url, up = f"{listening.url(listener)}/{secret}/", threading.Event()

    def ready() -> None:
        up.set()
        options.get("ready", _nobody)(url)

    engine = Engine(config(app, Settings(), listening), ready)

    def live() -> None:
        try:
            engine.run([listener])
        finally:
            listener.close()
            app.state.answers.close()
            up.set()

    if block:
        with on_signals(engine.stop):
            live()
        return None
    thread = threading.Thread(target=live, name="ludus-view", daemon=True)
    thread.start()
    up.wait()

    def stop() -> None:
        engine.stop()
        thread.join(ENDING)

    return Running(url, stop)


class ShowOptions(TypedDict, total=False):
    """What `show_runs` takes by name."""

    port: int
    trust: bool
    isolation: str | None
    ready: Callable[[str], Any]


def _nobody(url: str) -> None:
    del url
