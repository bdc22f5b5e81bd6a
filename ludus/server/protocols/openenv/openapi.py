"""The OpenAPI document of an environment: its routes, with the real schemas of its action, observation and state."""

from collections.abc import Sequence
from typing import NamedTuple, NotRequired, TypedDict

__all__ = ["Document", "EnvMetadata", "Operation", "Schema", "Schemas", "document"]

VERSION = "1.0.0"
"""Of the protocol: OpenEnv's validator knows it as 1.x."""
Schema = dict[str, object]


class EnvMetadata(TypedDict):
    """What `/metadata` tells."""

    name: str
    description: str
    readme_content: str | None
    version: str | None
    author: str | None
    documentation_url: str | None


class Content(TypedDict):
    """Of a body of one media type."""

    schema: Schema


Contents = dict[str, Content]
"""By media type."""


class RequestBody(TypedDict):
    """What is sent along."""

    required: bool
    content: Contents


class Response(TypedDict):
    """What comes back."""

    description: str
    content: Contents


class Operation(TypedDict):
    """A method of a path."""

    summary: str
    responses: dict[str, Response]
    requestBody: NotRequired[RequestBody]
    parameters: NotRequired[list[Schema]]


Paths = dict[str, dict[str, Operation]]
"""By path and method."""


class DocumentInfo(TypedDict):
    """What a document says of itself."""

    title: str
    version: str
    description: str


class Components(TypedDict):
    """What documents refer to."""

    schemas: dict[str, Schema]
    securitySchemes: dict[str, Schema]


class Document(TypedDict):
    """An OpenAPI document, as far as this server writes one."""

    openapi: str
    info: DocumentInfo
    servers: list[dict[str, str]]
    paths: Paths
    components: Components


class Schemas(NamedTuple):
    """Of one environment."""

    action: Schema
    observation: Schema
    state: Schema


def document(about: EnvMetadata, schemas: Schemas, root: str, names: list[str], *, episodes: bool = True) -> Document:
    """The document; `root` is the path that the routes are under, `names` are of environments that have tasks there.

    Without `episodes` there is nothing in it to reset and step by.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": about["name"], "version": VERSION, "description": about["description"]},
        "servers": [{"url": root or "/"}],
        "paths": {**(_episode() if episodes else {}), **_reading(), **_tasks(names)},
        "components": {"schemas": _components(schemas), "securitySchemes": {"token": BEARER}},
    }


BEARER: Schema = {"type": "http", "scheme": "bearer", "description": "On servers with tokens."}
FREE: Schema = {"type": "object"}
TEXT: Schema = {"type": "string"}
ANY_TEXT: Schema = {"type": ["string", "null"]}
SPLIT: Schema = {"type": "string", "description": "Which part of the tasks: one of `splits`."}
PLACE: Schema = {"type": "integer"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: Schema) -> Contents:
    return {"application/json": {"schema": schema}}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None, *, closed: bool = True) -> Schema:
    found: Schema = {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}
    return {**found, "additionalProperties": False} if closed else found


def _operation(
    summary: str,
    reply: Schema,
    *,
    body: Schema | None = None,
    needed: bool = False,
    parameters: Sequence[Schema] = (),
) -> Operation:
    responses: dict[str, Response] = {
        "200": {"description": "Done.", "content": _json(reply)},
        "default": {"description": "What went wrong, and what to do.", "content": _json(_ref("Error"))},
    }
    found: Operation = {"summary": summary, "responses": responses}
    if body is not None:
        found["requestBody"] = {"required": needed, "content": _json(body)}
    if parameters:
        found["parameters"] = list(parameters)
    return found


SESSION: Schema = {
    "name": "X-Session-Id",
    "in": "header",
    "required": False,
    "description": "The session; else the cookie `ludus_session` says which.",
    "schema": {"type": "string", "maxLength": 200},
}


def _episode() -> Paths:
    held = [SESSION]
    return {
        "/reset": {
            "post": _operation(
                "Begin an episode: in the session that is named, or in a new one.",
                _ref("Result"),
                body=_ref("ResetRequest"),
                parameters=held,
            )
        },
        "/step": {
            "post": _operation(
                "Advance the episode by an action.",
                _ref("Result"),
                body=_ref("StepRequest"),
                needed=True,
                parameters=held,
            )
        },
        "/state": {"get": _operation("The episode, and what its author shows of it.", _ref("State"), parameters=held)},
        "/close": {
            "post": _operation(
                "End the session.",
                _object({"closed": {"type": "boolean"}}),
                body=_object({}, {"session_id": ANY_TEXT}, closed=False),
                parameters=held,
            )
        },
    }


def _reading() -> Paths:
    named = {"name": TEXT, "description": TEXT}
    more: dict[str, Schema] = dict.fromkeys(("readme_content", "version", "author", "documentation_url"), ANY_TEXT)
    number: Schema = {"type": "number"}
    health = _object(
        {"status": {"enum": ["healthy", "degraded"]}}, {"stuck": number, "seconds": number, "advice": TEXT}
    )
    three = {"action": FREE, "observation": FREE, "state": FREE}
    return {
        "/health": {"get": _operation("Whether the server answers.", health)},
        "/metadata": {"get": _operation("What the environment is.", _object(named, more))},
        "/schema": {
            "get": _operation("JSON schemas of its values.", _object(three, {"reset_observation": FREE}, closed=False))
        },
        "/list_environments": {"get": _operation("The environments on offer here.", {"type": "array", "items": TEXT})},
    }


def _tasks(names: list[str]) -> Paths:
    env: Schema = {"name": "env", "in": "path", "required": True, "schema": {"type": "string", "enum": names}}
    split = {"split": SPLIT}
    many: dict[str, Schema] = {"tasks": {"type": "array"}}
    one: dict[str, Schema] = {"task": {}}
    questions: dict[str, tuple[str, dict[str, Schema], Schema]] = {
        "tasks": ("All tasks of a split.", split, _object({**many, "env_name": TEXT})),
        "num_tasks": ("How many tasks a split has.", split, _object({"num_tasks": PLACE})),
        "task": ("One task of a split.", {**split, "index": PLACE}, _object(one)),
        "task_range": ("Some tasks of a split.", {**split, "start": PLACE, "stop": PLACE}, _object(many)),
    }
    posts: Paths = {
        f"/{{env}}/{name}": {"post": _operation(text, reply, body=_object(body), needed=True, parameters=[env])}
        for name, (text, body, reply) in questions.items()
    }
    splits = _operation("The parts that tasks come in.", {"type": "array"}, parameters=[env])
    return {"/{env}/splits": {"get": splits}, **posts}


def _components(schemas: Schemas) -> dict[str, Schema]:
    name: Schema = {"type": ["string", "null"], "minLength": 1, "maxLength": 255}
    session: dict[str, Schema] = {"session_id": {"type": ["string", "null"], "maxLength": 200}}
    seconds: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}
    seed: Schema = {"type": ["integer", "null"], "minimum": 0}
    flag: Schema = {"type": "boolean"}
    reset = _object({}, {"seed": seed, "episode_id": name, **session}, closed=False)
    step = _object({"action": _ref("Action")}, {"timeout_s": seconds, "request_id": name, **session})
    result = _object(
        {"observation": _ref("Observation"), "reward": {"type": ["number", "null"]}, "done": flag},
        {
            "metadata": {"type": ["object", "null"]},
            "terminated": flag,
            "truncated": flag,
            "info": FREE,
            "reward_components": {"description": "What the reward is made of, where the environment tells."},
            "session_id": TEXT,
            "infrastructure_failure": flag,
        },
    )
    error = _object({"detail": {}}, {"kind": TEXT, "infrastructure_failure": flag}, closed=False)
    reset["description"] = "All other keys are options of the environment's, which it honours or refuses."
    return {
        "Action": schemas.action,
        "Observation": schemas.observation,
        "State": schemas.state,
        "ResetRequest": reset,
        "StepRequest": step,
        "Result": result,
        "Error": error,
    }
