"""`Text`: strings of bounded length over a character set, or over all of Unicode."""

from __future__ import annotations

from collections.abc import Callable, Set
from math import inf
from typing import Any, TypeGuard

import numpy as np

from ludus.errors import CodecError, InvalidMask, InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array
from ludus.spaces.box import Box
from ludus.spaces.discrete import whole
from ludus.spaces.kinds import is_integer, is_tuple
from ludus.spaces.mask import array_mask, distribution, exclusive
from ludus.spaces.space import Space, Violation

__all__ = ["Text", "alphanumeric", "is_unicode"]

alphanumeric: frozenset[str] = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
UNICODE_SIZE = 0x110000
MAX_FREE_SAMPLE_CHARS = 32
"""A sample over all of Unicode is at most this long: it stands for text, it does not fill the space."""


class Text(Space[str]):
    """Strings of `min_length` to `max_length` characters of `charset`; `charset=None` admits every character.

    `max_length=None` sets no limit; such text has no flat form.

    A set is sorted, so that equal sets sample alike in every process; a string keeps its order.

    >>> space = Text(6, charset="01", seed=42)
    >>> space.sample()
    '0'
    >>> print(*space.validate("012", "message"))
    message[2]: expected one of '01', got '2'
    >>> "naïve ☃" in Text(10, charset=None)
    True
    """

    def __init__(
        self,
        max_length: int | None,
        *,
        min_length: int = 1,
        charset: Set[str] | str | None = alphanumeric,
        seed: Seed | np.random.Generator | None = None,
    ) -> None:
        self.min_length = whole("Text min_length", min_length)
        self.max_length = None if max_length is None else whole("Text max_length", max_length)
        if not 0 <= self.min_length <= self._most:
            raise InvalidSpace(
                f"Text: expected 0 <= min_length <= max_length, got min_length={min_length}, max_length={max_length}"
            )
        self._free = charset is None
        chars = _characters(alphanumeric if charset is None else charset)
        self._char_list = tuple(chars)
        self._char_set = frozenset(chars)
        self._char_index = {char: np.int32(place) for place, char in enumerate(chars)}
        self._char_str = "".join(sorted(chars))
        self._uniform = np.ones(len(chars)) / len(chars)
        super().__init__(dtype=str, seed=seed)

    @property
    def _most(self) -> float:
        return inf if self.max_length is None else self.max_length

    def arguments(self) -> dict[str, object]:
        """Both lengths and the characters in order."""
        charset = None if self._free else "".join(self._char_list)
        return {"max_length": self.max_length, "min_length": self.min_length, "charset": charset}

    @property
    def _lengths(self) -> str:
        return f"{self.min_length} {'or more' if self.max_length is None else f'to {self.max_length}'}"

    @property
    def character_set(self) -> frozenset[str]:
        """The characters; those that samples use, when every character is admitted."""
        return self._char_set

    @property
    def character_list(self) -> tuple[str, ...]:
        """The characters in order: a mask's place `i` is for character `i`."""
        return self._char_list

    @property
    def characters(self) -> str:
        """The characters in one sorted string."""
        return self._char_str

    def character_index(self, char: str) -> np.int32:
        """The place of `char`."""
        return np.int32(ord(char)) if self._free else self._char_index[char]

    @property
    def is_np_flattenable(self) -> bool:
        """Whether there is a longest: a row of character places, padded."""
        return self.max_length is not None

    def sample(self, mask: object = None, probability: object = None) -> str:
        """A random string; a mask or probability is a pair of a length and an array over the characters, or None."""
        rng = self._np_random or self._seeded_lazily()
        length, chance = None, self._uniform
        kind = exclusive(mask, probability)
        if kind:
            length, chance = self._restriction(mask if kind == "mask" else probability, kind)
        if length is None:
            short = self._free or self.max_length is None
            most = int(min(self._most, max(self.min_length, MAX_FREE_SAMPLE_CHARS) if short else self._most))
            length = rng.integers(self.min_length, most + 1)
        if not chance.any():
            return self._empty_sample()
        return "".join(rng.choice(self._char_list, size=length, p=chance))

    def _empty_sample(self) -> str:
        if self.min_length == 0:
            return ""
        raise InvalidMask(f"mask: expected at least one character, since {self!r} has no empty string, got all zero")

    def _restriction(self, given: object, kind: str) -> tuple[int | np.integer | None, Array]:
        if not is_tuple(given) or len(given) != 2:
            raise InvalidMask(
                f"{kind}: expected a pair (length or None, array over the characters or None), got {shorten(given)}"
            )
        length, chars = given
        if length is not None and not (is_integer(length) and self.min_length <= length <= self._most):
            raise InvalidMask(f"{kind} length: expected {self._lengths}, got {shorten(length)}")
        if chars is None:
            return length, self._uniform
        if kind == "probability":
            return length, distribution(chars, len(self._char_list))
        allowed = array_mask(chars, kind, (len(self._char_list),))
        return length, allowed / max(1, allowed.sum())

    def default(self) -> str:
        """The shortest string of the first character."""
        return self._char_str[:1] * self.min_length

    def contains(self, x: object) -> bool:
        """Whether `x` is a string of allowed length and characters."""
        return (
            isinstance(x, str)
            and self.min_length <= len(x) <= self._most
            and (is_unicode(x) if self._free else self._char_set.issuperset(x))
        )

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the type or length, and each character that is not allowed."""
        if not isinstance(x, str):
            return [self._violation(x, path, f"a string, {self!r}")]
        found: list[Violation] = []
        if not self.min_length <= len(x) <= self._most:
            found.append(Violation(path, f"{self._lengths} characters", f"{len(x)}"))
        if self._free and is_unicode(x):
            return found
        admitted = is_unicode if self._free else self._char_set.__contains__
        expected = "a Unicode character" if self._free else f"one of {shorten(self._char_str)}"
        strange = [(place, char) for place, char in enumerate(x) if not admitted(char)]
        return found + [Violation(f"{path}[{place}]", expected, repr(char)) for place, char in strange]

    # --- flattening: places of characters, padded by one past the last place ---

    @property
    def _padding(self) -> int:
        return UNICODE_SIZE if self._free else len(self._char_set)

    @property
    def flatdim(self) -> int:
        """The longest length."""
        return super().flatdim if self.max_length is None else self.max_length

    @property
    def flat_dtype(self) -> np.dtype[np.generic]:
        """int32."""
        return np.dtype(np.int32)

    def flatten(self, x: str) -> Any:
        """The place of each character, padded; the string itself where there is no longest."""
        if self.max_length is None:
            return x
        row = np.full(self.max_length, self._padding, dtype=np.int32)
        row[: len(x)] = [self.character_index(char) for char in x]
        return row

    def unflatten(self, x: Any) -> str:
        """The characters at those places, padding dropped."""
        if self.max_length is None:
            return x
        places = [int(place) for place in x if place < self._padding]
        return "".join(map(chr, places)) if self._free else "".join(self._char_list[place] for place in places)

    def flat_space(self) -> Box | Text:
        """A box of places; itself where there is no longest."""
        if self.max_length is None:
            return self
        return Box(0, self._padding, shape=(self.max_length,), dtype=np.int32)

    # --- batches and the wire ---

    def same_layout(self, other: Space[object]) -> bool:
        """Equal longest length and characters."""
        own = (self.max_length, self._free, self._char_set)
        return isinstance(other, Text) and own == (other.max_length, other._free, other._char_set)

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> tuple[str, ...]:
        """The shortest string of the first character, `n` times."""
        del fn
        return (self.default(),) * n

    def decode(self, data: object) -> str:
        """The string itself."""
        if not isinstance(data, str):
            raise CodecError(f"{self!r}: expected a string, got {shorten(data)}")
        return data

    def json_schema(self) -> dict[str, object]:
        """A string with both lengths, and a pattern for the characters."""
        schema: dict[str, object] = {"type": "string", "minLength": self.min_length}
        schema |= {} if self.max_length is None else {"maxLength": self.max_length}
        if not self._free:
            escaped = "".join("\\" + char if char in r"\]^-[" else char for char in self._char_str)
            schema["pattern"] = f"^[{escaped}]*$"
        return schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.min_length == other.min_length and self.same_layout(other)

    def __repr__(self) -> str:
        charset = "any character" if self._free else self._char_str
        return f"Text({self.min_length}, {self.max_length}, charset={charset})"


def is_unicode(text: str) -> bool:
    """Whether every character can be written as UTF-8: half a surrogate pair, which Python admits, cannot."""
    try:
        return text.isascii() or bool(
            text.encode("utf-16")
        )  # which refuses the same, several times as quickly as UTF-8
    except UnicodeEncodeError:
        return False


def _is_set(value: object) -> TypeGuard[Set[object]]:
    return isinstance(value, Set)


def _characters(charset: object) -> list[str]:
    given = charset if isinstance(charset, str) or _is_set(charset) else None
    chars = [char for char in given or () if isinstance(char, str)]
    if given is None or len(chars) < len(given):
        raise InvalidType(f"Text charset: expected a string or a set of characters, got {shorten(charset)}")
    chars = list(dict.fromkeys(chars)) if isinstance(charset, str) else sorted(chars)
    wrong = [char for char in chars if len(char) != 1 or not is_unicode(char)]
    if wrong or not chars:
        raise InvalidSpace(
            f"Text charset: expected at least one element, each a single character, got {shorten(wrong or charset)}"
        )
    return chars
