"""`ludus sessions`: what a server holds, and the end of one of them."""

import http.client
import ssl
from typing import Annotated, TypedDict
from urllib.parse import quote, urlsplit

import msgspec
import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.cli.tokens import given_token
from ludus.errors import AccessDenied, ConnectionLost, InvalidArgument, ServiceError, SessionLost
from ludus.spaces.kinds import is_dict

__all__ = ["sessions"]

REQUEST_TIMEOUT_S = 10.0
MAX_RESPONSE_BYTES = 64 << 20
SHOWN_ID_CHARS = 8
"""Characters of an id in the table: enough to name it here, too few to use it elsewhere."""


def sessions(
    url: Annotated[str, typer.Argument(help="The server.")] = "http://127.0.0.1:8000",
    token: Annotated[
        str | None, typer.Option(help="Of the role orchestrator; LUDUS_TOKEN, which others cannot read, is safer.")
    ] = None,
    kill: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Close this one, by the start of its id.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with whole ids.")] = False,
) -> None:
    """List the sessions of a server, or close some."""
    service = ServerAdmin(url, given_token(token))
    answer = service.ask("GET", "/v1/sessions")
    found = service.listed(answer)
    for start in kill or ():
        one = _the_one(found["sessions"], start)
        service.ask("DELETE", f"/v1/sessions/{quote(one, safe='')}")
        out.print(f"closed {_short(one)}", markup=False)
    if as_json:
        print(msgspec.json.encode(answer).decode())
    elif not kill:
        _print(found)


class SessionRow(TypedDict):
    """What a server says of a session."""

    id: str
    env: str
    isolation: str
    owner: str
    lanes: int
    steps: int
    idle: float
    connected: bool


class SessionList(TypedDict):
    """What it says of all of them."""

    sessions: list[SessionRow]
    workers: int


class ServerAdmin:
    """A server, by its address."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url if "//" in url else f"//{url}", "http")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(f"url: expected one like http://127.0.0.1:8000, got {url!r}")
        self.url, self._host, self._port = url, parts.hostname, parts.port
        self._secured, self._base = parts.scheme == "https", parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def listed(self, answer: object) -> SessionList:
        """The sessions of an answer."""
        try:
            return msgspec.convert(answer, SessionList)
        except msgspec.ValidationError as error:
            raise ConnectionLost(f"{self.url}: expected a Ludus server, got {error}") from error

    def ask(self, method: str, path: str) -> object:
        """What it answers, as JSON."""
        try:
            status, body = self._ask(method, path)
            answer: object = msgspec.json.decode(body)
        except (OSError, http.client.HTTPException, msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ConnectionLost(f"{self.url}: expected a Ludus server, got {error}") from error
        if status == 200:
            return answer
        kind = {401: AccessDenied, 403: AccessDenied, 404: SessionLost}.get(status, ServiceError)
        raise kind(f"{self.url}: {answer.get('detail', status) if is_dict(answer) else status}")

    def _ask(self, method: str, path: str) -> tuple[int, bytes]:
        if self._secured:
            context = ssl.create_default_context()
            link = http.client.HTTPSConnection(self._host, self._port, timeout=REQUEST_TIMEOUT_S, context=context)
        else:
            link = http.client.HTTPConnection(self._host, self._port, timeout=REQUEST_TIMEOUT_S)
        try:
            link.request(method, self._base + path, headers=self._headers)
            answer = link.getresponse()
            return answer.status, answer.read(MAX_RESPONSE_BYTES)
        finally:
            link.close()


def _the_one(rows: list[SessionRow], start: str) -> str:
    ids = [row["id"] for row in rows if row["id"].startswith(start.rstrip("…"))]
    if len(ids) != 1:
        raise SessionLost(f"--kill {start}: expected the start of one session's id, got that of {len(ids)}")
    return ids[0]


def _short(id: str) -> str:
    return f"{id[:SHOWN_ID_CHARS]}…"


def _print(found: SessionList) -> None:
    rows = found["sessions"]
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("session", no_wrap=True)
    table.add_column("environment", min_width=len("CartPole-v1"), overflow="fold")
    table.add_column("isolation", no_wrap=True)
    table.add_column("owner", overflow="fold")
    for name in ("lanes", "steps", "idle", "live"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        words = [_short(row["id"]), row["env"], row["isolation"], row["owner"]]
        numbers = [str(row["lanes"] or "–"), f"{row['steps']:,}", f"{row['idle']:.0f} s"]
        table.add_row(*(Text(word) for word in (*words, *numbers, "yes" if row["connected"] else "no")))
    if rows:
        out.print(table)
    workers = f" in {found['workers']} workers" if found["workers"] > 1 else ""
    out.print(f"{len(rows)} session{'' if len(rows) == 1 else 's'}{workers}", style="dim")
