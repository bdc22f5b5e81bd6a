"""`Scalar`: values of one of Python's own types that are no numbers and no text: bytes, dates, durations, UUIDs."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, cast, overload
from uuid import UUID

from ludus.errors import CodecError, InvalidSpace, shorten
from ludus.spaces.discrete import whole
from ludus.spaces.mask import refuse_mask
from ludus.spaces.space import ScalarT_co, Space, Violation

__all__ = ["SCALARS", "Scalar"]

SCALARS: dict[str, type[object]] = {
    "bytes": bytes,
    "datetime": datetime,
    "date": date,
    "time": time,
    "timedelta": timedelta,
    "uuid": UUID,
    "decimal": Decimal,
}
FORMATS = {"datetime": "date-time", "date": "date", "time": "time", "timedelta": "duration", "uuid": "uuid"}
"""What JSON schema calls them."""
MAX_SAMPLE_BYTES = 32
"""Bytes of a sample where there is no limit: it stands for data, it does not fill the space."""
DAY_US = 86_400_000_000
"""Microseconds."""


class Scalar(Space[ScalarT_co]):
    """Values of one type: "bytes", "datetime", "date", "time", "timedelta", "uuid" or "decimal".

    They are written as RFC 3339 and ISO 8601 say; bytes as base64 in JSON, and as they are in binary.

    >>> Scalar("date").encode(date(2030, 1, 2)), Scalar("date").decode("2030-01-02")
    ('2030-01-02', datetime.date(2030, 1, 2))
    >>> print(*Scalar("bytes", max_length=2).validate(b"abc", "key"))
    key: expected at most 2 bytes, got 3
    """

    @overload
    def __init__(
        self: "Scalar[bytes]",
        kind: Literal["bytes"],
        *,
        min_length: int = 0,
        max_length: int | None = None,
        seed: object = None,
    ) -> None: ...

    @overload
    def __init__(self: "Scalar[datetime]", kind: Literal["datetime"], *, seed: object = None) -> None: ...

    @overload
    def __init__(self: "Scalar[date]", kind: Literal["date"], *, seed: object = None) -> None: ...

    @overload
    def __init__(self: "Scalar[time]", kind: Literal["time"], *, seed: object = None) -> None: ...

    @overload
    def __init__(self: "Scalar[timedelta]", kind: Literal["timedelta"], *, seed: object = None) -> None: ...

    @overload
    def __init__(self: "Scalar[UUID]", kind: Literal["uuid"], *, seed: object = None) -> None: ...

    @overload
    def __init__(self: "Scalar[Decimal]", kind: Literal["decimal"], *, seed: object = None) -> None: ...

    @overload
    def __init__(
        self, kind: str, *, min_length: int = 0, max_length: int | None = None, seed: object = None
    ) -> None: ...

    def __init__(self, kind: str, *, min_length: int = 0, max_length: int | None = None, seed: object = None) -> None:
        if kind not in SCALARS:
            raise InvalidSpace(f"Scalar: expected one of {', '.join(SCALARS)}, got {shorten(kind)}")
        self.kind, self.type = kind, cast(type[ScalarT_co], SCALARS[kind])
        self.min_length = whole("Scalar min_length", min_length)
        self.max_length = None if max_length is None else whole("Scalar max_length", max_length)
        if (self.min_length, self.max_length) != (0, None) and kind != "bytes":
            raise InvalidSpace(f"Scalar: expected lengths of bytes alone, got them of {kind}")
        if not 0 <= self.min_length <= (self.min_length if self.max_length is None else self.max_length):
            raise InvalidSpace(
                f"Scalar: expected 0 <= min_length <= max_length, got min_length={min_length}, max_length={max_length}"
            )
        super().__init__(None, None, seed)

    def sample(self, mask: object = None, probability: object = None) -> ScalarT_co:
        """A random value; dates lie between 1970 and 2100."""
        if mask is not None or probability is not None:
            refuse_mask(self, mask, probability)
        drawn: Any = _SAMPLES[self.kind](self)
        return drawn

    def default(self) -> ScalarT_co:
        """No bytes more than needed, the first of January 1970, midnight, no time, or zero."""
        return cast(ScalarT_co, b"\0" * self.min_length if self.kind == "bytes" else _ZEROES[self.kind])

    def contains(self, x: object) -> bool:
        """Whether `x` is of the type; a datetime is no date here, and no number stands for a decimal."""
        if not isinstance(x, self.type) or (type(x) is not self.type and self.kind in ("date", "decimal")):
            return False
        if isinstance(x, bytes):
            return self.min_length <= len(x) and (self.max_length is None or len(x) <= self.max_length)
        return not isinstance(x, Decimal) or x.is_finite()

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the type or length."""
        if self.contains(x):
            return []
        if self.kind == "bytes" and isinstance(x, bytes):
            most = "" if self.max_length is None else f" to {self.max_length}"
            upto = f"at most {self.max_length}" if not self.min_length else f"{self.min_length}{most or ' or more'}"
            return [Violation(path, f"{upto} bytes", f"{len(x)}")]
        return [Violation(path, self.kind, shorten(x))]

    def encode(self, x: object, *, binary: bool = False) -> object:
        """Text; bytes as they are when `binary`."""
        import msgspec

        return bytes(x) if binary and isinstance(x, bytes) else msgspec.to_builtins(x)

    def decode(self, data: object) -> ScalarT_co:
        """The value in text, or the value itself."""
        import msgspec

        try:
            return msgspec.convert(data, self.type)
        except (msgspec.ValidationError, ValueError, OverflowError) as error:
            raise CodecError(f"expected {self.kind}, got {shorten(data)}: {error}") from error

    def json_schema(self) -> dict[str, object]:
        """Text of a format."""
        if self.kind in FORMATS:
            return {"type": "string", "format": FORMATS[self.kind]}
        text: dict[str, object] = {"type": "string"}
        return text | ({"contentEncoding": "base64"} if self.kind == "bytes" else {"format": "decimal"})

    def arguments(self) -> dict[str, object]:
        """The type's name, and the lengths where there are any."""
        lengths: dict[str, object] = {"min_length": self.min_length, "max_length": self.max_length}
        return {"kind": self.kind} | (lengths if self.kind == "bytes" else {})

    def __repr__(self) -> str:
        lengths = f", {self.min_length}, {self.max_length}" if (self.min_length, self.max_length) != (0, None) else ""
        return f"Scalar({self.kind!r}{lengths})"


def _moment(space: Scalar) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=int(space.np_random.integers(0, 130 * 365 * DAY_US)))  # noqa: DTZ001


def _bytes(space: Scalar) -> bytes:
    most = max(space.min_length, MAX_SAMPLE_BYTES)
    most = most if space.max_length is None else min(most, space.max_length)
    return space.np_random.bytes(int(space.np_random.integers(space.min_length, most + 1)))


_SAMPLES: dict[str, Callable[[Scalar], object]] = {
    "bytes": _bytes,
    "datetime": _moment,
    "date": lambda space: _moment(space).date(),
    "time": lambda space: _moment(space).time(),
    "timedelta": lambda space: timedelta(microseconds=int(space.np_random.integers(-DAY_US, DAY_US))),
    "uuid": lambda space: UUID(bytes=space.np_random.bytes(16), version=4),
    "decimal": lambda space: Decimal(int(space.np_random.integers(-(10**9), 10**9))) / 1000,
}
_ZEROES: dict[str, object] = {
    "datetime": datetime(1970, 1, 1),  # noqa: DTZ001
    "date": date(1970, 1, 1),
    "time": time(),
    "timedelta": timedelta(),
    "uuid": UUID(int=0),
    "decimal": Decimal(0),
}
