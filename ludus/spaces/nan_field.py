"""`NanField`: floats of a model that was written where NaN is a number like any other."""

from __future__ import annotations

from math import isfinite, nan

from ludus.spaces.scalar_fields import FloatField
from ludus.spaces.space import Violation

__all__ = ["NanField"]


class NanField(FloatField):
    """`float`, NaN included. In JSON whatever is not finite is null, as Pydantic writes it, and null is NaN.

    Models of OpenEnv's observations have it. Everywhere else NaN is in no space: it is a mistake more often than not.

    >>> import math
    >>> NanField().fits(math.nan), NanField().encode(math.nan, binary=False), NanField().decode(None)
    (True, None, nan)
    """

    kind = "nan"

    def validate(self, x: object, path: str) -> list[Violation]:
        """Any float."""
        return [] if type(x) is float else super().validate(x, path)

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """As a float; null is NaN."""
        return nan if x is None else super().coerce(x, path, problems)

    @property
    def category(self) -> str | None:
        """A float to msgspec."""
        return FloatField.kind

    def native(self, *, strict: bool) -> object:
        """Any float: a bound would keep NaN out."""
        return float

    def encode(self, x: float, *, binary: bool) -> object:
        """Itself; null in JSON, where that has no number for it."""
        x = float(x)
        return x if binary or isfinite(x) else None

    def json_schema(self) -> dict[str, object]:
        """A number, or null."""
        return {"type": ["number", "null"]}

    def arguments(self) -> list[object]:
        """Its kind alone."""
        return [self.kind]

    def __repr__(self) -> str:
        return "float or NaN"
