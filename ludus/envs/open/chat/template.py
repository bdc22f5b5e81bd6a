"""Chat templates: what stands before and behind each message, by the Jinja text that a model comes with.

A template writes a whole conversation. What it writes around a message is found with a word in place of its content,
so that content is never read as marks, whatever it says. What was written around earlier messages stays: some templates
take it back (thoughts of earlier turns), but a model has read it by then.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.errors import InvalidArgument, MissingExtra, shorten
from ludus.spaces.kinds import is_dict

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.nodes import Node
    from jinja2.parser import Parser

__all__ = ["ChatTemplate", "folder_template"]

WORD = "LudusContent{}End"
"""In place of what a message says; none of it is white space, which templates strip."""
DAY = date(2025, 1, 1)
"""What templates that ask get as today: one seed is one history on any day."""


class ChatTemplate:
    """A chat template, as text of Jinja; it runs in Jinja's own sandbox, and changes nothing.

    >>> template = ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}", {})
    >>> template.around("user", ["system"])
    ('<user>', '')
    """

    def __init__(self, text: str, marks: Mapping[str, str]) -> None:
        self.text, self.marks = text, dict(marks)
        self._compiled = _compiled(text)

    def around(self, role: str, before: Sequence[str] = ()) -> tuple[str, str]:
        """What stands before and behind what `role` says, after messages of these roles."""
        behind = self._behind([*before, role])
        if not before:
            return self._gap([role], 0), behind
        last, gap = self._behind(before), self._gap([*before, role], len(before))
        if not gap.startswith(last):
            raise InvalidArgument(
                f"chat template: expected what each message says after {last!r}, which was behind the one before it, "
                f"got {shorten(gap)}"
            )
        return gap[len(last) :], behind

    def _behind(self, roles: Sequence[str]) -> str:
        """What stands behind the last of some messages, whether or not another follows; some close only the last."""
        follows = self._gap([*roles, "assistant" if roles[-1] == "user" else "user"], len(roles))
        try:
            ends = self._written(roles).partition(WORD.format(len(roles) - 1))[2]
        except InvalidArgument:  # some take no conversation without a user
            return ""
        without = ends.removesuffix(self.marks.get("eos_token", ""))
        return next((one for one in (ends, without) if follows.startswith(one)), "")

    def _gap(self, roles: Sequence[str], place: int) -> str:
        """What stands between what a message says and what the one before it says; before the first, all there is."""
        try:
            whole = self._written(roles)
        except InvalidArgument:
            whole = self._written([*roles, "user"])
        gap, marker, _ = whole.partition(WORD.format(place))
        if not marker:
            raise InvalidArgument(f"chat template: expected it to say what each message says, got {shorten(whole)}")
        return gap.partition(WORD.format(place - 1))[2] if place else gap

    def _written(self, roles: Sequence[str]) -> str:
        messages = [{"role": role, "content": WORD.format(place)} for place, role in enumerate(roles)]
        try:
            return self._compiled.render(messages=messages, add_generation_prompt=False, tools=None, **self.marks)
        except Exception as error:  # whatever a template does
            raise InvalidArgument(f"chat template: expected one that writes {list(roles)}, got {error}") from None


def folder_template(folder: Path) -> tuple[str | None, dict[str, str]]:
    """The template in a model's folder and its marks, from `chat_template.jinja` and `tokenizer_config.json`."""
    file, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    settings: dict[str, object] = json.loads(config.read_text(encoding="utf8")) if config.is_file() else {}
    text = file.read_text(encoding="utf8") if file.is_file() else settings.get("chat_template")
    return text if isinstance(text, str) else None, {
        name: _mark(settings[name]) for name in MARKS if settings.get(name)
    }


MARKS = ("bos_token", "eos_token")


def _mark(value: object) -> str:
    """A mark, which may come with how it is to be matched."""
    return str(value["content"] if is_dict(value) else value)


@lru_cache(16)
def _compiled(text: str) -> "Template":
    try:
        from jinja2 import ext, sandbox  # an extra, needed for templates alone
        from jinja2.exceptions import TemplateError
    except ImportError as error:
        raise MissingExtra(
            "Chat: expected the package jinja2 for a chat template, got none; pip install 'ludus-rl[chat]'"
        ) from error
    extension = type("Said", (ext.Extension,), {"tags": {"generation"}, "parse": _inner})
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[extension, ext.loopcontrols]
    )
    environment.filters["tojson"] = _json
    try:
        return environment.from_string(text, globals={"raise_exception": _refuse, "strftime_now": DAY.strftime})
    except TemplateError as error:
        raise InvalidArgument(f"chat template: expected text of Jinja, got {shorten(text)}: {error}") from None


def _inner(self: object, parser: "Parser") -> "list[Node]":
    """What is between `generation` and `endgeneration`, by which trainers find what a model said: here just that."""
    del self
    next(parser.stream)
    return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _json(value: object, indent: int | None = None) -> str:
    """As models' own libraries write it."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(why: str) -> None:
    raise ValueError(why)
