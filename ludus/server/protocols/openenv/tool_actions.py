"""Calls of tools as OpenEnv's actions: `list_tools` and `call_tool`, and the observations that answer them."""

from collections.abc import Mapping

from ludus.errors import CodecError, InvalidAction, InvalidValue, shorten
from ludus.remote.host import HostStep
from ludus.server.protocols.mcp import answer_of, openenv_call
from ludus.spaces import Space
from ludus.tools import Tool
from ludus.tools.calls import Call, Calls

__all__ = ["CALL", "LIST", "CallRefused", "call_of", "called", "listed", "refused", "schema"]

LIST, CALL = "list_tools", "call_tool"
KEYS = {"type", "tool_name", "arguments", "metadata"}


class CallRefused(InvalidAction):
    """A call that never reached the environment: the agent sees why as an observation, and may try again."""

    def __init__(self, tool: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.tool, self.kind = tool, kind


def call_of(space: Calls, data: dict[str, object]) -> Call:
    """The call in a `call_tool` action; CallRefused where there is no such tool, or it takes other arguments."""
    name, arguments = data.get("tool_name"), data.get("arguments", {})
    if not isinstance(name, str) or not data.keys() <= KEYS:
        raise InvalidAction(f"action: expected 'tool_name' and 'arguments' beside 'type', got {shorten(data)}")
    if name not in space.tools:
        raise CallRefused(name, "tool_not_found", f"no tool {shorten(name)}; there are {', '.join(space.tools)}")
    try:
        call = space.decode({"tool": name, "arguments": arguments})
        space.check(call, "action", InvalidAction)
    except (CodecError, InvalidValue) as error:
        raise CallRefused(name, "invalid_args", str(error)) from error
    return call


def listed(tools: Mapping[str, Tool]) -> dict[str, object]:
    """The observation that answers `list_tools`."""
    shown = [
        {"name": one.name, "description": one.description, "input_schema": one.input_schema()} for one in tools.values()
    ]
    return {"tools": shown, "metadata": {}}


def called(tool: str, space: Space[object], outcome: HostStep) -> dict[str, object]:
    """The observation that answers `call_tool`; `space` is the observation space."""
    answer = answer_of(space, outcome)
    if not answer.error:
        return _observed(tool, openenv_call(answer), None)
    told = outcome.info.get("error_type", "execution_error")  # of an environment that was written for OpenEnv
    kind = "transport_error" if outcome.infrastructure else told
    return _observed(tool, None, {"error_type": kind, "message": answer.text})


def refused(error: CallRefused) -> dict[str, object]:
    """The observation of a call that never reached the environment."""
    return _observed(error.tool, None, {"error_type": error.kind, "message": str(error)})


def _observed(tool: str, result: object, error: object) -> dict[str, object]:
    return {"tool_name": tool, "result": result, "error": error, "metadata": {}}


def schema(space: Calls) -> dict[str, object]:
    """The schema of an action that is a call: in OpenEnv's form, or as Ludus has it."""
    listing = {"title": "ListToolsAction", "properties": {"type": {"const": LIST}}, "required": ["type"]}
    calls = [
        {
            "title": f"call_{one.name}",
            "description": one.description,
            "properties": {
                "type": {"const": CALL},
                "tool_name": {"const": one.name},
                "arguments": one.input_schema(),
            },
            "required": ["type", "tool_name", *(["arguments"] if one.input_schema()["required"] else [])],
        }
        for one in space.tools.values()
    ]
    shapes = [{"type": "object", **one, "additionalProperties": False} for one in (listing, *calls)]
    return {"title": "CallToolAction", "type": "object", "oneOf": [*shapes, *space.json_schema()["oneOf"]]}
