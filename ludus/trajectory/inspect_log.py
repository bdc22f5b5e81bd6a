"""Logs of Inspect (`.eval`), read as runs: each sample is an episode, each message of the model a step.

A log is a zip of JSON whose members are compressed by zstandard or deflate. It is read by `zipfile` and zstandard;
Inspect is not needed, and nothing in a log is executed.
"""

import os
import struct
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import cast

import msgspec
import zstandard

from ludus.core import Outcome
from ludus.core.foreign_file import open_foreign_file
from ludus.errors import TrajectoryError, shorten
from ludus.spaces import Text
from ludus.spaces.kinds import is_dict, is_list
from ludus.trajectory.archive import MEMBER_LIMIT_BYTES
from ludus.trajectory.event import (
    Data,
    EventValue,
    Failure,
    LimitReached,
    Message,
    ModelUsage,
    Reasoning,
    Score,
    ToolCall,
    ToolResult,
)
from ludus.trajectory.imported_episode import ImportedEpisode, imported_header, write_imported

__all__ = ["from_inspect"]

ZSTD = 93
"""The method of members that Python's `zipfile` reads from 3.14 on."""
LOCAL = struct.Struct("<4s22x2H")
ATTACHMENT = "attachment://"
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What scores that are no numbers are worth: correct, partly, incorrect, no answer."""
TIMES = ("time", "working")
MAX_TEXT_CHARS = 1 << 24
ACTIONS = Text(MAX_TEXT_CHARS, min_length=0, charset=None)


def from_inspect(log: str | os.PathLike[str], path: str | os.PathLike[str], *, score: str | None = None) -> int:
    """Write a run of level "steps" from a log of Inspect; how many samples it has.

    The last reward is the score named, or the sample's first; C, P, I and N count 1, 0.5, 0 and 0. A sample that failed
    is `environment_failed`, and no result; one that met a limit is `budget` or `time_limit`; else 1 is a success and 0
    a failure. A sample that failed before the model said anything is one step with an empty action.
    """
    try:
        with open_foreign_file(os.fspath(log)) as opened, zipfile.ZipFile(opened) as file:
            names = [one for one in file.namelist() if one.startswith("samples/") and one.endswith(".json")]
            header = (
                _json(file, "header.json") if "header.json" in file.namelist() else _json(file, "_journal/start.json")
            )
            about = {
                "inspect": header.get("version"),
                "task": header.get("eval", {}).get("task"),
                "model": header.get("eval", {}).get("model"),
                "status": header.get("status", "cut short"),
            }
            why = "it was read from a log of Inspect, which names no environment"
            made = imported_header(ACTIONS, ACTIONS, full=False, why=why, metadata=about)
            return write_imported(path, made, (_episode(_json(file, name), score) for name in names))
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, struct.error) as error:
        raise TrajectoryError(f"{log}: expected a log of Inspect, got {error}") from error


def _json(file: zipfile.ZipFile, name: str) -> Data:
    try:
        found = msgspec.json.decode(_bytes(file, file.getinfo(name)))
    except (msgspec.DecodeError, UnicodeError, KeyError, RecursionError, zstandard.ZstdError) as error:
        raise TrajectoryError(f"{name}: expected JSON, got {error}") from error
    if not is_dict(found):
        raise TrajectoryError(f"{name}: expected an object, got {shorten(found)}")
    return found


def _bytes(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if max(member.file_size, member.compress_size) > MEMBER_LIMIT_BYTES:
        raise TrajectoryError(
            f"{member.filename}: expected at most {MEMBER_LIMIT_BYTES} bytes, got an announcement of {member.file_size}"
        )
    if member.compress_type != ZSTD:
        with file.open(member) as opened:
            return opened.read(member.file_size)
    raw = file.fp
    if raw is None:
        raise TrajectoryError(f"{member.filename}: expected an open file, got a closed one")
    raw.seek(member.header_offset)
    _, name, extra = LOCAL.unpack(raw.read(LOCAL.size))
    raw.seek(member.header_offset + LOCAL.size + name + extra)
    with zstandard.ZstdDecompressor().stream_reader(raw.read(member.compress_size), read_across_frames=True) as reader:
        return reader.read(member.file_size)


def _episode(sample: dict[str, object], score: str | None) -> ImportedEpisode:
    try:
        return _read(sample, score)
    except (AttributeError, TypeError, ValueError, LookupError) as error:
        if isinstance(error, TrajectoryError):
            raise
        raise TrajectoryError(f"sample {shorten(sample.get('id'))}: expected one of Inspect's, got {error}") from error


def _read(sample: Data, score: str | None) -> ImportedEpisode:
    attachments: Data = sample.get("attachments") or {}
    actions: list[str] = []
    events: list[tuple[int, float, EventValue]] = []
    messages: list[Data] = sample.get("messages") or []
    for message in messages:
        values = list(_message(message, attachments))
        if message.get("role") == "assistant":
            actions.append("".join(one.content for one in values if isinstance(one, Message)))
        events += [(len(actions), 0.0, value) for value in values]
    actions = actions or [""]
    seconds = _seconds(sample)
    scores: Data = sample.get("scores") or {}
    events += [(len(actions), seconds, value) for value in _end(sample, scores)]
    worth = _worth(scores, score)
    error, limit = sample.get("error"), sample.get("limit")
    truncated = bool(error or limit)
    return ImportedEpisode(
        actions,
        [0.0] * (len(actions) - 1) + [worth or 0.0],
        None,
        not truncated,
        truncated,
        _outcome(error, limit, worth),
        events=tuple(events),
    )


def _message(message: Data, attachments: Data) -> Iterator[EventValue]:
    role, content = str(message.get("role")), message.get("content")
    parts = cast(list[Data], content) if is_list(content) else [{"type": "text", "text": content or ""}]
    reasoning = [_text(one.get("reasoning"), attachments) for one in parts if one.get("type") == "reasoning"]
    text = "".join(_text(one.get("text"), attachments) for one in parts if one.get("type") == "text")
    yield from (Reasoning(one) for one in reasoning)
    if role == "tool":
        error: Data = message.get("error") or {}
        yield ToolResult(str(message.get("tool_call_id") or ""), text, str(error.get("message", "")))
    else:
        yield Message(role, text)
    for call in message.get("tool_calls") or ():
        yield ToolCall(str(call.get("id")), str(call.get("function")), call.get("arguments"))


def _text(value: object, attachments: dict[str, object]) -> str:
    text = "" if value is None else str(value)
    return str(attachments.get(text[len(ATTACHMENT) :], text)) if text.startswith(ATTACHMENT) else text


def _end(sample: Data, scores: Data) -> Iterator[EventValue]:
    """What is known of a sample as a whole."""
    used: dict[str, Data] = sample.get("model_usage") or {}
    for model, usage in used.items():
        numbers = [int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens", "input_tokens_cache_read")]
        yield ModelUsage(model, *numbers, cost_usd=usage.get("total_cost"))
    for name, one in scores.items():
        value = _number(one.get("value"))
        if value is not None:
            yield Score(name, value, str(one.get("explanation") or ""))
    if limit := sample.get("limit"):
        yield LimitReached(str(limit.get("type")), float(limit.get("limit") or 0))
    if error := sample.get("error"):
        yield Failure("inspect", str(error.get("message")), str(error.get("traceback") or ""))


def _worth(scores: Data, name: str | None) -> float | None:
    if name is not None and name not in scores:
        return None
    chosen = scores.get(name) if name is not None else next(iter(scores.values()), None)
    return None if chosen is None else _number(chosen.get("value"))


def _number(value: object) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value)
    return LETTERS.get(value) if isinstance(value, str) else None


def _outcome(error: object, limit: Data | None, worth: float | None) -> Outcome | None:
    if error:
        return Outcome.ENVIRONMENT_FAILED
    if limit:
        return Outcome.TIME_LIMIT if limit.get("type") in TIMES else Outcome.BUDGET
    return {1.0: Outcome.SUCCESS, 0.0: Outcome.FAILURE}.get(-1.0 if worth is None else worth)


def _seconds(sample: dict[str, object]) -> float:
    try:
        began, ended = (datetime.fromisoformat(str(sample[name])) for name in ("started_at", "completed_at"))
        return (ended - began).total_seconds()
    except (KeyError, ValueError, TypeError):
        return 0.0
