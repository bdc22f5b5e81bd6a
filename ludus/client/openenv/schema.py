"""JSON schemas as spaces: an object with known fields is a `Record`; what a schema leaves open is `Json`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, make_dataclass
from functools import lru_cache
from keyword import iskeyword
from math import nan
from operator import is_
from typing import Annotated, Any, Literal, Union, cast

import msgspec

from ludus.errors import LudusError, shorten
from ludus.spaces import Record, Space
from ludus.spaces.json import Json
from ludus.spaces.kinds import is_dict, is_iterable, is_list

__all__ = ["announced", "annotation_of", "space_of", "undecided", "with_nan", "without_nulls", "without_undecided"]

MAX_DEPTH = 8
MAX_FIELDS = 256
MAX_CHOICES = 1024
MAX_CACHED_SCHEMAS = 128
"""Schemas whose classes are known."""
BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
LENGTHS = {"minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length"}


def space_of(schema: object, *, without: tuple[str, ...] = ()) -> Space[object]:
    """The space of a schema: a Record where every field can be one's, else `Json("object")`.

    >>> space = space_of({"title": "Move", "type": "object", "properties": {"column": {"type": "integer"}},
    ...                   "required": ["column"], "additionalProperties": False})
    >>> space.decode({"column": 3})
    Move(column=3)
    >>> space_of({"type": "object", "additionalProperties": True})
    Json('object')
    """
    if not is_dict(schema):
        return Json("object")
    try:
        model = _model(msgspec.json.encode(schema), without)
        return Json("object", schema) if model is None else cast(Space[object], Record(model))  # of a class made here
    except (LudusError, TypeError, ValueError, RecursionError):
        return Json("object", schema)


def annotation_of(schema: object, root: dict[str, object]) -> object:
    """The annotation that stands for a part of a schema, whose definitions are the root's.

    >>> annotation_of({"type": "array", "items": {"type": "string"}}, {})
    list[str]
    """
    return _Reader(root).annotation(schema, MAX_DEPTH)


def without_nulls(value: object, schema: object) -> object:
    """A value with 0 for each null where its schema has a number alone; the very same one where there is none.

    >>> without_nulls({"x": [1.0, None]}, {"properties": {"x": {"type": "array", "items": {"type": "number"}}}})
    {'x': [1.0, 0.0]}
    """
    return _Reader(schema).without_nulls(value, schema, MAX_DEPTH) if is_dict(schema) else value


def announced(value: object, schema: object) -> tuple[object, dict[str, object]]:
    """A value without the fields that its schema does not have, at any depth, and those fields by their paths.

    A schema of Pydantic's says nothing of computed fields, nor of those of a subclass.

    >>> announced({"x": 1, "double": 2}, {"properties": {"x": {"type": "integer"}}})
    ({'x': 1}, {'double': 2})
    """
    more: dict[str, object] = {}
    if not is_dict(schema):
        return value, more
    return _Reader(schema).announced(value, schema, "", more, MAX_DEPTH), more


def undecided(schema: object) -> frozenset[str]:
    """The fields that may be left out, and whose default is the server's to know.

    >>> undecided({"properties": {"a": {}, "b": {"default": 1}, "c": {}}, "required": ["c"]})
    frozenset({'a'})
    """
    fields: object = schema.get("properties") if is_dict(schema) else None
    if not is_dict(schema) or not is_dict(fields):
        return frozenset()
    required = schema.get("required")
    required = required if is_list(required) else ()
    return frozenset(name for name, one in fields.items() if name not in required and not _has_own_default(one))


def without_undecided(value: object, schema: object) -> object:
    """A value without the nulls that stand for such fields, at any depth.

    >>> inner = {"type": "object", "properties": {"x": {}}}
    >>> without_undecided({"a": {"x": None}, "b": None}, {"properties": {"a": inner, "b": {}}, "required": ["b"]})
    {'a': {}, 'b': None}
    """
    return _Reader(schema).without_undecided(value, schema, MAX_DEPTH) if is_dict(schema) else value


def with_nan(value: object, data: object, filled: object) -> object:
    """What was read of `filled`, with NaN where `data` has null in its place: JSON cannot write NaN.

    >>> with_nan([1.0, 0.0], [1.0, None], [1.0, 0.0])
    [1.0, nan]
    """
    if data is None:
        return value if filled is None else nan
    if data is filled:
        return value
    if is_list(data) and is_list(filled) and is_iterable(value):
        return [with_nan(*one) for one in zip(value, data, filled, strict=True)]
    if not is_dict(data) or not is_dict(filled):
        return value
    for name, one in data.items():
        if one is not filled[name]:
            new = with_nan(value[name] if is_dict(value) else getattr(value, name), one, filled[name])
            if is_dict(value):
                value[name] = new
            else:
                object.__setattr__(value, name, new)  # frozen or not
    return value


@lru_cache(maxsize=MAX_CACHED_SCHEMAS)
def _model(schema: bytes, without: tuple[str, ...]) -> type | None:
    """One class for one schema, whoever connects: values from two sessions are equal, and lanes are of one space."""
    read = msgspec.json.decode(schema)
    return _Reader(read).model(read, without, MAX_DEPTH)


class _Reader:
    """Reads one schema, whose definitions its parts refer to."""

    def __init__(self, root: dict[str, object]) -> None:
        definitions: object = root.get("$defs") or root.get("definitions")
        self._definitions: dict[str, object] = definitions if is_dict(definitions) else {}

    def model(self, schema: Mapping[str, object], without: tuple[str, ...], depth: int) -> type | None:
        """A dataclass with the fields of an object; None where they are not known."""
        properties = schema.get("properties")
        fields: dict[str, object] = properties if is_dict(properties) else {}
        known = {name: one for name, one in fields.items() if name not in without}
        open_ended = schema.get("additionalProperties") not in (None, False)
        if not known or open_ended or len(known) > MAX_FIELDS or depth <= 0:
            return None
        if not all(_is_name(name) for name in known):
            return None
        required: object = schema.get("required") or ()
        if not is_iterable(required):
            raise TypeError(f"required: expected a list, got {shorten(required)}")
        ordered = sorted(known, key=lambda name: _has_default(name, known[name], required))
        title = str(schema.get("title") or "Value")
        return make_dataclass(
            title if _is_name(title) else "Value", [self._field(name, known[name], required, depth) for name in ordered]
        )

    def _field(
        self, name: str, schema: object, required: Iterable[object], depth: int
    ) -> tuple[str, object] | tuple[str, object, object]:
        kind = self.annotation(schema, depth - 1)
        if not _has_default(name, schema, required):
            return name, kind
        default: object = schema.get("default") if is_dict(schema) else None
        if default in ([], {}):  # a factory that runs nobody's code: what it makes is not checked again
            return name, kind, _made_by(list if is_list(default) else dict)
        if is_list(default) or is_dict(default):
            return name, kind, _made_by(lambda: _default_of(kind, default))
        if default is None and is_dict(schema) and "default" not in schema:
            kind = Union[kind, None]  # noqa: UP007  (the annotation may be an Annotated)
        return name, kind, field(default=default)

    def annotation(self, schema: object, depth: int) -> object:
        """The annotation that stands for a schema."""
        schema = self._resolved(schema)
        if not is_dict(schema) or depth <= 0:
            return _left_open()
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if is_list(choices) and 0 < len(choices) <= MAX_CHOICES:
            plain = all(isinstance(one, str | int | bool | None) for one in choices)
            return Literal[tuple(choices)] if plain else _left_open()
        several = schema.get("anyOf") or schema.get("oneOf")
        if is_list(several) and several:
            return Union[tuple(self.annotation(one, depth - 1) for one in several)]  # noqa: UP007
        return self._typed(schema, depth)

    def _typed(self, schema: dict[str, object], depth: int) -> object:
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
            return _left_open("object", schema) if model is None else model
        return _left_open()

    def without_nulls(self, value: object, schema: object, depth: int) -> object:
        """The value, or a copy where a null was a number."""
        schema = self._resolved(schema)
        if not is_dict(schema) or depth <= 0:
            return value
        if value is None:
            return 0.0 if schema.get("type") == "number" else None
        fields: object = schema.get("properties")
        if is_list(value) and "items" in schema:
            found = [self.without_nulls(one, schema["items"], depth - 1) for one in value]
            return value if all(map(is_, value, found)) else found
        if is_dict(value) and is_dict(fields):
            mended = {name: self.without_nulls(one, fields.get(name), depth - 1) for name, one in value.items()}
            return value if all(mended[name] is one for name, one in value.items()) else mended
        return value

    def without_undecided(self, value: object, schema: object, depth: int) -> object:
        """The value, without nulls for fields that may be left out and whose default is not told."""
        schema = self._resolved(schema)
        if not is_dict(schema) or depth <= 0 or not (is_list(value) or is_dict(value)):
            return value
        several = schema.get("anyOf") or schema.get("oneOf")
        if is_list(several):
            return self.without_undecided(value, self._branch(value, several), depth - 1)
        if is_list(value):
            return [self.without_undecided(one, schema.get("items"), depth - 1) for one in value]
        fields, open_ones = schema.get("properties"), undecided(schema)
        if not is_dict(value):
            return value
        if not is_dict(fields):
            rest = schema.get("additionalProperties")
            return {name: self.without_undecided(one, rest, depth - 1) for name, one in value.items()}
        return {
            name: self.without_undecided(one, fields.get(name), depth - 1)
            for name, one in value.items()
            if one is not None or name not in open_ones
        }

    def announced(self, value: object, schema: object, path: str, more: dict[str, object], depth: int) -> object:
        """The value without what its schema does not have, which goes to `more`."""
        schema = self._resolved(schema)
        if not is_dict(schema) or depth <= 0 or not (is_list(value) or is_dict(value)):
            return value
        several = schema.get("anyOf") or schema.get("oneOf")
        if is_list(several):
            expected = "array" if is_list(value) else "object"
            kinds = [one for one in map(self._resolved, several) if is_dict(one) and one.get("type") == expected]
            return self.announced(value, kinds[0], path, more, depth - 1) if len(kinds) == 1 else value
        if is_list(value):
            items: object = schema.get("items")
            return [self.announced(one, items, f"{path}[{n}]", more, depth - 1) for n, one in enumerate(value)]
        fields, rest = schema.get("properties"), schema.get("additionalProperties")
        if rest is True or not is_dict(value) or not (fields is None or is_dict(fields)):
            return value
        found: dict[str, object] = {}
        for name, one in value.items():
            place = f"{path}.{name}" if path else str(name)
            part: object = rest if fields is None else fields.get(name, rest)
            if fields is None or name in fields or is_dict(rest):
                found[name] = self.announced(one, part, place, more, depth - 1)
            else:
                more[place] = one
        return found

    def _branch(self, value: object, several: list[object]) -> object:
        """The one of several schemas that a list or an object is of: by its fields and those that are constant."""
        found = [self._resolved(one) for one in several]
        if not is_dict(value):
            return next((one for one in found if is_dict(one) and one.get("type") == "array"), None)
        return next((one for one in found if is_dict(one) and _is_of(value, one)), None)

    def _resolved(self, schema: object) -> object:
        """What a reference refers to; one that leads nowhere, or in a circle, is left open."""
        for _ in range(MAX_DEPTH):
            if not is_dict(schema):
                return None
            every = schema.get("allOf")
            if is_list(every) and len(every) == 1:
                schema = every[0]
                continue
            reference = schema.get("$ref")
            if reference is None:
                return schema
            schema = self._definitions.get(str(reference).rpartition("/")[2])
        return None


def _is_of(value: dict[str, object], schema: dict[str, object]) -> bool:
    fields: object = schema.get("properties")
    if not is_dict(fields):
        return schema.get("type") == "object"
    constants = {name: one["const"] for name, one in fields.items() if is_dict(one) and "const" in one}
    return value.keys() <= fields.keys() and all(value.get(name, one) == one for name, one in constants.items())


def _made_by(factory: Callable[[], object]) -> object:
    """A field whose default is made anew for each instance."""
    return field(default_factory=factory)


def _default_of(kind: object, default: object) -> object:
    """A default of a schema as a value of the annotation, objects inside it too; a copy each time."""
    copy = msgspec.json.decode(msgspec.json.encode(default))
    try:
        return msgspec.convert(copy, kind)
    except (TypeError, msgspec.ValidationError):  # a union that msgspec cannot tell apart, or no value of it at all
        return copy


def _has_own_default(schema: object) -> bool:
    return is_dict(schema) and "default" in schema


def _left_open(kind: str = "any", schema: dict[str, object] | None = None) -> object:
    """The annotation of whatever JSON, or of that of a kind."""
    return Annotated[Any, Json(kind, schema)]


def _bounded(kind: object, schema: dict[str, object], names: dict[str, str]) -> object:
    limits: dict[str, Any] = {
        ours: schema[theirs] for theirs, ours in names.items() if isinstance(schema.get(theirs), int | float)
    }
    return Annotated[kind, msgspec.Meta(**limits)] if limits else kind


def _has_default(name: str, schema: object, required: Iterable[object]) -> bool:
    return name not in required or _has_own_default(schema)


def _is_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name) and not name.startswith("_")
