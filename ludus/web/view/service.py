"""`show_runs`: recorded runs in a browser, by a server on this machine alone, for whoever has its address."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, TypedDict, Unpack, overload

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ludus.server.failures import error_reply, status_of
from ludus.server.protocols.web_api.page_json import plain
from ludus.server.run import RunningServer
from ludus.web.local_server import PageServer, nobody, page_route, secret_app
from ludus.web.view.viewer import Viewer, as_json

__all__ = ["runs_app", "show_runs"]

Files = Sequence[str | os.PathLike[str]]
EXECUTED = ("frames", "about")
"""Questions that execute episodes again; so does any that says `again=1`."""


class _Answers:
    """Two readers of the same files, each with a thread of its own: pages go on while frames are drawn."""

    def __init__(self, open_viewer: Callable[[], Viewer]) -> None:
        self._viewers = open_viewer(), open_viewer()
        self._threads = [ThreadPoolExecutor(1, f"ludus-view-{name}") for name in ("read", "draw")]
        # What draws is made while the page is on its way.
        self._threads[1].submit(self._viewers[1].answer, "about", {})

    async def answer(self, name: str, question: dict[str, str]) -> object:
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


def runs_app(answers: _Answers, secret: str) -> Starlette:
    """The application, under a path that nobody can guess."""

    async def ask(request: Request) -> Response:
        try:
            return _json(await answers.answer(request.path_params["name"], dict(request.query_params)))
        except Exception as error:
            reply = error_reply(error)
            return _json({"error": plain({"kind": reply.kind, "message": reply.message})}, status_of(error))

    file = page_route("view.js")
    return secret_app([Route("/", file), Route("/{name:str}", file), Route("/ask/{name:str}", ask)], secret)


def _json(data: object, status: int = 200) -> Response:
    return Response(as_json(data), status, {"cache-control": "no-store"}, media_type="application/json")


@overload
def show_runs(files: Files, *, block: Literal[False], **options: Unpack["ShowOptions"]) -> RunningServer: ...
@overload
def show_runs(files: Files, *, block: Literal[True] = ..., **options: Unpack["ShowOptions"]) -> None: ...
def show_runs(files: Files, *, block: bool = True, **options: Unpack["ShowOptions"]) -> RunningServer | None:
    """Show runs until SIGINT or SIGTERM; with `block=False` at once, with a handle whose `url` a browser opens.

    Options: `port` (0: any that is free), `trust` and `isolation` as for `Viewer`, `ready`, called with the address.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("CartPole-v1"), path) as env:
    ...     _ = env.reset(seed=7), env.step(1)
    >>> with show_runs([path], block=False) as running:
    ...     running.url.startswith("http://127.0.0.1:")
    True
    """
    trust, isolation = options.get("trust", False), options.get("isolation")
    answers = _Answers(partial(Viewer, files, trust=trust, isolation=isolation))
    server = PageServer(
        partial(runs_app, answers),
        port=options.get("port", 0),
        ready=options.get("ready", nobody),
        ended=answers.close,
    )
    if block:
        server.run()
        return None
    return server.start("ludus-view")


class ShowOptions(TypedDict, total=False):
    """What `show_runs` takes by name."""

    port: int
    trust: bool
    isolation: str | None
    ready: Callable[[str], object]
