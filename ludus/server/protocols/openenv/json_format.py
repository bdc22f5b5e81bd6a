"""`JsonFormat`: how values of an environment's spaces look in OpenEnv's JSON.

A space whose JSON is an object (Record, Dict, Graph) is that object. Any other is wrapped: an action is
`{"action": value}`, an observation `{"value": value}`. Environments of tools take `list_tools` and `call_tool` as well.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ludus.core.info import UNANNOUNCED
from ludus.errors import CodecError, ContractViolation, InvalidAction, InvalidValue, shorten
from ludus.registry.arguments import LIMITS
from ludus.remote.host import EnvHost, HostStep
from ludus.server.protocols.openenv.openapi import Schema
from ludus.server.protocols.openenv.pictures import ROWS, rows_of
from ludus.server.protocols.openenv.tool_actions import (
    CALL,
    LIST,
    CallRefused,
    call_of,
    called,
    listed,
    refused,
    schema,
)
from ludus.server.served_env import Description
from ludus.spaces import Record
from ludus.spaces.kinds import is_dict, is_list
from ludus.tools.calls import Calls

__all__ = ["JsonFormat", "ReadAction"]

ACTION, VALUE, METADATA = "action", "value", "metadata"
SCHEMAS, ARGUMENTS, PICTURES = "openenv_schemas", "openenv_arguments", "openenv_pictures"
"""In an environment's metadata: its own schemas; arguments with which it is made for OpenEnv's clients; fields of its
observation that are PNG as bytes, and rows of pixels to them."""
BESIDE = ("reward", "done")
"""What OpenEnv's observations hold, and its messages carry beside them."""
OF_ACTIONS: dict[str, object] = {
    METADATA: {"type": "object", "default": {}, "description": "Not passed to the environment."}
}
OF_OBSERVATIONS: dict[str, object] = {
    METADATA: {"type": "object", "default": {}},
    "reward": {"type": ["number", "null"], "description": "Beside the observation."},
    "done": {"type": "boolean", "description": "Beside the observation."},
}
"""OpenEnv's schema of an observation has these, though its messages carry two of them outside."""


class ReadAction(NamedTuple):
    """What came as an action."""

    action: object = None
    tool: str = ""
    """The name in a `call_tool`, whose answer has a form of its own."""
    answer: dict[str, object] | None = None
    """An observation that needs no step: a list of tools, or why a call is refused."""


class JsonFormat:
    """The JSON form of one environment's actions and observations.

    >>> from ludus.server.served_env import ServedEnv
    >>> form = JsonFormat(ServedEnv("CartPole-v1").description())
    >>> form.read({"action": 1}).action, form.action_schema()["required"]
    (np.int64(1), ['action'])
    >>> form.read({"action": 7})
    Traceback (most recent call last):
    ludus.errors.InvalidAction: action: expected Discrete(2), got 7 (int64)
    """

    def __init__(self, description: Description) -> None:
        self.description, self.tools = description, description.tools
        self._actions, self._observations = description.action_space, description.observation_space
        self._calls = self._actions if isinstance(self._actions, Calls) and self.tools else None
        actions = self._actions.json_schema()
        self._bare = bool(self.tools) or _is_object(actions)
        self._open = _is_object(self._observations.json_schema())
        self._own_metadata = METADATA in _properties(actions)
        self._pictures = _pictures(description)
        self.schemas: dict[str, Schema] | None = description.metadata.get(SCHEMAS)
        """Of an environment that was written for OpenEnv: its own, and its observations hold reward and end."""

    @property
    def arguments(self) -> dict[str, object]:
        """With which the environment wants to be made for OpenEnv's clients; limits and pictures are not its to say."""
        arguments: object = self.description.metadata.get(ARGUMENTS)
        kept = (*LIMITS, "render_mode")
        return {name: one for name, one in arguments.items() if name not in kept} if is_dict(arguments) else {}

    # --- actions ---

    @property
    def has_own_model(self) -> bool:
        """Whether actions have a model of OpenEnv's, which may read what the space does not: see `reread`."""
        return self.schemas is not None and not self.tools

    def reading(self, data: object) -> ReadAction | None:
        """What came as an action; None where only the author's own model can tell."""
        try:
            return self.read(data)
        except InvalidAction:
            if not self.has_own_model or type(data) is not dict:
                raise
            return None

    def reread(self, data: object, hosted: EnvHost) -> ReadAction:
        """The action as the author's own model reads it, where it is: aliases, numbers in text, validators."""
        return self.read(hosted.env.get_wrapper_attr("read_action")(data))

    def read(self, data: object) -> ReadAction:
        """The action in its JSON form; one that is wrapped may come bare."""
        if is_dict(data):
            if self._calls is not None and "type" in data:
                return self._call(self._calls, data)
            data = self._unwrapped(data)
        try:
            action = self._actions.decode(data)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(f"action: {error}") from error
        self._actions.check(action, "action", InvalidAction)
        return ReadAction(action)

    def _call(self, space: Calls, data: dict[str, object]) -> ReadAction:
        if data["type"] == LIST and data.keys() <= {"type", METADATA}:
            return ReadAction(answer=listed(space.tools))
        if data["type"] != CALL:
            raise InvalidAction(f"action.type: expected {LIST!r} alone, or {CALL!r}, got {shorten(data)}")
        try:
            call = call_of(space, data)
        except CallRefused as error:
            return ReadAction(answer=refused(error))
        return ReadAction(call, call.tool)

    def _unwrapped(self, data: dict[str, object]) -> object:
        if METADATA in data and not self._own_metadata:
            if not is_dict(data[METADATA]):
                raise InvalidAction(f"action.metadata: expected an object, got {shorten(data[METADATA])}")
            data = {name: one for name, one in data.items() if name != METADATA}
        if not self._bare and len(data) == 1 and ACTION in data:
            return data[ACTION]
        return data

    # --- observations ---

    def observation(self, value: object) -> dict[str, object]:
        """An observation in its JSON form, with the `metadata` that stock clients look for."""
        if self.schemas is not None and self.tools:
            return {}
        try:
            data = self._observations.encode(value, binary=False)
            fields: dict[str, object] = data if is_dict(data) else {}
            for name in self._pictures:
                fields[name] = rows_of(getattr(value, name), name)
        except Exception as error:
            raise ContractViolation(f"observation: expected one of its space, got {shorten(value)}: {error}") from error
        if self.schemas is not None:
            return {name: one for name, one in fields.items() if name not in BESIDE}
        return {METADATA: {}, **(fields if self._open else {VALUE: data})}

    def as_authored(self, outcome: HostStep) -> HostStep:
        """A reset's or step's outcome with reward and end as an author of OpenEnv's gave them, None included."""
        if self.schemas is None:
            return outcome
        info = dict(outcome.info)
        info.pop(UNANNOUNCED, None)  # which stands in the observation, as its author has it
        reward, seen = info.pop("reward", outcome.reward), outcome.observation
        done = seen.get("done") if is_dict(seen) else getattr(seen, "done", False)
        return outcome._replace(reward=reward, terminated=bool(outcome.terminated or done is True), info=info)

    def began(self, outcome: HostStep) -> dict[str, object]:
        """The observation of a reset."""
        if self.schemas is not None and self.tools:
            return {METADATA: {name: one for name, one in outcome.info.items() if name != "reward"}}
        return self._whole(outcome)

    def _whole(self, outcome: HostStep) -> dict[str, object]:
        """The observation with what its model has not, where an author of OpenEnv's gave more."""
        found = self.observation(outcome.observation)
        return found if self.schemas is None else {**found, **outcome.info.get(UNANNOUNCED, {})}

    def observed(self, reading: ReadAction, outcome: HostStep) -> dict[str, object]:
        """The observation of a step with that action."""
        if reading.tool:
            return called(reading.tool, self._observations, outcome)
        return self._whole(outcome)

    # --- schemas ---

    def _title(self, kind: str) -> str:
        """Of an object that wraps a value: others take the bare word for OpenEnv's base class, which means tools."""
        return f"{''.join(filter(str.isalnum, self.description.name))}{kind}"

    def action_schema(self) -> Schema:
        """Of actions; always an object's."""
        if self.schemas and not self.tools and ACTION in self.schemas:
            return self.schemas[ACTION]
        if self._calls is not None:
            return schema(self._calls)
        found = self._actions.json_schema()
        return _extended(found if self._bare else _object(ACTION, found, self._title("Action")), OF_ACTIONS)

    def reset_schema(self) -> Schema:
        """Of what a reset gives."""
        return (self.schemas or {}).get("reset_observation") or self.observation_schema()

    def observation_schema(self) -> Schema:
        """Of observations; always an object's."""
        found = self._observations.json_schema()
        if self._pictures:
            found = {**found, "properties": {**_properties(found), **dict.fromkeys(self._pictures, ROWS)}}
        return _extended(found if self._open else _object(VALUE, found, self._title("Observation")), OF_OBSERVATIONS)

    def answer_schema(self) -> Schema:
        """Of what answers a step: with tools, that depends on the action."""
        if self.schemas and not self.tools and "observation" in self.schemas:
            return self.schemas["observation"]
        if not self.tools:
            return self.observation_schema()
        lists = {"type": "object", "title": "ListToolsObservation", "required": ["tools"]}
        calls = {"type": "object", "title": "CallToolObservation", "required": ["tool_name", "result", "error"]}
        return {"anyOf": [self.observation_schema(), lists, calls]}


def _pictures(description: Description) -> list[str]:
    """Fields of a record that its environment says are pictures, and that hold bytes."""
    space, named = description.observation_space, description.metadata.get(PICTURES)
    if type(space) is not Record or not is_list(named):
        return []
    properties = _properties(space.json_schema())
    return [name for name, schema in properties.items() if name in named and _is_bytes(schema)]


def _properties(schema: Mapping[str, object]) -> dict[str, object]:
    """The schemas of an object's fields."""
    found = schema.get("properties")
    return found if is_dict(found) else {}


def _is_bytes(schema: object) -> bool:
    if not is_dict(schema):
        return False
    several = schema.get("anyOf")
    options = several if is_list(several) else [schema]
    return any(is_dict(one) and one.get("contentEncoding") == "base64" for one in options)


def _is_object(schema: Mapping[str, object]) -> bool:
    return schema.get("type") == "object"


def _object(name: str, inner: Mapping[str, object], title: str) -> Schema:
    return {
        "title": title,
        "type": "object",
        "properties": {name: inner},
        "required": [name],
        "additionalProperties": False,
    }


def _extended(schema: Mapping[str, object], common: Schema) -> Schema:
    """An object's schema with what every action, or every observation, may have."""
    return {**schema, "properties": {**common, **_properties(schema)}}
