"""The routes that the pages use: `/v1/envs`, `/v1/envs/NAME`, `/v1/picture?env=NAME`, and `/v1/play?env=NAME`."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ludus.server.failures import error_reply, status_of
from ludus.server.protocols.web_api.catalogue import entry, page, snippets
from ludus.server.protocols.web_api.page_json import plain
from ludus.server.protocols.web_api.play import PlaySession
from ludus.server.protocols.web_api.preview import Previews
from ludus.server.rate import Bucket
from ludus.server.server import Server

__all__ = ["routes"]

Endpoint = Callable[[Request], Awaitable[Response]]
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""A picture is an environment's work: opened alone, it is a document that runs nothing and belongs nowhere."""


def routes(server: Server) -> list[BaseRoute]:
    """The routes of the whole server."""
    previews = Previews(server)

    async def catalogue(request: Request) -> Response:
        who = request.state.principal
        who.need("read", "see the catalogue")
        seen = {"role": who.role, "tokens": not server.access.open}
        return _json({"server": seen, "envs": [entry(one) for one in server.offered.values()]})

    async def environment(request: Request) -> Response:
        request.state.principal.need("read", "see an environment")
        served = server.sessions.served(request.path_params["name"])
        described = await asyncio.get_running_loop().run_in_executor(None, served.description)
        keys = (await previews.of(served.name)).keys
        python = snippets(served, str(request.base_url), token=not server.access.open)
        return _json({**page(served, described, keys), "python": python})

    async def picture(request: Request) -> Response:
        request.state.principal.need("read", "see a picture")
        preview = await previews.of(request.query_params.get("env", ""))
        headers = {"cache-control": "private, no-cache", "etag": preview.etag}
        if not preview.picture:
            return Response(status_code=204)
        if request.headers.get("if-none-match") == preview.etag:
            return Response(status_code=304, headers=headers)
        headers["content-security-policy"] = PICTURE_POLICY
        return Response(preview.picture, media_type=preview.media_type, headers=headers)

    async def play(socket: WebSocket) -> None:
        playing = PlaySession(server, socket.state.principal, socket.query_params.get("env", ""))
        await _play(socket, playing, Bucket(server.config.rate))

    return [
        Route("/v1/envs", _guarded(catalogue)),
        Route("/v1/envs/{name:path}", _guarded(environment)),
        Route("/v1/picture", _guarded(picture)),
        WebSocketRoute("/v1/play", play),
    ]


def _guarded(endpoint: Endpoint) -> Endpoint:
    """The endpoint, whose errors are replies."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:
            reply = error_reply(error)
            return _json({"error": plain({"kind": reply.kind, "message": reply.message})}, status_of(error))

    return guarded


def _json(data: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(data), status, headers, media_type="application/json")


async def _play(socket: WebSocket, playing: PlaySession, bucket: Bucket) -> None:
    """Answer each message in its turn, until the page goes away."""
    await socket.accept()
    try:
        while socket.application_state is WebSocketState.CONNECTED:
            message = await socket.receive()
            if message["type"] != "websocket.receive":
                break
            await asyncio.sleep(bucket.take())
            text = message.get("text")
            reply = await playing.answer(text if text is not None else "")
            await socket.send({"type": "websocket.send", "text": reply.decode()})
    except (WebSocketDisconnect, RuntimeError, OSError):
        return  # the page was left while it was answered
    finally:
        await playing.close()
