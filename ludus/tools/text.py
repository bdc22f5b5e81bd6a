"""`ObservationText`: observations as text that a language model reads, each only as far as it is new."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from ludus.errors import InvalidArgument
from ludus.spaces import Record, Space
from ludus.spaces.kinds import is_list, is_mapping
from ludus.tools.outcome import ToolAnswer, ToolOutcome

__all__ = ["ObservationText"]

MAX_NUMBERS = 64
"""Longer lists of numbers (frames, tokens) are told by their length: a model reads nothing in them."""
MIN_REPEATED_CHARS = 80
"""Characters from which on a text that another field says too is said once."""
SPEAKERS = ("role", "sender_id")


class ObservationText:
    """The text of one observation after the other: a field on each line, empty ones left out.

    A list or text that only grew since the last one (a conversation) is told from where it was. `fields` are those to
    tell, all where none are named.

    >>> from ludus.spaces import Text
    >>> ObservationText(Text(9))("hello")
    'hello'
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Seen:
    ...     said: list[dict[str, str]]
    ...     left: int
    >>> text = ObservationText(Record(Seen))
    >>> hello, bye = {"role": "user", "content": "hello"}, {"role": "user", "content": "bye"}
    >>> print(text(Seen([hello], 2)))
    said: user: hello
    left: 2
    >>> print(text(Seen([hello, bye], 1)))
    said: user: bye
    left: 1
    """

    def __init__(self, space: Space[object], fields: Sequence[str] = ()) -> None:
        known = list(space.fields) if isinstance(space, Record) else []
        if strange := [one for one in fields if one not in known]:
            raise InvalidArgument(f"fields: expected some of {known}, got {strange}")
        self._space, self._fields = space, tuple(fields) or tuple(known)
        self._before: dict[str, object] = {}

    def begin(self) -> None:
        """Forget what was told: an episode begins."""
        self._before = {}

    def __call__(self, observation: object) -> str:
        """The text."""
        space = self._space
        if not isinstance(space, Record):
            return _told(space.encode(observation, binary=False))
        if tuple(space.fields) == ToolOutcome.__struct_fields__:
            answer = cast("ToolAnswer", observation)  # its space says so
            return answer.error or answer.result
        value: dict[str, object] = space.encode(observation, binary=False)
        before, self._before = self._before, value
        told: dict[str, str] = {}
        for name in self._fields:
            text = _told(_new(value[name], before.get(name)))
            if text and not (len(text) >= MIN_REPEATED_CHARS and text in told.values()):
                told[name] = text
        return "\n".join(f"{name}:{_separator(text)}{text}" for name, text in told.items())


def _separator(text: str) -> str:
    return "\n" if "\n" in text else " "


def _new(value: object, before: object) -> object:
    """What of a list or text is beyond what it was; all of it where it did not merely grow."""
    if not ((is_list(value) and is_list(before)) or (isinstance(value, str) and isinstance(before, str))):
        return value
    grown = bool(before) and len(value) > len(before) and value[: len(before)] == before
    return value[len(before) :] if grown else value


def _told(value: object) -> str:
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, str):
        return value.strip("\n")
    if is_list(value):
        return _listed(value)
    return msgspec.json.encode(value).decode()


def _listed(value: list[object]) -> str:
    messages = [one for one in value if is_mapping(one)]
    if len(messages) == len(value):
        return "\n".join(_said(one) for one in messages)
    if all(isinstance(one, int | float) for one in value):
        return msgspec.json.encode(value).decode() if len(value) <= MAX_NUMBERS else f"({len(value)} numbers)"
    lists = [one for one in value if is_list(one)]
    if len(lists) == len(value):
        return "\n".join(_listed(one) for one in lists)
    return msgspec.json.encode(value).decode()


def _said(one: Mapping[str, object]) -> str:
    """A message as who said it and what; any other object as JSON."""
    speaker = next((one[name] for name in SPEAKERS if name in one), None)
    if speaker is None or not isinstance(one.get("content"), str):
        return msgspec.json.encode(one).decode()
    return f"{'game' if speaker == -1 else speaker}: {one['content']}"
