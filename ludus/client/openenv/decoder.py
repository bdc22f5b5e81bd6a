"""`ReplyDecoder`: the text of an answer with an observation becomes the observation in one pass.

Text that msgspec reads as JSON is known to be Unicode and of JSON's types, so nothing is looked at twice: msgspec holds
it to the fields as it reads, and what is left open is only measured for depth. Whatever it refuses is for the slow way,
which reads the same text as plain data and says what is wrong with it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from keyword import iskeyword
from math import nan
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union

import msgspec
from msgspec.structs import asdict, astuple

from ludus.spaces import Record, Space
from ludus.spaces.compiled import Construct
from ludus.spaces.container_fields import ListField
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.json import MAX_DEPTH, Json
from ludus.spaces.scalar_fields import BoolField, ChoiceField, FloatField, IntField, NoneField, StrField
from ludus.spaces.union_field import UnionField

__all__ = ["Decoded", "ReplyDecoder", "is_shallow"]

Finish = Callable[[Any], object]
"""Takes what the type of its plan says."""
SCALARS = (BoolField, ChoiceField, IntField, NoneField, StrField)
OPEN: dict[str, object] = {"object": dict[str, Any], "array": list[Any], "any": Any}
NESTED = (list, dict)
CONTAINERS = frozenset(NESTED)
Value: TypeAlias = "dict[str, Value] | list[Value] | str | float | bool | None"
"""What msgspec makes of JSON."""
BRACKETS = bytes.maketrans(b"{}", b"[]")
OTHERS = bytes(one for one in range(256) if one not in b'{}[]"')
MAX_CHARS_PER_VALUE = 40
"""Characters for each value, beyond which a text takes longer to measure than the values."""
MANY_VALUES = 1000
"""Values at one level, from which on the text is quicker to measure."""
BESIDE = ("reward", "done", "terminated", "truncated", "info", "metadata")
"""What stands beside the observation, if anything."""
MAX_MORE = 64
"""Fields that no schema announces, and that are read at once all the same."""


class Decoded:
    """An observation that was read from the text itself; whoever asks again has another, read anew."""

    __slots__ = ("_again", "_value", "more")

    def __init__(self, value: object, again: Callable[[], object], more: dict[str, object]) -> None:
        self._value, self._again = [value], again
        self.more = more
        """Fields that its space has not."""

    def take(self) -> object:
        """The observation, which is the caller's own."""
        return self._value.pop() if self._value else self._again()


class _Plan(NamedTuple):
    """The type by which msgspec reads a value, and what makes the value of what it read; None where that is it."""

    type: object
    finish: Finish | None = None


class _Unplanned(Exception):
    """A field that msgspec cannot read as we do."""


class ReplyDecoder:
    """Reads answers whose observation is of a space.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Seen:
    ...     total: float
    >>> decoder = ReplyDecoder(Record(Seen))
    >>> text = '{"type": "observation", "data": {"observation": {"total": %s}, "done": true}}'
    >>> decoder.decode(text % 3)["observation"].take(), decoder.decode(text % "null")["observation"].take()
    (Seen(total=3.0), Seen(total=nan))
    >>> decoder.decode('{"type": "error", "data": {}}') is None
    True
    """

    def __init__(self, space: Space[object]) -> None:
        self._space, self._depth = space, _Depth()
        self._first = 0
        """The way to begin with: a server that wrote null for a number once does so again."""
        self._more: tuple[str, ...] = ()

    def expect(self, names: Iterable[str]) -> None:
        """Read fields of such names, too: a server that gave what it never announced does so again."""
        new = [name for name in names if name.isidentifier() and not iskeyword(name) and name not in self._more]
        if new and isinstance(self._space, Record) and len(self._more) + len(new) <= MAX_MORE:
            self._more += tuple(name for name in new if name not in self._space.fields)
            self.__dict__.pop("_ways", None)

    def restart(self) -> None:
        """Read by the space as it is now."""
        self._first = 0
        self.__dict__.pop("_ways", None)

    def decode(self, text: bytes | str) -> dict[str, object] | None:
        """The data of an answer, with the observation `Decoded`; None where the slow way has to say what it is."""
        measured, unmeasured = self._ways
        ways = unmeasured if len(text) <= MAX_CHARS_PER_VALUE * self._depth.most and is_shallow(text) else measured
        for number in range(self._first, len(ways)):
            try:
                found = ways[number](text)
            except Exception:  # noqa: S112  (msgspec's, or that of a model's own code: the slow way says what it is)
                continue
            self._first = number
            return found
        return None

    @cached_property
    def _ways(self) -> "tuple[tuple[Way, ...], tuple[Way, ...]]":
        """Numbers as they are, then null for NaN, as Pydantic writes it, too; with depth measured, and without."""
        try:
            both = [
                tuple(_way(self._space, _Planner(depth, nulls), self._more) for nulls in (False, True))
                for depth in (self._depth, None)
            ]
            return both[0], both[1]
        except (_Unplanned, TypeError):  # TypeError: a union that msgspec cannot tell apart
            return (), ()


Way = Callable[[bytes | str], dict[str, object]]


def _way(space: Space[object], planner: "_Planner", more: tuple[str, ...]) -> Way:
    """What reads the text of an answer, with `more` fields than the space has, where they come."""
    plan = planner.of_space(space, more)
    members = [("observation", plan.type), *((name, Any, None) for name in BESIDE)]
    data = msgspec.defstruct("Data", members)
    reply = msgspec.defstruct("Reply", [("type", Literal["observation"]), ("data", data)])
    decode, finish = msgspec.json.Decoder(reply).decode, plan.finish

    def read(text: bytes | str) -> dict[str, object]:
        found: Any = decode(text)  # of the class that was just made
        told: dict[str, object] = asdict(found.data)
        seen = told["observation"]
        extra = {name: one for name in more if (one := getattr(seen, name)) is not msgspec.UNSET}
        value = seen if finish is None else finish(seen)
        told["observation"] = Decoded(value, lambda: _observation(read(text)), extra)
        return told

    return read


def _observation(told: dict[str, object]) -> object:
    found = told["observation"]
    return found.take() if isinstance(found, Decoded) else found


class _Planner:
    """Plans fields; with `nulls`, null stands for NaN wherever a number is wanted.

    What is left open is measured by `depth`, if anything.
    """

    def __init__(self, depth: "_Depth | None", nulls: bool) -> None:
        self._depth, self._nulls = depth, nulls

    def of_space(self, space: Space[object], more: tuple[str, ...] = ()) -> _Plan:
        """The plan of a record, or of what is left open."""
        if type(space) is Record:
            return self._record(space, more)
        if type(space) is Json:
            return _Plan(OPEN[space.kind], self._depth)
        raise _Unplanned

    def _field(self, field: FieldType) -> _Plan:
        if isinstance(field, FloatField):
            return self._float(field)
        if isinstance(field, SCALARS):
            return _scalar(field)
        if isinstance(field, ListField):
            return self._list(field)
        if isinstance(field, UnionField):
            return self._union(field)
        if isinstance(field, SpaceField):
            return self.of_space(field.space)
        raise _Unplanned

    def _float(self, field: FloatField) -> _Plan:
        plan = _scalar(field)
        if not self._nulls or not field.fits(0.0):
            return plan
        return _Plan(Union[plan.type, None], _or_nan)  # noqa: UP007  (it is an Annotated)

    def _list(self, field: ListField) -> _Plan:
        if field.kind != "list":
            raise _Unplanned
        item = self._field(field.item)
        kind = list[item.type]
        if field.least or field.most is not None:
            kind = Annotated[kind, msgspec.Meta(min_length=field.least, max_length=field.most)]
        finish = None if item.finish is None else _numbers if item.finish is _or_nan else _each(item.finish)
        return _Plan(kind, finish)

    def _union(self, field: UnionField) -> _Plan:
        if not field.is_native:
            raise _Unplanned
        plans = [_scalar(one) if isinstance(one, FloatField) else self._field(one) for one in field.options]
        unfinished = [one.finish for one in plans if one.finish is not None]
        kind = Union[tuple(one.type for one in plans)]  # noqa: UP007
        if not unfinished:
            return _Plan(kind)
        if len(unfinished) > 1 or len(plans) != 2 or not any(isinstance(one, NoneField) for one in field.options):
            raise _Unplanned
        return _Plan(kind, _unless_none(unfinished[0]))

    def _record(self, record: Record, more: tuple[str, ...]) -> _Plan:
        plans = {name: self._field(one) for name, one in record.fields.items()}
        members: list[tuple[str, object] | tuple[str, object, object]] = []
        for name, plan in plans.items():
            make = record.defaults[name].maker if name in record.defaults else None
            default = msgspec.NODEFAULT if make is None else msgspec.field(default_factory=make)
            members.append((name, plan.type, default))
        members += [(name, Any, msgspec.UNSET) for name in more]  # behind the others, which are taken by their places
        kind = msgspec.defstruct(record.name, members, kw_only=True, forbid_unknown_fields=True)
        return _Plan(kind, _maker(kind, record.construct(), [one.finish for one in plans.values()]))


def _scalar(field: FieldType) -> _Plan:
    if field.category is None or field.finisher() is not None or (isinstance(field, StrField) and field.named):
        raise _Unplanned
    return _Plan(field.native(strict=False))


def _maker(kind: type[msgspec.Struct], construct: Construct, finishers: Sequence[Finish | None]) -> Finish:
    """What makes an instance of what msgspec read; a default is one already, and left as it is."""
    parts = [(place, one) for place, one in enumerate(finishers) if one is not None]
    count = len(finishers)
    call, make, by_position = construct.call, construct.make, construct.keywords is None

    def finish(x: object) -> object:
        if type(x) is not kind:
            return x
        values = list(astuple(x)[:count])
        for place, one in parts:
            values[place] = one(values[place])
        return call(*values) if by_position else make(values)

    return finish if parts or not by_position else lambda x: call(*astuple(x)[:count]) if type(x) is kind else x


def _each(item: Finish) -> Finish:
    return lambda x: [item(one) for one in x]


def _unless_none(finish: Finish) -> Finish:
    return lambda x: x if x is None else finish(x)


def _or_nan(x: object) -> object:
    return nan if x is None else x


def _numbers(x: list[float | None]) -> list[float]:
    """`_or_nan` of each, without a call for each: that took three times as long."""
    return [nan if one is None else one for one in x]


class _Depth:
    """Holds what is left open to so many levels, each looked at as a whole."""

    most = 0
    """Values at one level, where they were many once: then a text that is not much longer tells sooner."""

    def __call__(self, x: Value) -> Value:
        level = [x]
        for _ in range(MAX_DEPTH + 1):
            if CONTAINERS.isdisjoint(map(type, level)):
                return x
            inner = [one for one in level if isinstance(one, NESTED)]
            parts = (one if isinstance(one, list) else one.values() for one in inner)
            level = [*chain.from_iterable(parts)]
            self.most = max(self.most, len(level)) if len(level) > MANY_VALUES else self.most
        raise ValueError


def is_shallow(text: bytes | str) -> bool:
    """Whether text that is JSON has few levels for certain: with brackets inside its strings, it does not tell.

    >>> is_shallow('{"a": [1, {"b": "c"}]}'), is_shallow("[" * 33 + "]" * 33), is_shallow('["]["]')
    (True, False, False)
    """
    data = text.encode() if isinstance(text, str) else text
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    data = data.translate(BRACKETS, OTHERS).replace(b'""', b"")  # strings without brackets in them leave two quotes
    for _ in range(MAX_DEPTH):
        if not data:
            return True
        data = data.replace(b"[]", b"")  # the innermost level of all
    return not data
