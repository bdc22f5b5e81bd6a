"""Conversations: the events of an episode as chat messages, and files of them for fine-tuning."""

import os
from pathlib import Path

import msgspec

from ludus.spaces.shown import shown
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.event import Data, Message, Reasoning, ToolCall, ToolResult
from ludus.trajectory.run import Run

__all__ = ["messages_of", "to_jsonl"]

ASSISTANT = ("assistant", "agent")


def messages_of(episode: RecordedEpisode) -> list[Data]:
    """What was said in an episode, as chat formats have it: tool calls are their assistant's, results follow them.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("GridWorld-v0"), path) as env:
    ...     _ = env.reset(seed=0)
    ...     env.record(Message("user", "Go."))
    ...     _ = env.step(1)
    ...     env.record(ToolCall("1", "move", {"by": 1}))
    >>> messages_of(Run.open(path)[0])[1]["tool_calls"][0]["function"]
    {'name': 'move', 'arguments': '{"by":1}'}
    """
    found: list[Data] = []
    for event in episode.events:
        value = event.value
        if isinstance(value, Message):
            found.append(
                {"role": "assistant" if value.role in ASSISTANT else value.role, "content": _plain(value.content)}
            )
            if value.name:
                found[-1]["name"] = value.name
        elif isinstance(value, Reasoning):
            found.append({"role": "assistant", "content": "", "reasoning_content": value.text})
        elif isinstance(value, ToolCall):
            arguments = msgspec.json.encode(_plain(value.arguments)).decode()
            call = {"id": value.id, "type": "function", "function": {"name": value.name, "arguments": arguments}}
            _assistant(found).setdefault("tool_calls", []).append(call)
        elif isinstance(value, ToolResult):
            content = value.error or _plain(value.content)
            found.append({"role": "tool", "tool_call_id": value.id, "content": content})
    return _with_reasoning(found)


def to_jsonl(run: Run, path: str | os.PathLike[str], *, masked: bool = False) -> int:
    """Write a line for each episode with messages, for fine-tuning; how many lines.

    A line has `messages`, `outcome`, `return` and `episode`. Episodes that are no result of the agent's are left out,
    unless `masked`.
    """
    count = 0
    with Path(path).open("wb") as file:
        for episode in run:
            messages = [] if episode.masked and not masked else messages_of(episode)
            if messages:
                line = {
                    "messages": messages,
                    "outcome": None if episode.outcome is None else episode.outcome.value,
                    "return": _plain(episode.total_reward),
                    "episode": episode.number,
                }
                file.write(msgspec.json.encode(line) + b"\n")
                count += 1
    return count


def _assistant(found: list[dict[str, object]]) -> Data:
    """The assistant's message that a call belongs to: the last one, if nobody has spoken since."""
    if not found or found[-1]["role"] != "assistant":
        found.append({"role": "assistant", "content": ""})
    return found[-1]


def _with_reasoning(found: list[Data]) -> list[Data]:
    """Thoughts are part of the assistant's message that follows them."""
    joined: list[Data] = []
    for one in found:
        before = joined[-1] if joined else {}
        if (
            one["role"] == "assistant"
            and "reasoning_content" in before
            and not before["content"]
            and "tool_calls" not in before
        ):
            thought = before["reasoning_content"] + (
                "\n" + one["reasoning_content"] if "reasoning_content" in one else ""
            )
            joined[-1] = {**one, "reasoning_content": thought}
        else:
            joined.append(one)
    return joined


def _plain(value: object) -> object:
    """A value as anybody's JSON has it."""
    return value if isinstance(value, str) or value is None else shown(value)
