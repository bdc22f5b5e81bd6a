"""What a server owes its callers: sessions that are apart, clear answers to nonsense, limits, and asking for tokens."""

from ipaddress import ip_address

from ludus.core import Env
from ludus.errors import ConnectionLost, LudusError, ServerBusy
from ludus.testing.history import Player, first_difference, plain_history
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Rule, Unchecked, raised
from ludus.testing.service.http import HttpResponse
from ludus.testing.service.openenv_rules import health_is_healthy
from ludus.testing.service.service import Service

__all__ = ["SERVICE_RULES"]

SESSIONS = 3
DEEP = b"[" * 200_000
NONSENSE: dict[str, tuple[str, bytes]] = {
    "what is no JSON": ("/step", b"{"),
    "bytes that are no text": ("/step", b"\xff\xfe\x00"),
    "an array": ("/step", b"[]"),
    "no action": ("/step", b"{}"),
    "an action that is none": ("/step", b'{"action": {"no such field": [NaN]}}'),
    "a seed that is none": ("/reset", b'{"seed": "yesterday"}'),
    "a seed below 0": ("/reset", b'{"seed": -1}'),
    "deep nesting": ("/reset", b'{"options": ' + DEEP),
}
TOO_LARGE_BYTES = 1 << 40
ANSWER_TIMEOUT_S = 3.0
"""Seconds for an answer that needs no work."""
EXPLAIN = "answer 4xx with a reason; a 5xx says that the server broke"


def handshake_works(service: Service) -> Found:
    """`ludus.connect` opens a session, with spaces on both sides."""
    try:
        env = service.connect()
        env.reset(seed=service.seed)
    except LudusError as failure:
        yield error(f"connect: expected a session, got {raised(failure)}", "serve it with `ludus serve`")


def same_seed_same_history(service: Service) -> Found:
    """Two sessions that are reset with one seed play one history."""
    first = service.connect()
    history = plain_history(first, service.play(first))
    service.close(first)  # there may be no place for two
    then = service.connect()
    found = first_difference(history, plain_history(then, service.play(then)))
    if found is not None:
        yield error(
            f"seed {service.seed} in two sessions: expected the same history, got {found}",
            "draw everything from self.np_random, which reset(seed=…) seeds",
        )


def sessions_are_apart(service: Service) -> Found:
    """Sessions that are stepped in turns play what each of them plays alone."""
    first = _player(service.connect(), service.seed)
    alone = plain_history(first.env, first.run(service.steps).events)
    service.close(first.env)
    try:
        players = [_player(service.connect(), service.seed) for _ in range(SESSIONS)]
    except ServerBusy as failure:
        raise Unchecked(f"there is no place for {SESSIONS} sessions at once: {failure}") from failure
    for number in range(service.steps):
        for one in players:
            if one.needs_reset or (number == service.steps // 2 and number > 0):
                one.reset()
            one.step()
    for number, one in enumerate(players):
        found = first_difference(alone, plain_history(one.env, one.events))
        if found is not None:
            yield error(
                f"session {number} of {SESSIONS}, in turns: expected what it plays alone, got {found}",
                "give every session an instance of its own, without globals",
            )


def nonsense_is_explained(service: Service) -> Found:
    """A request that makes no sense is answered by 4xx and a reason; the server goes on."""
    for label, (path, body) in NONSENSE.items():
        answer = service.http.post(path, body)
        if not 400 <= answer.status < 500:
            yield error(f"POST {path} with {label}: expected 4xx, got {answer}", EXPLAIN)
        elif not answer.body.strip():
            yield warning(f"POST {path} with {label}: expected a reason, got {answer.status} alone", EXPLAIN)
    if service.http.get("/health").status != 200:
        yield error("GET /health after nonsense: expected 200, got another answer", "do not let a request end it")


def unknown_paths_are_not_found(service: Service) -> Found:
    """A path that is not there is answered by 404."""
    answer = service.http.get("/no-such-path-anywhere")
    if answer.status != 404:
        yield warning(f"GET /no-such-path-anywhere: expected 404, got {answer}", "answer 404")


def bodies_are_limited(service: Service) -> Found:
    """A body that says it is a terabyte long is refused before it is read."""
    headers = {"Content-Length": str(TOO_LARGE_BYTES), "Content-Type": "application/json"}
    try:
        answer: HttpResponse | None = service.http.ask("POST", "/reset", b"{", headers, ANSWER_TIMEOUT_S)
    except ConnectionLost:
        answer = None  # it hung up, or waited for the rest
    if answer is None or answer.status not in (400, 411, 413):
        got = "no answer" if answer is None else str(answer)
        yield warning(
            f"POST /reset of {TOO_LARGE_BYTES >> 30} GiB: expected 413, got {got}", "limit the bodies of requests"
        )


def strangers_are_refused(service: Service) -> Found:
    """Where there is a token, nobody does anything without it."""
    if service.token is None:
        if not _is_loopback(service.http.host):
            yield warning(
                f"{service.http.host}: expected a token at an address that others reach, got none: anybody may run it",
                "start the server with LUDUS_TOKENS, and check with --token",
            )
            return
        raise Unchecked("there is no token, and only this machine reaches it")
    requests: tuple[tuple[str, dict[str, object]], ...] = (("/reset", {}), ("/step", {"action": {}}))
    for path, body in requests:
        answer = service.stranger.post(path, body)
        if answer.status not in (401, 403):
            yield error(f"POST {path} without the token: expected 401, got {answer}", "ask for the token everywhere")


def other_names_are_refused(service: Service) -> Found:
    """A server of this machine answers to no foreign name: a page could otherwise rebind its own to it."""
    if not _is_loopback(service.http.host):
        raise Unchecked("it is not on this machine")
    for name, value in (("Host", "ludus.invalid"), ("Origin", "http://ludus.invalid")):
        answer = service.http.post("/reset", {}, **{name: value})
        if answer.status < 400:
            yield warning(f"POST /reset with {name}: {value}: expected 4xx, got {answer}", "check Host and Origin")


CONNECTED = (handshake_works,)
SERVICE_RULES: tuple[Rule[Service], ...] = (
    Rule(health_is_healthy),
    Rule(handshake_works, needs=(health_is_healthy,)),
    Rule(same_seed_same_history, needs=CONNECTED),
    Rule(sessions_are_apart, needs=(same_seed_same_history,)),
    Rule(nonsense_is_explained, needs=(health_is_healthy,)),
    Rule(unknown_paths_are_not_found, needs=(health_is_healthy,)),
    Rule(bodies_are_limited, needs=(health_is_healthy,)),
    Rule(strangers_are_refused, needs=(health_is_healthy,)),
    Rule(other_names_are_refused, needs=(health_is_healthy,)),
)


def _player(env: "Env[object, object]", seed: int) -> Player:
    player = Player(env, 0)
    player.reset(seed)
    return player


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
