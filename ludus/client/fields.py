"""Fields by name: dictionaries whose entries are attributes too, and actions given field by field."""

from collections.abc import Mapping
from typing import Any

from ludus.spaces.kinds import is_dict
from ludus.spaces.models import fields_of

__all__ = ["Fields", "merged"]


class Fields(dict[str, Any]):
    """A dictionary whose entries are attributes as well, those of dictionaries inside it too.

    >>> Fields({"board": {"size": 3}}).board.size
    3
    """

    def __getattr__(self, name: str) -> Any:
        try:
            found: object = self[name]
        except KeyError:
            raise AttributeError(f"expected one of {list(self)}, got {name!r}") from None
        return Fields(found) if is_dict(found) and type(found) is dict else found


def merged(value: object, keywords: Mapping[str, object]) -> object:
    """What a caller gave as one value: a value, and fields by name over those that it has.

    >>> merged({"a": 1}, {"b": 2})
    {'a': 1, 'b': 2}
    """
    return {**(fields_of(value) or {}), **keywords} if keywords else value
