"""Reset bounds: the `low` and `high` that classic environments take as reset options."""

from math import isfinite
from typing import Any

from ludus.errors import InvalidArgument, shorten

__all__ = ["reset_bounds"]


def reset_bounds(options: dict[str, Any], low: float, high: float) -> tuple[float, float]:
    """`options["low"]` and `options["high"]` as floats, or the defaults; everything else is refused."""
    unknown = [name for name in options if name not in ("low", "high")]
    if unknown:
        raise InvalidArgument(f"options: expected 'low' and 'high' at most, got {shorten(unknown)}")
    ends = options.get("low", low), options.get("high", high)
    try:
        first, last = (float(end) for end in ends)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"options: expected numbers for low and high, got {shorten(ends)}") from error
    if not (isfinite(first) and isfinite(last) and first <= last):
        raise InvalidArgument(f"options: expected finite numbers with low <= high, got low={first}, high={last}")
    return first, last
