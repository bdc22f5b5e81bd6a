"""`ToolOutcome`: what an agent observes of a call, and how a tool's result becomes that."""

from typing import Annotated, Protocol

import msgspec

from ludus.errors import ContractViolation, shorten
from ludus.spaces import Text
from ludus.spaces.field_types import FieldType

__all__ = ["ToolError", "ToolOutcome", "failed", "result_of", "succeeded"]

MAX_RESULT_CHARS = 1 << 20
"""Characters of a result."""
MAX_ERROR_CHARS = 4096


class ToolError(Exception):
    """Raised by a tool to tell the agent what is wrong with its call; the agent may try again.

    >>> ToolError("there is no tea")
    ToolError('there is no tea')
    """


class ToolOutcome(msgspec.Struct):
    """What an agent observes: which tool answered, and its result as text or JSON; or the error it met.

    >>> ToolOutcome("buy", "1 × tea").error
    ''
    """

    tool: str = ""
    result: Annotated[str, Text(MAX_RESULT_CHARS, min_length=0, charset=None)] = ""
    error: str = ""
    structured: bool = False
    """Whether `result` is JSON of a value, and not text."""


def succeeded(tool: str, result: object, returns: FieldType | None) -> ToolOutcome:
    """The outcome of a call: text as it is, nothing as nothing, anything else as JSON.

    `returns` is what the tool's annotation promises; ContractViolation where the result is something else.
    """
    if isinstance(result, str):
        result = _encodable(result)
    problems = [] if returns is None else returns.validate(result, f"result of {tool}")
    if problems:
        raise ContractViolation(f"{'; '.join(map(str, problems))}; it is what the tool's annotation says")
    if returns is not None and not isinstance(result, str):
        result = returns.encode(result, binary=False)
    text = result if isinstance(result, str) else "" if result is None else _as_json(tool, result)
    if len(text) > MAX_RESULT_CHARS:
        raise ContractViolation(
            f"result of {tool}: expected at most {MAX_RESULT_CHARS} characters, got {len(text)}; give it in parts"
        )
    return ToolOutcome(tool, text, "", not isinstance(result, str) and result is not None)


def failed(tool: str, error: Exception) -> ToolOutcome:
    """The outcome of a call that the tool refused."""
    text = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
    return ToolOutcome(tool, "", _encodable(text)[:MAX_ERROR_CHARS] or type(error).__name__)


class ToolAnswer(Protocol):
    """What looks like a `ToolOutcome`."""

    @property
    def result(self) -> str: ...
    @property
    def error(self) -> str: ...
    @property
    def structured(self) -> bool: ...


def result_of(outcome: ToolAnswer) -> object:
    """The value that a tool returned, out of an observation that is or looks like a `ToolOutcome`.

    >>> result_of(ToolOutcome("buy", '{"left":3}', structured=True)), result_of(ToolOutcome("look", "3 left"))
    ({'left': 3}, '3 left')
    """
    return msgspec.json.decode(outcome.result) if outcome.structured else outcome.result


def _as_json(tool: str, result: object) -> str:
    try:
        return msgspec.json.encode(result).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractViolation(
            f"result of {tool}: expected text or what JSON can say, got {shorten(result)}: {error}"
        ) from error


def _encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which no message carries."""
    return text if text.isascii() else text.encode("utf8", "replace").decode()
