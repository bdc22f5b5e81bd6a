"""JSON schemas as spaces: an object with known fields is a `Record`; what a schema leaves open is `Json`."""

from dataclasses import field, make_dataclass
from functools import lru_cache
from keyword import iskeyword
from typing import Annotated, Any, Literal, Union

import msgspec

from ludus.errors import LudusError
from ludus.spaces import Record, Space
from ludus.spaces.json import Json

__all__ = ["annotation_of", "space_of"]

DEEPEST = 8
MOST_FIELDS = 256
MOST_CHOICES = 1024
KEPT = 128
"""Schemas whose classes are known."""
BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
LENGTHS = {"minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length"}


def space_of(schema: Any, *, without: tuple[str, ...] = ()) -> Space[Any]:
    """The space of a schema: a Record where every field can be one's, else `Json("object")`.

    >>> space = space_of({"title": "Move", "type": "object", "properties": {"column": {"type": "integer"}},
    ...                   "required": ["column"], "additionalProperties": False})
    >>> space.decode({"column": 3})
    Move(column=3)
    >>> space_of({"type": "object", "additionalProperties": True})
    Json('object')
    """
    if not isinstance(schema, dict):
        return Json("object")
    try:
        model = _model(msgspec.json.encode(schema), without)
        return Json("object", schema) if model is None else Record(model)
    except (LudusError, TypeError, ValueError, RecursionError):
        return Json("object", schema)


def annotation_of(schema: Any, root: dict[str, Any]) -> Any:
    """The annotation that stands for a part of a schema, whose definitions are the root's.

    >>> annotation_of({"type": "array", "items": {"type": "string"}}, {})
    list[str]
    """
    return _Reader(root).annotation(schema, DEEPEST)


@lru_cache(maxsize=KEPT)
def _model(schema: bytes, without: tuple[str, ...]) -> type | None:
    """One class for one schema, whoever connects: values from two sessions are equal, and lanes are of one space."""
    read = msgspec.json.decode(schema)
    return _Reader(read).model(read, without, DEEPEST)


class _Reader:
    """Reads one schema, whose definitions its parts refer to."""

    def __init__(self, root: dict[str, Any]) -> None:
        definitions: Any = root.get("$defs") or root.get("definitions")
        self._definitions: dict[str, Any] = definitions if isinstance(definitions, dict) else {}

    def model(self, schema: Any, without: tuple[str, ...], depth: int) -> type | None:
        """A dataclass with the fields of an object; None where they are not known."""
        properties: Any = schema.get("properties")
        fields: Any = properties.items() if isinstance(properties, dict) else ()
        known = {name: one for name, one in fields if name not in without}
        open_ended = schema.get("additionalProperties") not in (None, False)
        if not known or open_ended or len(known) > MOST_FIELDS or depth <= 0:
            return None
        if not all(_is_name(name) for name in known):
            return None
        required = schema.get("required") or []
        ordered = sorted(known, key=lambda name: _has_default(name, known[name], required))
        title = str(schema.get("title") or "Value")
        return make_dataclass(
            title if _is_name(title) else "Value", [self._field(name, known[name], required, depth) for name in ordered]
        )

    def _field(self, name: str, schema: Any, required: Any, depth: int) -> Any:
        kind = self.annotation(schema, depth - 1)
        if not _has_default(name, schema, required):
            return name, kind
        default: Any = schema.get("default") if isinstance(schema, dict) else None
        if isinstance(default, list | dict):
            return name, kind, field(default_factory=lambda: msgspec.json.decode(msgspec.json.encode(default)))
        if default is None and isinstance(schema, dict) and "default" not in schema:
            kind = Union[kind, None]  # noqa: UP007  (the annotation may be an Annotated)
        return name, kind, field(default=default)

    def annotation(self, schema: Any, depth: int) -> Any:
        """The annotation that stands for a schema."""
        schema = self._resolved(schema)
        if not isinstance(schema, dict) or depth <= 0:
            return Annotated[Any, Json()]
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and 0 < len(choices) <= MOST_CHOICES:
            plain = all(isinstance(one, str | int | bool | None) for one in choices)
            return Literal[tuple(choices)] if plain else Annotated[Any, Json()]
        several = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(several, list) and several:
            return Union[tuple(self.annotation(one, depth - 1) for one in several)]  # noqa: UP007
        return self._typed(schema, depth)

    def _typed(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if kind == "null":
            return None
        if kind == "boolean":
            return bool
        if kind in ("integer", "number"):
            return _bounded(int if kind == "integer" else float, schema, BOUNDS)
        if kind == "string":
            return str if "pattern" in schema else _bounded(str, schema, LENGTHS)
        if kind == "array":
            return _bounded(list[self.annotation(schema.get("items"), depth - 1)], schema, LENGTHS)
        if kind == "object":
            model = self.model(schema, (), depth - 1)
            return Annotated[Any, Json("object", schema)] if model is None else model
        return Annotated[Any, Json()]

    def _resolved(self, schema: Any) -> Any:
        """What a reference refers to; one that leads nowhere, or in a circle, is left open."""
        for _ in range(DEEPEST):
            if not isinstance(schema, dict):
                return None
            if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
                schema = schema["allOf"][0]
                continue
            reference = schema.get("$ref")
            if reference is None:
                return schema
            schema = self._definitions.get(str(reference).rpartition("/")[2])
        return None


def _bounded(kind: Any, schema: dict[str, Any], names: dict[str, str]) -> Any:
    limits = {ours: schema[theirs] for theirs, ours in names.items() if isinstance(schema.get(theirs), int | float)}
    return Annotated[kind, msgspec.Meta(**limits)] if limits else kind


def _has_default(name: str, schema: Any, required: Any) -> bool:
    return name not in required or (isinstance(schema, dict) and "default" in schema)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not iskeyword(name) and not name.startswith("_")
