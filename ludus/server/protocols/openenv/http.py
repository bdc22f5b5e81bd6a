"""Plain HTTP that holds an episode: reset opens a session, and step, state and close mean it until it ends."""

import asyncio
from collections.abc import Coroutine
from weakref import WeakKeyDictionary

from starlette.routing import BaseRoute, Route

from ludus.errors import InvalidArgument, listing, shorten
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.envelope import to_json
from ludus.server.protocols.openenv.exchange import JSON, Endpoint, HttpReply, HttpRequest, Sessionless, json_reply
from ludus.server.protocols.openenv.session_lookup import forgetting, named, remembering
from ludus.server.session import Session

__all__ = ["Episodes", "routes"]

STEP_KEYS = ("action", "timeout_s", "request_id", "session_id")
MAX_ID_CHARS = 255
MAX_UNCLAIMED = 8
"""Sessions of steps that named none, which nobody has named since: a caller without cookies leaves one at each step."""


class Episodes:
    """The four requests of an episode."""

    def __init__(self, endpoint: EnvEndpoint) -> None:
        self.endpoint, self.sessions = endpoint, endpoint.server.sessions
        self._kept: WeakKeyDictionary[Session, tuple[str, asyncio.Future[bytes]]] = WeakKeyDictionary()
        self._unclaimed: dict[str, Session] = {}

    async def reset(self, asked: HttpRequest) -> HttpReply:
        """Begin an episode in the session that is named, or in a new one."""
        asked.principal.need("run", "reset")
        data = asked.data()
        session = self._named(asked, data)
        new, session = session is None, session or await self.endpoint.open(asked.principal)
        data.pop("session_id", None)
        self._kept.pop(session, None)  # another episode may count its requests anew
        try:
            body = await self.endpoint.reset(session, data, full=True)
        except BaseException:
            if new:
                await self.sessions.close(session, "it could not be reset")
            raise
        return HttpReply(200, body, (JSON, *remembering(asked.scope, session.id)))

    async def step(self, asked: HttpRequest) -> HttpReply:
        """Advance the episode. A repeated `request_id` gets the reply that the first one got, and no second step."""
        asked.principal.need("step", "step")
        data = asked.data()
        if "action" not in data or not data.keys() <= set(STEP_KEYS):
            raise InvalidArgument(f"step: expected 'action', and at most {listing(STEP_KEYS)}, got {listing(data)}")
        session = self._named(asked, data)
        seconds, request = _seconds(data.get("timeout_s")), _request_id(data.get("request_id"))
        begins = asked.principal.may("run")
        if session is None:
            return await self._first_step(asked, data["action"], seconds)
        step = self.endpoint.step(session, data["action"], seconds, full=True, begins=begins)
        return HttpReply(200, await (step if request is None else self._once(session, request, step)))

    async def _first_step(self, asked: HttpRequest, action: object, seconds: float | None) -> HttpReply:
        """A step that names no session begins an episode of its own, unseeded, as OpenEnv's server has it.

        That one closes it at once. Here it can be gone on with, until others like it need its place.
        """
        if not asked.principal.may("run"):
            raise Sessionless(
                "step: expected a session, got none; POST /reset first, and send back its cookie, or its X-Session-Id"
            )
        form = await self.endpoint.form()
        if not form.has_own_model:
            form.read(action)  # what is no action takes no place
        await self._evict_oldest()
        session = await self.endpoint.open(asked.principal)
        self._unclaimed[session.id] = session
        try:
            body = await self.endpoint.step(session, action, seconds, full=True, begins=True)
        except BaseException:
            await self.sessions.close(session, "its first step failed")
            raise
        return HttpReply(200, body, (JSON, *remembering(asked.scope, session.id)))

    async def _evict_oldest(self) -> None:
        """Close the oldest sessions that were left behind, so that one more is within bounds."""
        most = min(MAX_UNCLAIMED, self.endpoint.server.config.max_sessions)
        while len(self._unclaimed) >= most:
            session = self._unclaimed.pop(next(iter(self._unclaimed)))
            if session.connection is None:
                await self.sessions.close(session, "nobody went on with it")

    def _named(self, asked: HttpRequest, data: dict[str, object]) -> Session | None:
        """The session that a request means, which from then on is somebody's."""
        session = named(self.endpoint, asked, data)
        if session is not None:
            self._unclaimed.pop(session.id, None)
        return session

    async def _once(self, session: Session, id: str, step: Coroutine[object, object, bytes]) -> bytes:
        """The step of a request that may come twice, even while the first is under way."""
        kept = self._kept.get(session)
        if kept is None or kept[0] != id:
            kept = self._kept[session] = id, asyncio.ensure_future(step)
        else:
            step.close()
        try:
            return await asyncio.shield(kept[1])
        except Exception:
            if self._kept.get(session) is kept:  # a step that was refused may be asked for again
                del self._kept[session]
            raise

    async def state(self, asked: HttpRequest) -> HttpReply:
        """The state of the episode; private fields for whoever may run it."""
        asked.principal.need("step", "state")
        session = self._named(asked, {})
        if session is None:
            return json_reply(await self.endpoint.first_state())
        return HttpReply(200, await self.endpoint.state(session, private=asked.principal.may("run")))

    async def close(self, asked: HttpRequest) -> HttpReply:
        """End the session."""
        asked.principal.need("run", "close")
        session = self._named(asked, asked.data())
        if session is not None:
            await self.sessions.close(session)
        return HttpReply(200, to_json({"closed": session is not None}), (JSON, *forgetting(asked.scope)))


def _seconds(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise InvalidArgument(f"timeout_s: expected seconds above 0, got {shorten(given)}")
    return float(min(given, 1e9))


def _request_id(given: object) -> str | None:
    if given is not None and (not isinstance(given, str) or not 0 < len(given) <= MAX_ID_CHARS):
        raise InvalidArgument(f"request_id: expected text of 1 to {MAX_ID_CHARS} characters, got {shorten(given)}")
    return given


def routes(endpoint: EnvEndpoint) -> list[BaseRoute]:
    """`/reset`, `/step`, `/state` and `/close`; none of them in production, where agents have tools alone."""
    if endpoint.server.config.mode == "production":
        return []
    episodes = Episodes(endpoint)
    return [
        Route("/step", Endpoint(episodes.step, endpoint), methods=["POST"]),
        Route("/reset", Endpoint(episodes.reset, endpoint), methods=["POST"]),
        Route("/state", Endpoint(episodes.state, endpoint), methods=["GET"]),
        Route("/close", Endpoint(episodes.close, endpoint), methods=["POST", "DELETE"]),
    ]
