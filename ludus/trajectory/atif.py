"""ATIF 1.8, the trajectory format of Harbor: episodes written as its documents, and its documents read as runs.

It has no reward, outcome, seed or environment: they go under `extra.ludus`, of the document and of its steps.
"""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
import numpy as np

from ludus.errors import TrajectoryError, shorten
from ludus.spaces import Text, describe
from ludus.spaces.kinds import is_dict
from ludus.spaces.shown import shown
from ludus.trajectory.block import RESTORE, STEP, StepRow
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.event import (
    Data,
    Event,
    EventValue,
    Message,
    ModelUsage,
    Reasoning,
    ToolCall,
    ToolResult,
    stored,
)
from ludus.trajectory.header import RunHeader
from ludus.trajectory.messages import ASSISTANT
from ludus.trajectory.tracker import CODES, UNTOLD, outcome_of
from ludus.trajectory.writer import RunWriter

__all__ = ["from_atif", "to_atif"]

SCHEMA = "ATIF-v1.8"
VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))
MAX_TEXT_CHARS = 1 << 24
USAGE = ("prompt_tokens", "completion_tokens", "cached_tokens")
TEXT = describe(Text(MAX_TEXT_CHARS, min_length=0, charset=None))


def to_atif(episode: RecordedEpisode, *, agent: str = "agent", version: str = "0", session: str = "") -> Data:
    """An episode as a document of ATIF 1.8: its messages, tool calls, results and usage, by steps from 1.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder, Run
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("GridWorld-v0"), path, "steps") as env:
    ...     _ = env.reset(seed=4)
    ...     env.record(Message("user", "Go."))
    ...     _ = env.step(1)
    ...     env.record(Message("assistant", "I went."))
    >>> document = to_atif(Run.open(path)[0])
    >>> [step["source"] for step in document["steps"]], document["extra"]["ludus"]["seed"]
    (['user', 'agent'], 4)
    """
    steps: list[Data] = []
    rewards = None if episode.run.level == "seeds" else episode.rewards
    for event in episode.events:
        _write(steps, event)
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
        at = step["extra"]["ludus"]["step"]
        if rewards is not None and at > 0:
            step["extra"]["ludus"]["reward"] = shown(rewards[at - 1])
    usage = [event.value for event in episode.events if isinstance(event.value, ModelUsage)]
    return {
        "schema_version": SCHEMA,
        "session_id": session or f"{episode.run.path.stem}-{episode.number}",
        "agent": {"name": agent, "version": version, "tool_definitions": []},
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": sum(one.prompt_tokens for one in usage),
            "total_completion_tokens": sum(one.completion_tokens for one in usage),
            "total_cached_tokens": sum(one.cached_tokens for one in usage),
            "total_cost_usd": sum(one.cost_usd or 0.0 for one in usage),
            "total_steps": len(steps),
        },
        "extra": {"ludus": _about(episode)},
    }


def _about(episode: RecordedEpisode) -> dict[str, object]:
    return {
        "outcome": None if episode.outcome is None else episode.outcome.value,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "return": shown(episode.total_reward),
        "length": episode.length,
        "seed": episode.seed,
        "spec": episode.run.header.spec,
    }


def _write(steps: list[Data], event: Event) -> None:
    """Add an event to the steps: to the agent's last one, where it belongs to it."""
    value = event.value
    if isinstance(value, Message) and value.role not in ASSISTANT:
        source = "system" if value.role == "system" else "user"
        steps.append(_step(source, event, _text(value.content)))
    elif isinstance(value, Message):
        last = _agent(steps, event, fresh=lambda step: bool(step["message"]) or "tool_calls" in step)
        last["message"] = _text(value.content)
    elif isinstance(value, Reasoning):
        last = _agent(steps, event, fresh=lambda step: bool(step["message"]) or "tool_calls" in step)
        last["reasoning_content"] = "\n".join(filter(None, [last.get("reasoning_content"), value.text]))
    elif isinstance(value, ToolCall):
        last = _agent(steps, event, fresh=lambda step: "observation" in step)
        arguments = shown(value.arguments) if is_dict(value.arguments) else {"value": shown(value.arguments)}
        call = {"tool_call_id": value.id, "function_name": value.name, "arguments": arguments}
        last.setdefault("tool_calls", []).append(call)
    elif isinstance(value, ToolResult):
        last = next((one for one in reversed(steps) if _called(one, value.id)), None) or _agent(steps, event)
        known = value.id if _called(last, value.id) else None
        result = {"source_call_id": known, "content": value.error or _text(value.content)}
        last.setdefault("observation", {"results": []})["results"].append(result)
    elif isinstance(value, ModelUsage):
        last = _agent(steps, event, fresh=lambda step: "metrics" in step)
        last["model_name"] = value.model
        last["metrics"] = {"prompt_tokens": value.prompt_tokens, "completion_tokens": value.completion_tokens}
        last["metrics"] |= {"cached_tokens": value.cached_tokens, "cost_usd": value.cost_usd or 0.0}


def _step(source: str, event: Event, message: str) -> dict[str, object]:
    return {"step_id": 0, "source": source, "message": message, "extra": {"ludus": {"step": event.step}}}


def _agent(steps: list[Data], event: Event, fresh: Callable[[Data], bool] | None = None) -> Data:
    """The agent's step that an event belongs to: the last one of the same step of the environment, or a new one."""
    last = steps[-1] if steps else None
    same = last is not None and last["source"] == "agent" and last["extra"]["ludus"]["step"] == event.step
    if last is None or not same or (fresh is not None and fresh(last)):
        steps.append(_step("agent", event, ""))
    return steps[-1]


def _called(step: Data, id: str) -> bool:
    return any(call["tool_call_id"] == id for call in step.get("tool_calls", ()))


def _text(content: object) -> str:
    return content if isinstance(content, str) else msgspec.json.encode(shown(content)).decode()


# --- reading ---


class _Call(msgspec.Struct):
    tool_call_id: str
    function_name: str
    arguments: object = None


class _Result(msgspec.Struct):
    source_call_id: str | None = None
    content: object = None


class _Observation(msgspec.Struct):
    results: list[_Result] = []


class _Step(msgspec.Struct):
    step_id: int
    source: str
    message: object = ""
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    metrics: dict[str, object] | None = None
    timestamp: str | None = None
    extra: dict[str, object] | None = None


class _Document(msgspec.Struct):
    schema_version: str
    agent: dict[str, object]
    steps: list[_Step]
    session_id: str | None = None
    extra: dict[str, object] | None = None


def from_atif(document: Mapping[str, object] | bytes | str, path: str | os.PathLike[str]) -> None:
    """Write a run of one episode from a document of ATIF: a step for each of the agent's, whose action is its message.

    Rewards and outcome are those under `extra.ludus`, else 0 and unknown. There is no environment to replay it in.
    """
    try:
        read = (
            msgspec.json.decode(document, type=_Document)
            if isinstance(document, bytes | str)
            else msgspec.convert(document, _Document)
        )
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise TrajectoryError(f"ATIF: expected a document of {SCHEMA}, got {shorten(document)}: {error}") from error
    if read.schema_version not in VERSIONS:
        raise TrajectoryError(f"ATIF: expected one of {', '.join(VERSIONS)}, got {shorten(read.schema_version)}")
    about = _ludus(read.extra)
    header = RunHeader(
        level="steps",
        lanes=1,
        batched=False,
        unspecified="it was read from ATIF, which names no environment",
        observation_space=TEXT,
        action_space=TEXT,
        metadata={"agent": read.agent, "session_id": read.session_id or "", "atif": read.schema_version},
    )
    with RunWriter(path, header, ("action",)) as writer:
        _read_steps(read.steps, about, writer)


def _read_steps(steps: list[_Step], about: dict[str, object], writer: RunWriter) -> None:
    none, zero = np.zeros(1, np.bool_), np.zeros(1)
    agents = [step for step in steps if step.source == "agent"]
    writer.put(StepRow(RESTORE, {"reward": zero, "terminated": none, "truncated": none}, {"action": [""]}))
    began, done = _moment(steps[0]) if steps else None, 0
    for step in steps:
        if step.source == "agent":
            done += 1
            reward = np.array([_number(_ludus(step.extra).get("reward"))])
            last = done == len(agents)
            flags = {name: none | (last and about.get(name) is True) for name in ("terminated", "truncated")}
            writer.put(StepRow(STEP, {"reward": reward, **flags}, {"action": [_text(step.message)]}))
        moment = _moment(step)
        seconds = 0.0 if began is None or moment is None else (moment - began).total_seconds()
        for value in _events(step):
            writer.add_event(stored(value, writer.row - 1, 0, seconds))
    if agents:
        total = (
            _number(about.get("return"))
            if "return" in about
            else sum(_number(_ludus(step.extra).get("reward")) for step in agents)
        )
        outcome = outcome_of(about.get("outcome"))
        writer.ended.append(
            writer.row - 1,
            np.zeros(1, np.int64),
            starts=np.zeros(1, np.int64),
            lengths=np.array([len(agents)]),
            returns=np.array([total]),
            codes=(about.get("terminated") is True, about.get("truncated") is True, CODES[outcome] or UNTOLD),
        )


def _events(step: _Step) -> list[EventValue]:
    found: list[EventValue] = []
    if step.reasoning_content:
        found.append(Reasoning(step.reasoning_content))
    if step.message or step.source != "agent":
        found.append(Message("assistant" if step.source == "agent" else step.source, step.message))
    found += [ToolCall(call.tool_call_id, call.function_name, call.arguments) for call in step.tool_calls or ()]
    for result in step.observation.results if step.observation else ():
        found.append(ToolResult(result.source_call_id or "", result.content))
    if step.metrics:
        prompt, completion, cached = (int(_number(step.metrics.get(name))) for name in USAGE)
        cost = step.metrics.get("cost_usd")
        found.append(
            ModelUsage(step.model_name or "", prompt, completion, cached, None if cost is None else _number(cost))
        )
    return found


def _ludus(extra: dict[str, object] | None) -> dict[str, object]:
    found = (extra or {}).get("ludus")
    return found if is_dict(found) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _moment(step: _Step) -> datetime | None:
    try:
        moment = datetime.fromisoformat(step.timestamp or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
