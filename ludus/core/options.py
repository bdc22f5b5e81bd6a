"""Reset options that know whether anybody looked at them: an argument that is dropped in silence is found out."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

__all__ = ["Options", "TrackedOptions"]

Options = dict[str, Any]
"""What a reset is asked for beside its seed, by name; each environment knows what its own are."""


class TrackedOptions(Options):
    """A dictionary that remembers which of its keys were read, or asked for, or whether it was gone through.

    >>> options = TrackedOptions({"size": 3, "difficulty": 2})
    >>> options.get("size"), options.dropped()
    (3, ['difficulty'])
    """

    def __init__(self, given: Options) -> None:
        super().__init__(given)
        self._unread = set(given)
        self._holders: int | None = None

    def lend(self) -> None:
        """It is given away now: one who still has it when `dropped` is asked has kept it."""
        self._holders = sys.getrefcount(self)

    def dropped(self) -> list[str]:
        """The keys that nobody looked at; none where somebody has kept the dictionary, to look at it later."""
        if not self._unread or (self._holders is not None and sys.getrefcount(self) > self._holders):
            return []
        return sorted(self._unread, key=str)

    def _gone_through(self) -> None:
        self._unread.clear()

    def __getitem__(self, key: str) -> object:
        self._unread.discard(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._unread.discard(key)  # type: ignore[arg-type]
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:  # what copies it comes by here too
        self._gone_through()
        return super().__iter__()

    def __eq__(self, other: object) -> bool:
        self._gone_through()
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:  # an observation may be made of it
        self._gone_through()
        return super().__repr__()

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
        """The value of a key, or the default."""
        self._unread.discard(key)
        return super().get(key, default)

    def pop(self, key: str, *default: object) -> object:  # type: ignore[override]
        """Take a key out."""
        self._unread.discard(key)
        return super().pop(key, *default)

    def setdefault(self, key: str, default: object = None) -> object:  # type: ignore[override]
        """The value of a key, set where there is none."""
        self._unread.discard(key)
        return super().setdefault(key, default)

    def popitem(self) -> tuple[str, object]:
        """Take any key out."""
        self._gone_through()
        return super().popitem()

    def keys(self) -> "dict_keys[str, object]":
        """All keys."""
        self._gone_through()
        return super().keys()

    def values(self) -> "dict_values[str, object]":
        """All values."""
        self._gone_through()
        return super().values()

    def items(self) -> "dict_items[str, object]":
        """All pairs."""
        self._gone_through()
        return super().items()

    def copy(self) -> Options:
        """A plain dictionary with the same entries."""
        self._gone_through()
        return dict(super().items())

    def __or__(self, other: Any) -> Options:
        return self.copy() | other

    def __ror__(self, other: Any) -> Options:
        return other | self.copy()

    def __reduce__(self) -> tuple[type[Options], tuple[Options]]:
        return dict, (self.copy(),)

    def __deepcopy__(self, memo: dict[int, object]) -> Options:
        return deepcopy(self.copy(), memo)
