"""`OpenEnvSession`: a client's end of a session of OpenEnv, without I/O.

Its requests have no numbers. Where the server keeps sessions (`openenv/session/create`, from 0.5 on), a lost connection
is made anew; whether the request under way had been carried out, the number of steps tells, or it is an error.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from secrets import token_hex
from time import monotonic
from urllib.parse import quote

import msgspec

from ludus.client.flow import Flow, TransportCall
from ludus.client.framing import HandshakeRefused
from ludus.client.session import FIRST_PAUSE_S, LONGEST_PAUSE_S, SessionTerms, lost, marked
from ludus.errors import (
    AccessDenied,
    ChannelError,
    ClosedEnvironment,
    EnvError,
    InvalidAction,
    InvalidArgument,
    LudusError,
    ServerBusy,
    ServiceError,
    SessionLost,
    shorten,
)
from ludus.spaces.kinds import is_dict
from ludus.wire.failures import clean, retry_delay

__all__ = ["OpenEnvSession"]

ENDPOINT = "/ws"
STATE = b'{"type":"state"}'
PLACES = "a server of OpenEnv has max_concurrent_envs places, 1 by default, and each lane of a batch takes one"
BUSY_RETRY_S = 1.0
"""Seconds until a server without a place is asked again: it does not say when."""


class OpenEnvSession:
    """One session at a server of OpenEnv."""

    def __init__(self, terms: SessionTerms, name: str = "the environment") -> None:
        self.terms, self.name = terms, name
        self.id = ""
        """Of a session that the server keeps; empty where it goes with its connection."""
        self.closed = False
        self.decode: Callable[[bytes], dict[str, object] | None] = lambda _: None
        """What reads the bytes of an answer with an observation at once; None where it is to be read step by step."""
        self.resumed, self._steps = 0, 0

    # --- beginning ---

    def open(self) -> Flow[None]:
        """Have a session kept where that can be, and connect; a server without a place is asked again for a while."""
        ends = monotonic() + self.terms.timeout
        while True:
            try:
                if not (yield from self._is_without_kept_sessions(ends)):
                    yield from self._create()
                    yield from self._connect(ends)
                return
            except ServerBusy as busy:
                yield TransportCall("close")
                if monotonic() + busy.retry_after >= ends:
                    raise marked(ServerBusy(f"{busy}; {PLACES}", busy.retry_after), True) from busy
                yield TransportCall("pause", (busy.retry_after,))
            except OSError as error:
                yield TransportCall("close")
                raise lost(self.terms.where, error) from error

    def fetch(self, method: str, path: str, body: object = None) -> Flow[tuple[int, object]]:
        """Status and JSON of an HTTP request; None for what is no JSON."""
        data = None if body is None else msgspec.json.encode(body)
        try:
            status, found = yield TransportCall("fetch", (method, path, data, self.terms.timeout))
        except OSError as error:
            raise lost(self.terms.where, error) from error
        try:
            return status, msgspec.json.decode(found)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return status, None

    def _is_without_kept_sessions(self, ends: float) -> Flow[bool]:
        """Whether the server heeds no id of a session: then it has given us a new one, whatever we asked for."""
        self.id = f"none-{token_hex(8)}"
        try:
            yield from self._connect(ends)
            reply = yield from self._exchanged(STATE, ends)
            self._read(reply, "state")
        except HandshakeRefused:
            raise
        except (SessionLost, OSError):
            return False
        except EnvError:
            pass  # it answered, and that is enough
        finally:
            self.id = ""
        return True

    def _create(self) -> Flow[None]:
        call: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
        status, reply = yield from self.fetch("POST", "/mcp", call)
        if status != 200 or not is_dict(reply):
            return
        result, error = reply.get("result"), reply.get("error")
        told = result.get("session_id") if is_dict(result) else None
        if isinstance(told, str):
            self.id = told
        elif is_dict(error) and error.get("code") == -32000:
            raise ServerBusy(f"{self.terms.where}: {clean(str(error.get('message')), 300)}", BUSY_RETRY_S)

    def _connect(self, ends: float) -> Flow[None]:
        path = f"{ENDPOINT}?session_id={quote(self.id, safe='')}" if self.id else ENDPOINT
        yield TransportCall("open", (path, True, max(ends - monotonic(), 0.001)))

    # --- requests ---

    def ask(self, kind: str, data: Mapping[str, object] | None, answer: str) -> Flow[dict[str, object]]:
        """The data of the answer to a request; the error that the server names."""
        if self.closed:
            raise ClosedEnvironment(f"{self.name}: expected an open environment, got a closed one; connect again")
        request = {"type": kind} if data is None else {"type": kind, "data": data}
        text = msgspec.json.encode(request)
        ends = monotonic() + self.terms.timeout
        try:
            reply = yield from self._exchanged(text, ends)
        except OSError as error:
            reply = yield from self._again(error, kind, text, ends)
        found = self._read(reply, answer)
        if kind == "reset":
            self._steps = 0
        elif kind == "step":
            self._steps += 1
        return found

    def _exchanged(self, text: bytes, ends: float) -> Flow[bytes]:
        """Send and receive. Past the time the connection is given up: a late answer would be taken for another one."""
        try:
            return (yield TransportCall("exchange", (text, max(ends - monotonic(), 0.001))))
        except TimeoutError as error:
            yield TransportCall("close")
            raise lost(self.terms.where, error, "whether it was carried out is not known") from error

    def _read(self, data: bytes, answer: str) -> dict[str, object]:
        found = self.decode(data) if answer == "observation" else None
        return self._read_plainly(str(data, "utf8", "replace"), answer) if found is None else found

    def _read_plainly(self, text: str, answer: str) -> dict[str, object]:
        try:
            reply: object = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ChannelError(f"{self.terms.where}: expected JSON, got {shorten(text)}: {error}") from error
        kind = reply.get("type") if is_dict(reply) else None
        data: object = reply.get("data") if is_dict(reply) else None
        if kind == answer and is_dict(data):
            return data
        if kind == "error" and is_dict(data):
            raise self._failure(data)
        raise ChannelError(f"{self.terms.where}: expected {answer!r}, got {shorten(reply)}")

    def _failure(self, data: dict[str, object]) -> LudusError:
        code, message = str(data.get("code")), clean(str(data.get("message")), 2000)
        detail = data.get("errors")
        text = f"{self.name}: {message}{'' if not detail else f': {shorten(detail, 400)}'}"
        if code == "CAPACITY_REACHED":
            return marked(ServerBusy(text, retry_delay(data.get("retry_after"), BUSY_RETRY_S)), True)
        if code == "SESSION_ERROR":
            return marked(SessionLost(text), True)
        if code == "VALIDATION_ERROR":
            return marked(InvalidAction(text), False)
        if code in ("UNKNOWN_TYPE", "INVALID_JSON"):
            return marked(InvalidArgument(text), False)
        if code == "FACTORY_ERROR":
            return marked(ServiceError(text), True)
        return marked(EnvError(f"{text} ({clean(code, 60)})"), False)

    # --- lost connections ---

    def _again(self, error: OSError, kind: str, text: bytes, ends: float) -> Flow[bytes]:
        """Attach anew, and send again what was certainly not carried out."""
        if not self.id and kind == "reset":  # which begins anew anyway
            yield from self.open()
            try:
                return (yield from self._exchanged(text, ends))
            except OSError as newer:
                raise lost(self.terms.where, newer) from newer
        if not self.id:
            raise marked(
                SessionLost(
                    f"{self.terms.where}: expected the connection to last, got {type(error).__name__}: {error}; this "
                    "server keeps no session without one"
                ),
                True,
            ) from error
        for attempt in count():
            pause = min(FIRST_PAUSE_S * 2**attempt, LONGEST_PAUSE_S)
            if monotonic() + pause >= ends:
                break
            yield TransportCall("close")
            yield TransportCall("pause", (pause,))
            try:
                yield from self._connect(ends)
                state = self._read((yield from self._exchanged(STATE, ends)), "state")
                self.resumed += 1
                self._check_not_done(kind, state.get("step_count"))
                return (yield from self._exchanged(text, ends))
            except OSError as newer:
                error = newer
            except SessionLost as refusal:
                if "attached" not in str(refusal):  # the server has not noticed yet that the old connection is gone
                    raise
        raise lost(self.terms.where, error) from error

    def _check_not_done(self, kind: str, count: object) -> None:
        if kind == "step" and count != self._steps:
            done = f"it had been carried out (step {count})" if count == self._steps + 1 else "that is not known"
            raise marked(
                SessionLost(
                    f"{self.terms.where}: expected the answer to step {self._steps + 1}, got a lost connection, and "
                    f"{done}; reset() begins anew"
                ),
                True,
            )

    # --- the end ---

    def close(self) -> Flow[None]:
        """End the session and the connection; harmless twice."""
        if not self.closed:
            self.closed = True
            with suppress(OSError):  # it is gone already
                yield TransportCall("send", (b'{"type":"close"}',))
            yield TransportCall("close")
            if self.id:
                yield from self._forget()
        yield TransportCall("close")

    def _forget(self) -> Flow[None]:
        named = {"session_id": self.id}
        call = {"jsonrpc": "2.0", "id": 2, "method": "openenv/session/close", "params": named}
        with suppress(LudusError):  # its server is gone, or forgets it by itself
            yield from self.fetch("POST", "/mcp", call)


def denied(status: int, body: object, where: str) -> LudusError | None:
    """The error for a server that lets nobody in without a token."""
    if status not in (401, 403):
        return None
    detail = body.get("detail") if is_dict(body) else None
    return AccessDenied(f"{where}: {clean(str(detail), 300) if detail else f'HTTP {status}'}; pass token=…")
