"""The application behind the page of a task: what is new, and the next call."""

import asyncio
from collections.abc import Callable

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ludus.errors import CodecError, LudusError
from ludus.server.failures import error_reply, status_of
from ludus.server.protocols.web_api.page_json import plain
from ludus.tools import Call
from ludus.web.local_server import page_route, secret_app
from ludus.web.task.conversation import Conversation
from ludus.web.view.viewer import as_json

__all__ = ["task_app"]

WAIT_S = 15.0
"""Seconds for which a page that has everything waits for more."""


def task_app(talk: Conversation, understood: Callable[[bytes], Call], secret: str) -> Starlette:
    """The application, under a path that nobody can guess."""

    async def news(request: Request) -> Response:
        version, known = (_whole(request.query_params.get(name, "0")) for name in ("version", "known"))
        found = await asyncio.to_thread(talk.news, version, seconds=WAIT_S, known=known)
        return _json(plain(found))

    async def act(request: Request) -> Response:
        try:
            talk.act(understood(await request.body()))
        except msgspec.DecodeError as error:
            return _refused(CodecError(f"call: expected JSON, got {error}"))
        except LudusError as error:
            return _refused(error)
        return _json({})

    file = page_route("task.js")
    routes = [Route("/", file), Route("/news", news), Route("/act", act, methods=["POST"]), Route("/{name:str}", file)]
    return secret_app(routes, secret)


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _refused(error: LudusError) -> Response:
    return _json({"error": plain(error_reply(error).message)}, status_of(error))


def _json(data: object, status: int = 200) -> Response:
    return Response(as_json(data), status, {"cache-control": "no-store"}, media_type="application/json")
