"""The static files as routes; `ludus.server` finds them by name."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

__all__ = ["routes"]

FOLDER = Path(__file__).parent / "static"
FIRST = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
VERSION = b"static/VERSION/"
"""Stands in the first page for the folder that is named after what is in it, whose files never change."""


class PageFile(NamedTuple):
    """A file, read once."""

    body: bytes
    media_type: str
    etag: str

    def answer(self, request: Request, caching: str) -> Response:
        """The file, or word that the browser has it already."""
        headers = {"etag": self.etag, "cache-control": caching}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.body, headers=headers, media_type=self.media_type)


def routes() -> list[BaseRoute]:
    """`/`, and everything under `/static`: exactly the files that were there when the server started.

    >>> [route.path for route in routes()]
    ['/', '/static/{path:path}']
    """
    files = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in sorted(FOLDER.rglob("*.*"))}
    version = sha256(b"".join(name.encode() + body for name, body in files.items())).hexdigest()[:12]
    files[FIRST] = files[FIRST].replace(VERSION, f"static/{version}/".encode())
    pages = {name: _page(name, body) for name, body in files.items() if Path(name).suffix in TYPES}

    async def first(request: Request) -> Response:
        return pages[FIRST].answer(request, ASK_AGAIN)

    async def static(request: Request) -> Response:
        # Names are looked up, never opened: a path that is not exactly one of them leads nowhere.
        path: str = request.path_params["path"]
        name = path.removeprefix(f"{version}/")
        if name not in pages or name == FIRST:
            return PlainTextResponse("no such file", 404)
        return pages[name].answer(request, ASK_AGAIN if name == path else FOREVER)

    return [Route("/", first), Route("/static/{path:path}", static)]


def _page(name: str, body: bytes) -> PageFile:
    return PageFile(body, TYPES[Path(name).suffix], f'"{sha256(body).hexdigest()[:24]}"')
