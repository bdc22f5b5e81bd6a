"""Rules about the wire: a space and its values as plain data, and back without loss."""

from collections.abc import Iterator
from importlib import import_module
from typing import Literal, Protocol

import msgspec

from ludus.errors import LudusError, shorten
from ludus.spaces import Space, describe, dumps, from_description, loads
from ludus.testing.equality import difference
from ludus.testing.report import error
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.space_subject import SpaceSubject

__all__ = ["description_gives_it_back", "json_gives_values_back", "msgpack_gives_values_back", "schema_admits_values"]


def description_gives_it_back(subject: SpaceSubject) -> Found:
    """`describe` is data that JSON carries, and `from_description` makes of it an equal space of the same values."""
    space = subject.fresh()
    fix = "let `arguments()` return what the constructor takes, or keep each argument under its own name"
    try:
        plain = msgspec.json.decode(msgspec.json.encode(describe(space)))
        back = from_description(plain)
    except Exception as failure:
        yield error(f"describe and back: expected {space!r}, got {raised(failure)}", fix)
        return
    if back != space or repr(back) != repr(space):
        yield error(f"describe and back: expected {space!r}, got {back!r}", fix)
        return
    for one, other in ((space, back), (back, space)):
        strange = _strange(one, other, subject.seed)
        if strange:
            yield error(f"describe and back: expected {space!r} with the same values, got {strange}", fix)
            return


def _strange(space: Space[object], other: Space[object], seed: int) -> str:
    """A sample of `space` that `other` does not hold; as plain data, since a record read back is of a new class."""
    space.seed(seed)
    for plain in [space.encode(space.sample()) for _ in range(8)]:
        try:
            other.check(other.decode(plain))
        except LudusError as refusal:
            return f"a space that refuses {shorten(plain)}: {refusal}"
    return ""


def json_gives_values_back(subject: SpaceSubject) -> Found:
    """A value written as JSON is read back exactly, types and dtypes included."""
    yield from _round_trip(subject, "json")


def msgpack_gives_values_back(subject: SpaceSubject) -> Found:
    """A value written as msgpack is read back exactly, types and dtypes included."""
    yield from _round_trip(subject, "msgpack")


def _round_trip(subject: SpaceSubject, form: Literal["json", "msgpack"]) -> Found:
    space, fix = (
        subject.fresh(),
        "let `encode` give plain data (lists, numbers, text), and `decode` make the value of it again",
    )
    for value in subject.samples:
        try:
            back = loads(space, dumps(space, value, format=form), format=form)
        except Exception as failure:
            yield error(f"{shorten(value)} as {form}: expected it back, got {raised(failure)}", fix)
            return
        found = difference(value, back)
        if found:
            yield error(f"{shorten(value)} as {form}: expected it back, got {found}", fix)
            return


def schema_admits_values(subject: SpaceSubject) -> Found:
    """`json_schema` is a JSON schema, and admits what `encode` writes."""
    space = subject.fresh()
    schema: object = space.json_schema()
    try:
        msgspec.json.encode(schema)
    except (TypeError, msgspec.EncodeError) as failure:
        yield error(
            f"json_schema(): expected plain data, got {raised(failure)}",
            "use numbers, text, lists and dictionaries only",
        )
        return
    if not isinstance(schema, dict):
        yield error(f"json_schema(): expected a dictionary, got {shorten(schema)}", "return {'type': …}")
        return
    validator = _validator(schema)
    if validator is None:
        yield Unchecked("whether it admits values: the package jsonschema is not installed")
        return
    for value in subject.samples:
        plain = msgspec.json.decode(msgspec.json.encode(space.encode(value)))
        refusal = next(iter(validator.iter_errors(plain)), None)
        if refusal is not None:
            message = f"json_schema(): expected it to admit {shorten(plain)}, got {refusal.message}"
            yield error(message, "let json_schema describe what encode writes")
            return


class SchemaError(Protocol):
    """Why a schema does not admit a value."""

    message: str


class Validator(Protocol):
    """What the package jsonschema makes of a schema."""

    def iter_errors(self, instance: object) -> Iterator[SchemaError]:
        """Everything that is wrong with a value."""
        ...


def _validator(schema: dict[str, object]) -> Validator | None:
    """What judges values by a schema, where the package is installed."""
    try:
        return import_module("jsonschema").Draft202012Validator(schema)
    except ImportError:
        return None
