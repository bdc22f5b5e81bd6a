"""Typed values of the caller's own classes: any record with the right fields stands for an action."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ludus.errors import CodecError, InvalidAction, shorten
from ludus.spaces import Record, Space

__all__ = ["Fields", "converted", "fields_of", "merged", "partial_data", "to_action"]


class Fields(dict[str, Any]):
    """A dictionary whose entries are attributes as well, those of dictionaries inside it too.

    >>> Fields({"board": {"size": 3}}).board.size
    3
    """

    def __getattr__(self, name: str) -> Any:
        try:
            found = self[name]
        except KeyError:
            raise AttributeError(f"expected one of {list(self)}, got {name!r}") from None
        return Fields(found) if type(found) is dict else found


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of a mapping, a dataclass, a msgspec Struct or a Pydantic model; None of anything else.

    >>> fields_of({"message": "hello"})
    {'message': 'hello'}
    """
    if isinstance(value, Mapping):
        return {str(name): one for name, one in value.items()}
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(kind)}
    for attribute in ("__struct_fields__", "model_fields"):
        names: Any = getattr(kind, attribute, None)
        if names is not None:
            return {name: getattr(value, name) for name in names}
    return None


def converted(space: Space[Any], value: Any) -> Any:
    """An action of a typed space made of a value of another class with the same fields; None where it is none."""
    fields = None if isinstance(value, getattr(space, "model", ())) else fields_of(value)
    if fields is None or not isinstance(space, Record):
        return None
    try:
        action = space.model(**{name: _inner(space, name, one) for name, one in fields.items()})
    except (TypeError, ValueError):
        return None
    return action if space.contains(action) else None


def partial_data(space: Space[Any], value: Any) -> dict[str, Any] | None:
    """The fields that a value has, as data, where each is one of the typed space's; None where one is not.

    Those that it leaves out are for the model at the server to fill in, which knows its defaults.
    """
    fields = fields_of(value)
    if not fields or not isinstance(space, Record) or not fields.keys() <= space.fields.keys():
        return None
    given = {name: _inner(space, name, one) for name, one in fields.items()}
    if any(space.fields[name].validate(one, name) for name, one in given.items()):
        return None
    return {name: space.fields[name].encode(one, binary=True) for name, one in given.items()}


def _inner(space: Record, name: str, value: Any) -> Any:
    """A field's value; one that is a record itself is made one of the space's own."""
    lens = space.fields.get(name)
    inner = None if lens is None else converted(lens.space, value)
    return value if inner is None else inner


def merged(value: Any, keywords: Mapping[str, Any]) -> Any:
    """What a caller gave as one value: a value, and fields by name over those that it has.

    >>> merged({"a": 1}, {"b": 2})
    {'a': 1, 'b': 2}
    """
    return {**(fields_of(value) or {}), **keywords} if keywords else value


def to_action(space: Space[Any], value: Any) -> Any:
    """The action in what a caller gave: an action, a record, or a dictionary.

    >>> from ludus.spaces import Discrete
    >>> to_action(Discrete(3), 2)
    2
    """
    if space.contains(value):
        return value
    found = converted(space, value)
    if found is not None:
        return found
    fields = fields_of(value)
    if fields is None:
        space.check(value, "action", InvalidAction)
        return value
    if set(fields) == {"action"} and not isinstance(space, Record):
        return to_action(space, fields["action"])
    try:
        found = space.decode(fields)
    except (CodecError, TypeError, ValueError, LookupError) as error:
        raise InvalidAction(f"action: expected {space!r}, got {shorten(value)}: {error}") from error
    space.check(found, "action", InvalidAction)
    return found
