"""OpenEnv's own criteria: what its validator asks of a server at an address."""

from ludus.errors import shorten
from ludus.spaces.kinds import is_dict
from ludus.testing.report import error
from ludus.testing.rule import Found, Rule
from ludus.testing.service.http import HttpResponse
from ludus.testing.service.service import Service

__all__ = ["OPENENV_RULES", "health_is_healthy"]

SIMULATION = ("/reset", "/step", "/state")
ANSWER = "answer as OpenEnv's servers do; `ludus serve` does"


def health_is_healthy(service: Service) -> Found:
    """`GET /health` says that the server is healthy."""
    answer = service.http.get("/health")
    if answer.status != 200 or _object(answer).get("status") != "healthy":
        yield error(f'GET /health: expected 200 {{"status": "healthy"}}, got {answer}', ANSWER)


def metadata_names_it(service: Service) -> Found:
    """`GET /metadata` has a name and a description."""
    answer = service.http.get("/metadata")
    for key in ("name", "description"):
        if answer.status != 200 or not isinstance(_object(answer).get(key), str):
            yield error(f"GET /metadata: expected text as {key!r}, got {answer}", ANSWER)


def schema_has_three(service: Service) -> Found:
    """`GET /schema` has the schemas of action, observation and state."""
    answer = service.http.get("/schema")
    for key in ("action", "observation", "state"):
        if answer.status != 200 or not isinstance(_object(answer).get(key), dict):
            yield error(f"GET /schema: expected a schema as {key!r}, got {answer}", ANSWER)


def openapi_is_versioned(service: Service) -> Found:
    """`GET /openapi.json` describes version 1 of the routes."""
    answer = service.http.get("/openapi.json")
    info = _object(answer).get("info")
    version = info.get("version") if is_dict(info) else None
    if answer.status != 200 or not isinstance(version, str) or not version.startswith("1."):
        yield error(f"GET /openapi.json: expected info.version '1.…', got {shorten(version)} ({answer.status})", ANSWER)
    if not isinstance(_object(answer).get("paths"), dict):
        yield error("GET /openapi.json: expected paths, got none", ANSWER)


def mcp_speaks_json_rpc(service: Service) -> Found:
    """`POST /mcp` answers in JSON-RPC 2.0, whatever it is sent."""
    answer = service.http.post("/mcp", {})
    if answer.status != 200 or _object(answer).get("jsonrpc") != "2.0":
        yield error(f'POST /mcp {{}}: expected 200 with "jsonrpc": "2.0", got {answer}', ANSWER)


def routes_are_of_one_mode(service: Service) -> Found:
    """`/reset`, `/step` and `/state` are all there, or none of them is."""
    paths = _object(service.http.get("/openapi.json")).get("paths")
    there = [one for one in SIMULATION if is_dict(paths) and one in paths]
    if there and len(there) < len(SIMULATION):
        yield error(f"GET /openapi.json: expected {', '.join(SIMULATION)} or none of them, got {there}", ANSWER)


HEALTHY = (health_is_healthy,)
OPENENV_RULES: tuple[Rule[Service], ...] = (
    Rule(health_is_healthy),
    Rule(metadata_names_it, needs=HEALTHY),
    Rule(schema_has_three, needs=HEALTHY),
    Rule(openapi_is_versioned, needs=HEALTHY),
    Rule(mcp_speaks_json_rpc, needs=HEALTHY),
    Rule(routes_are_of_one_mode, needs=(openapi_is_versioned,)),
)


def _object(answer: HttpResponse) -> dict[str, object]:
    found = answer.data
    return found if is_dict(found) else {}
