"""What a call gave, as each protocol says it."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict, cast

import msgspec

from ludus.core.info import FACTS, REWARD_COMPONENTS
from ludus.core.outcome import OUTCOME
from ludus.remote.host import CUT, HostStep
from ludus.server.served_env import ServedEnv
from ludus.spaces import Record, Space
from ludus.spaces.kinds import is_dict
from ludus.spaces.shown import Shown
from ludus.tools import Tool, ToolOutcome, result_of
from ludus.tools.outcome import ToolAnswer
from ludus.tools.text import ObservationText

__all__ = [
    "CallResult",
    "McpCallResult",
    "ToolEntry",
    "answer_of",
    "mcp_result",
    "mcp_text",
    "openenv_call",
    "tool_entries",
]

MAX_JSON_CHARS = 65_536
TOOL_FIELDS = ToolOutcome.__struct_fields__
TOLD = (OUTCOME, FACTS, REWARD_COMPONENTS)
"""What `_meta` says of a step beside its reward and flags, where the environment tells it."""
plain_info = Shown(models=False).write


class CallResult(msgspec.Struct, frozen=True):
    """What a tool said: text for a reader, the value it returned, and what the environment says of the step."""

    text: str
    value: object
    error: str
    meta: dict[str, object]


class TextContent(TypedDict):
    """A piece of content that is text."""

    type: str
    text: str


class McpCallResult(TypedDict):
    """The result of `tools/call` in the Model Context Protocol."""

    content: list[TextContent]
    isError: bool
    _meta: dict[str, object]
    structuredContent: NotRequired[dict[str, object]]


class ToolEntry(TypedDict):
    """A tool as both protocols list it."""

    name: str
    title: str
    description: str
    inputSchema: Mapping[str, object]
    outputSchema: NotRequired[Mapping[str, object]]


def answer_of(space: Space[object], outcome: HostStep) -> CallResult:
    """What a reset or step says: the tool's own result; in environments with other observations, the observation."""
    meta: dict[str, object] = {
        "reward": None if outcome.reward is None else float(outcome.reward),
        "done": outcome.done,
        "terminated": bool(outcome.terminated),
        "truncated": bool(outcome.truncated),
    }
    meta |= {name: plain_info(outcome.info[name], name) for name in TOLD if name in outcome.info}
    if outcome.infrastructure:
        cut = outcome.info.get(CUT)
        reason: object = cut.get("reason") if is_dict(cut) else None
        why = f"the environment's process ended, and with it the episode: {reason or 'nobody knows why'}"
        return CallResult(why, None, why, meta | {"infrastructure_failure": True})
    if isinstance(space, Record) and tuple(space.fields) == TOOL_FIELDS:
        seen = cast("ToolAnswer", outcome.observation)  # its space says so
        return CallResult(seen.error or seen.result, result_of(seen), seen.error, meta)
    value = space.encode(outcome.observation, binary=False)
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    # Frames and the like are numbers by the ten thousand, in which nobody reads anything: the value has them.
    shown = text if len(text) <= MAX_JSON_CHARS else ObservationText(space)(outcome.observation)
    return CallResult(shown, value, "", meta)


def mcp_result(answer: CallResult) -> McpCallResult:
    """The result of `tools/call` in the Model Context Protocol."""
    result: McpCallResult = {"content": [mcp_text(answer.text)], "isError": bool(answer.error), "_meta": answer.meta}
    if is_dict(answer.value) and not answer.error:
        result["structuredContent"] = answer.value
    return result


def openenv_call(answer: CallResult) -> dict[str, object]:
    """The result of a call as OpenEnv's clients read it."""
    value = None if answer.error else answer.value
    return {
        "content": [mcp_text(answer.text)],
        "structured_content": value if is_dict(value) else {"result": value},
        "meta": answer.meta,
        "data": value,
        "is_error": bool(answer.error),
    }


def tool_entries(served: ServedEnv) -> list[ToolEntry]:
    """The tools of an environment, as both protocols list them; none where actions are neither calls nor typed."""
    return [_entry(one) for one in served.agent_tools().values()]


def _entry(tool: Tool) -> ToolEntry:
    entry: ToolEntry = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
    }
    schema = tool.output_schema()
    if schema is not None and schema.get("type") == "object":
        entry["outputSchema"] = schema
    return entry


def mcp_text(text: str) -> TextContent:
    """A piece of content that is text."""
    return {"type": "text", "text": text}
