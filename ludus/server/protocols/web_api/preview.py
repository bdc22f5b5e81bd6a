"""Previews: what has to be seen of an environment before it is played: its first frame, and its keys."""

import asyncio
from base64 import b64decode
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from ludus.errors import ServerBusy
from ludus.remote.host import EnvHost
from ludus.server.access import Principal
from ludus.server.protocols.web_api.frame import Frame, best_mode, frame_of
from ludus.server.protocols.web_api.keys import KeyTable, key_table
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session

__all__ = ["Preview", "Previews", "open_session"]

PAINTER = Principal("orchestrator", "pictures")
MAX_CONCURRENT_PREVIEWS = 2
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


class Preview(NamedTuple):
    """An environment's first frame (empty where it draws none) and its table of keys."""

    picture: bytes
    media_type: str
    keys: KeyTable

    @property
    def etag(self) -> str:
        """Tells one picture from another."""
        return f'"{sha256(self.picture).hexdigest()[:24]}"'


EMPTY = Preview(b"", "", {"keys": [], "idle": None, "has_idle": False, "buttons": []})


class Previews:
    """The previews of a server's environments, each taken once, in a session that lives as long as that takes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._taken: dict[str, asyncio.Task[Preview]] = {}
        self._turns: asyncio.Semaphore | None = None

    async def of(self, name: str) -> Preview:
        """The preview of an environment; empty where the environment does not get as far as its first frame."""
        served = self._server.sessions.served(name)
        task = self._taken.get(served.name)
        if task is None:
            task = self._taken[served.name] = asyncio.get_running_loop().create_task(self._take(served))
        try:
            return await asyncio.shield(task)
        except ServerBusy:
            self._taken.pop(served.name, None)
            return EMPTY
        except Exception:  # its page says what is wrong; a missing picture is no error of its own
            return EMPTY

    async def _take(self, served: ServedEnv) -> Preview:
        self._turns = self._turns or asyncio.Semaphore(MAX_CONCURRENT_PREVIEWS)
        async with self._turns:
            session = await open_session(self._server, served.name, PAINTER)
            try:
                return await session.call(_preview, long=True)
            finally:
                await self._server.sessions.close(session, "its picture was taken")


def _preview(hosted: EnvHost) -> Preview:
    keys = key_table(hosted.env)
    frame: Frame | None = None
    with suppress(Exception):
        hosted.reset(seed=0)
        frame = frame_of(hosted)
    if frame is None or frame["kind"] not in MEDIA_TYPES:
        return Preview(b"", "", keys)
    data = frame["data"].encode() if frame["kind"] == "svg" else b64decode(frame["data"])
    return Preview(data, MEDIA_TYPES[frame["kind"]], keys)


async def open_session(server: Server, name: str, principal: Principal) -> Session:
    """A session whose environment draws in the way that suits a page, unless the server's owner chose another."""
    principal.need("run", "open a session")
    served = server.sessions.served(name)
    described = await asyncio.get_running_loop().run_in_executor(None, served.description)
    mode = best_mode(described.metadata.get("render_modes") or [])
    chosen = {} if mode is None or "render_mode" in served.arguments else {"render_mode": mode}
    return await server.sessions.open(name, principal, arguments=chosen)
