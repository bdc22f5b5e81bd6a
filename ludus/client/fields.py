"""Typed values of the caller's own classes: any record with the right fields stands for an action."""

import dataclasses
from collections.abc import Mapping
from typing import Any

__all__ = ["Fields", "fields_of", "merged"]


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


def merged(value: Any, keywords: Mapping[str, Any]) -> Any:
    """What a caller gave as one value: a value, and fields by name over those that it has.

    >>> merged({"a": 1}, {"b": 2})
    {'a': 1, 'b': 2}
    """
    return {**(fields_of(value) or {}), **keywords} if keywords else value
