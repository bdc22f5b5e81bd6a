"""What an OpenAI-compatible endpoint answers, whole or streamed, as one value; ValueError for what is no answer.

Servers differ in what they leave out, and in what they write instead: content in parts, arguments as an object, no id.
What can be meant is taken; of the rest the reason is given, never a traceback.
"""

import json
from typing import Protocol, Required, TypedDict, TypeVar

import msgspec

from ludus.errors import shorten
from ludus.spaces.kinds import is_dict, is_list

__all__ = ["ChatMessage", "Completion", "FunctionCall", "read_completion", "read_stream"]

MAX_COUNT = 1 << 53
"""Tokens that a server may tell of: beyond, its word is no number."""
T = TypeVar("T")


class CalledFunction(TypedDict):
    """The function of a call, with its arguments as a text of JSON."""

    name: str
    arguments: str


class FunctionCall(TypedDict):
    """A function call, as answers and histories have it."""

    id: str
    type: str
    function: CalledFunction


class ChatMessage(TypedDict, total=False):
    """A message of the history."""

    role: Required[str]
    content: str
    tool_calls: list[FunctionCall]
    tool_call_id: str


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a model.

    >>> read_completion(b'{"choices": [{"message": {"content": "hello"}}]}').content
    'hello'
    """

    content: str = ""
    calls: tuple[FunctionCall, ...] = ()
    """Function calls, as the next request repeats them."""
    reasoning: str = ""
    sent: int = 0
    received: int = 0
    """Tokens, as the server tells them."""

    def message(self) -> ChatMessage:
        """It as a message of the history."""
        message: ChatMessage = {"role": "assistant"}
        if self.content:
            message["content"] = self.content
        if self.calls:
            message["tool_calls"] = [{**one, "function": _repeated(one["function"])} for one in self.calls]
        return message


class Lines(Protocol):
    """What a stream is read from."""

    def readline(self) -> bytes:
        """The next line; empty at the end."""
        ...


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: object = None


class _Call(msgspec.Struct):
    id: str | None = None
    index: int = 0
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | list[object] | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: object = None
    reasoning: object = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: object = None


class _Answered(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: object = None
    error: object = None


_ANSWERED = msgspec.json.Decoder(_Answered)


def read_completion(data: bytes) -> Completion:
    """An answer that is whole."""
    answered = _decoded(data)
    first = next(iter(answered.choices or ()), None)
    if first is None or first.message is None:
        reason = "" if answered.error is None else f", but an error: {shorten(str(answered.error), 300)}"
        raise ValueError(f"an answer with no choice in it{reason}")
    return _completed(first.message, answered.usage)


def read_stream(lines: Lines) -> Completion:
    """An answer in pieces, of which the last is marked as the end."""
    joined, calls, ended = _Message(content=""), dict[int, _Call](), False
    usage: object = None
    while line := lines.readline():
        field, _, value = line.strip().partition(b":")
        if field != b"data":  # comments that keep the connection open, names of events
            continue
        if value.strip() == b"[DONE]":
            ended = True
            break
        piece = _decoded(value)
        error = piece.error
        if error is not None:
            raise ValueError(f"a stream that ends in an error: {shorten(str(error), 300)}")
        usage = piece.usage or usage
        for choice in piece.choices or ():
            ended = ended or choice.finish_reason is not None
            if choice.delta is not None:
                _join(joined, calls, choice.delta)
    if not ended:
        raise ValueError("a stream that was cut off")
    joined.tool_calls = [calls[at] for at in sorted(calls)]
    return _completed(joined, usage)


def _decoded(data: bytes) -> _Answered:
    try:
        return _ANSWERED.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"what is no answer: {shorten(str(error), 200)}") from None


def _join(joined: _Message, calls: dict[int, _Call], delta: _Message) -> None:
    joined.content = _text(joined.content) + _text(delta.content)
    joined.reasoning = _text(joined.reasoning) + _text(delta.reasoning_content or delta.reasoning)
    for piece in delta.tool_calls or ():
        known = calls.setdefault(piece.index, _Call(function=_Function(name="", arguments="")))
        known.id = piece.id or known.id
        if piece.function is not None and known.function is not None:
            known.function.name = (known.function.name or "") + (piece.function.name or "")
            arguments = _argument_text(known.function.arguments, "") + _argument_text(piece.function.arguments, "")
            known.function.arguments = arguments


def _completed(message: _Message, usage: object) -> Completion:
    content, given = _text(message.content), message.tool_calls or []
    if not content and not given:
        raise ValueError("an answer with neither text nor calls")
    counts: dict[str, object] = usage if is_dict(usage) else {}
    return Completion(
        content=content,
        calls=tuple(_call(one, at) for at, one in enumerate(given)),
        reasoning=_text(message.reasoning_content) or _text(message.reasoning),
        sent=_count(counts.get("prompt_tokens")),
        received=_count(counts.get("completion_tokens")),
    )


def _call(call: _Call, at: int) -> FunctionCall:
    function = call.function or _Function()
    called: CalledFunction = {"name": function.name or "", "arguments": _argument_text(function.arguments, "{}")}
    return {"id": call.id or f"call_{at}", "type": "function", "function": called}


def _argument_text(arguments: object, none: str) -> str:
    """Arguments as the text that they should be."""
    if arguments is None:
        return none
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _repeated(function: CalledFunction) -> CalledFunction:
    """A call for the history: servers refuse a request that has arguments in it which are no JSON."""
    try:
        msgspec.json.decode(function["arguments"])
    except (msgspec.MsgspecError, RecursionError):
        return {**function, "arguments": "{}"}
    return function


def _text(content: object) -> str:
    """Content that is text, or parts of which some are."""
    if isinstance(content, str):
        return content
    parts: list[object] = content if is_list(content) else []
    texts = (one.get("text") for one in parts if is_dict(one))
    return "".join(one for one in texts if isinstance(one, str))


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < MAX_COUNT else 0
