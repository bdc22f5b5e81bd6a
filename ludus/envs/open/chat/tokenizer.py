"""Tokenizers: a small one that comes with the library, and others behind the same four methods.

The bundled one is a byte-level BPE with 1,000 merges, learnt from our own documentation: every text comes back as it
was. Marks of a message (who speaks, and where it ends) are tokens that no text is ever encoded to.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeGuard, runtime_checkable

from ludus.envs.open.chat.template import ChatTemplate, folder_template
from ludus.errors import InvalidArgument, MissingExtra, shorten

__all__ = ["BundledTokenizer", "ForeignTokenizer", "MarkedTokenizer", "Tokenizer", "tokenizer_of"]

WORD = re.compile(r" ?[^\W\d_]+| ?\d| ?[^\s\w]+|\s+|_")
REPEATED_CHARS = 1024
"""A text of at most so many is kept with its tokens, since it may come again."""
ROLES = ("system", "user", "assistant")
Message = dict[str, str]


class Tokenizer(Protocol):
    """What a chat needs of a tokenizer."""

    size: int
    """Tokens are numbers below it."""

    def encode(self, text: str) -> list[int]:
        """Tokens of a text; never one that marks a message."""
        ...

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens, without marks."""
        ...

    def message(self, message: Message) -> list[int]:
        """Tokens of a message, with its marks."""
        ...


@runtime_checkable
class MarkedTokenizer(Protocol):
    """A tokenizer that can say which marks it puts around a message."""

    def around(self, role: str, before: Sequence[Message] = ()) -> tuple[list[int], list[int]]:
        """Tokens that stand before and behind what `role` says, after messages `before` it."""
        ...


@cache
def _merges() -> dict[tuple[bytes, bytes], int]:
    lines = Path(__file__).with_name("merges.txt").read_text(encoding="ascii").split("\n")
    pairs = [tuple(map(bytes.fromhex, line.split())) for line in lines if line]
    return {(pair[0], pair[1]): rank for rank, pair in enumerate(pairs)}


@cache
def _vocabulary() -> list[bytes]:
    return [bytes([one]) for one in range(256)] + [left + right for left, right in _merges()]


@cache
def _numbers() -> dict[bytes, int]:
    return {piece: number for number, piece in reversed(list(enumerate(_vocabulary())))}


@lru_cache(65536)
def _encoded(word: bytes) -> tuple[int, ...]:
    parts, ranks, numbers = [bytes([one]) for one in word], _merges(), _numbers()
    while len(parts) > 1:
        best = min(range(len(parts) - 1), key=lambda at: ranks.get((parts[at], parts[at + 1]), 1 << 30))
        if (parts[best], parts[best + 1]) not in ranks:
            break
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return tuple(numbers[part] for part in parts)


def _tokens(text: str) -> list[int]:
    found: list[int] = []
    for word in WORD.findall(text):
        found += _encoded(word.encode("utf8", "surrogatepass"))
    return found


@lru_cache(1024)
def _repeated(text: str) -> tuple[int, ...]:
    """What users and rules say comes again in every episode."""
    return tuple(_tokens(text))


class BundledTokenizer:
    """Byte-level BPE in plain Python.

    >>> tokenizer = BundledTokenizer()
    >>> tokenizer.decode(tokenizer.encode("a snowman: ☃"))
    'a snowman: ☃'
    """

    def __init__(self) -> None:
        self._pieces = _vocabulary()
        self._first = len(self._pieces)
        self.size = self._first + len(ROLES) + 1

    def encode(self, text: str) -> list[int]:
        """Tokens of a text."""
        return [*_repeated(text)] if len(text) <= REPEATED_CHARS else _tokens(text)

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens; marks are left out, and half a character becomes a question mark."""
        pieces, first = self._pieces, self._first
        return _text(b"".join([pieces[one] for one in tokens if one < first]))

    def message(self, message: Message) -> list[int]:
        """A mark for who speaks, the text, and a mark for its end."""
        return [self._first + ROLES.index(message["role"]), *self.encode(message["content"]), self.size - 1]

    def around(self, role: str, before: Sequence[Message] = ()) -> tuple[list[int], list[int]]:
        """The marks of a message."""
        del before
        return [self._first + ROLES.index(role)], [self.size - 1]


def _text(data: bytes) -> str:
    try:
        return data.decode("utf8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf8", "replace")


class ForeignTokenizer:
    """A tokenizer of `tokenizers` or `transformers`; special tokens in a text are text.

    Messages are written by `template`, a chat template of Jinja, as models come with; by default the tokenizer's own.
    Without any they are ChatML where the vocabulary has its two marks, else lines `role: content`.
    """

    def __init__(self, inner: Any, template: str | None = None, marks: Mapping[str, str] | None = None) -> None:
        self.inner, self._fast = inner, not hasattr(inner, "decode_batch")
        known: dict[str, int] = inner.get_vocab()
        self.size = max(known.values(), default=-1) + 1
        self._marks = [known.get(mark) for mark in ("<|im_start|>", "<|im_end|>")]
        own = getattr(inner, "chat_template", None) if template is None else template
        if marks is None:
            marks = {name: getattr(inner, name) for name in ("bos_token", "eos_token") if getattr(inner, name, None)}
        self.template = ChatTemplate(own, marks) if isinstance(own, str) else None

    def encode(self, text: str) -> list[int]:
        """Tokens of a text."""
        if self._fast:
            return list(self.inner.encode(text, add_special_tokens=False, split_special_tokens=True))
        before, self.inner.encode_special_tokens = self.inner.encode_special_tokens, True
        try:
            return list(self.inner.encode(text, add_special_tokens=False).ids)
        finally:
            self.inner.encode_special_tokens = before

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens."""
        return self.inner.decode(tokens, skip_special_tokens=True)

    def message(self, message: Message, before: Sequence[Message] = ()) -> list[int]:
        """Tokens of a message, after those `before` it where a template writes it."""
        role, content = message["role"], message["content"]
        if self.template is not None:
            ahead, behind = self.around(role, before)
            return [*ahead, *self.encode(content), *behind]
        begin, end = self._marks
        if begin is None or end is None:
            return self.encode(f"{role}: {content}\n")
        return [begin, *self.encode(f"{role}\n{content}"), end, *self.encode("\n")]

    def around(self, role: str, before: Sequence[Message] = ()) -> tuple[list[int], list[int]]:
        """Tokens that stand before and behind what `role` says, after messages `before` it."""
        if self.template is not None:
            ahead, behind = self.template.around(role, [one["role"] for one in before])
            return self._marked(ahead), self._marked(behind)
        begin, end = self._marks
        if begin is None or end is None:
            return self.encode(f"{role}: "), self.encode("\n")
        return [begin, *self.encode(f"{role}\n")], [end, *self.encode("\n")]

    def _marked(self, text: str) -> list[int]:
        """Tokens of a text of the template's own, in which special tokens are those."""
        found = self.inner.encode(text, add_special_tokens=False)
        return list(found if self._fast else found.ids)


def tokenizer_of(given: object) -> Tokenizer:
    """The bundled one for None, one of `tokenizers` from a file for a path, and what is given otherwise."""
    if given is None:
        return BundledTokenizer()
    if isinstance(given, str):
        path = Path(given)
        if not path.exists():
            raise InvalidArgument(f"Chat tokenizer: expected the path of a tokenizer.json, got {shorten(given)}")
        file = path / "tokenizer.json" if path.is_dir() else path
        try:
            inner = _file_tokenizer(file)
        except MissingExtra:
            raise
        except Exception as error:  # it raises nothing more exact
            raise InvalidArgument(f"Chat tokenizer: expected a tokenizer.json, got {file}: {error}") from None
        return ForeignTokenizer(inner, *folder_template(file.parent))
    if _is_tokenizer(given):
        return given
    if all(hasattr(given, name) for name in ("encode", "decode", "get_vocab")):
        return ForeignTokenizer(given)
    raise InvalidArgument(f"Chat tokenizer: expected a path or a tokenizer, got {shorten(given)}")


def _is_tokenizer(given: object) -> TypeGuard[Tokenizer]:
    return all(hasattr(given, name) for name in ("size", "message"))


def _file_tokenizer(file: Path) -> object:
    try:
        import tokenizers  # an extra, needed for files alone
    except ImportError as error:
        raise MissingExtra(
            "Chat: expected the package tokenizers for a file of one, got none; pip install 'ludus-rl[chat]'"
        ) from error
    return tokenizers.Tokenizer.from_file(str(file))
