"""Records of many lanes travel as columns: what is taken, refused and given back is what each lane alone would say."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Literal
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from ludus.errors import CodecError, InvalidValue
from ludus.spaces import Discrete, Record, Text, Tuple
from ludus.wire import SpaceCodec

KEY = UUID(int=7)


class Roast(Enum):
    LIGHT = "light"
    DARK = "dark"


class Grade(IntEnum):
    A = 1
    B = 2


class Name(str):
    __slots__ = ()


@dataclass
class Cup:
    grams: Annotated[int, Discrete(40)]
    label: str
    heat: float = 0.5
    lid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bean:
    roast: Roast
    origin: Literal["java", "kenya"]
    altitude: int | None = None
    picked: date = date(2030, 1, 2)
    key: UUID = KEY
    seal: bytes = b"\x00\xff"
    code: Annotated[str, Text(3, charset="abc")] = "abc"


class Pot(msgspec.Struct):
    litres: float
    name: str = "old"


class Order(BaseModel):
    count: Annotated[int, Field(ge=1, le=9)]
    note: str = "now"

    @field_validator("note")
    @classmethod
    def tidy(cls, note):
        if note == "never":
            raise ValueError("not that")
        return note.strip()


@dataclass
class Tripled:
    x: int

    def __post_init__(self):
        self.x *= 3


@dataclass
class Shelf:
    cups: list[int] = field(default_factory=list)


RIGHT = {
    "dataclass": [Cup(3, "tea"), {"grams": 4.0, "label": "hé"}, Cup(39, "", 1, True)],
    "frozen": [
        Bean(roast=Roast.DARK, origin="java"),
        {"roast": "light", "origin": "kenya", "altitude": 7, "picked": "2031-05-06", "code": "a"},
        Bean(roast=Roast.LIGHT, origin="kenya", altitude=-3, seal=b"", key=UUID(int=9)),
    ],
    "struct": [Pot(1.5), {"litres": 2}, Pot(float("inf"), "new")],
    "pydantic": [Order(count=3), {"count": 9, "note": " hi "}, Order(count=1, note="x")],
}
MODELS = {"dataclass": Cup, "frozen": Bean, "struct": Pot, "pydantic": Order}
ODD = {
    "a number of NumPy's": [Cup(np.int64(3), "tea"), Cup(1, "x", np.float64(0.25))],
    "an int where a float is": [Cup(3, "tea", 1), Cup(3, "tea", np.float32(0.5))],
    "a whole float": [Cup(3.0, "tea"), Cup(3, "tea")],
    "a float that is not whole": [Cup(3, "tea"), Cup(3.5, "tea")],
    "a bool where an int is": [Cup(True, "tea"), Cup(3, "tea")],
    "an int where a bool is": [Cup(3, "tea", lid=1), Cup(3, "tea")],
    "an enum where text is": [Cup(3, Roast.DARK), Cup(3, "tea")],
    "a date where text is": [Cup(3, "tea"), Cup(3, datetime(2030, 1, 1, tzinfo=UTC))],
    "a UUID where text is": [Cup(3, UUID(int=1)), Cup(3, "tea")],
    "an enum of ints": [Cup(Grade.B, "tea"), Cup(3, "tea")],
    "text of a class of its own": [Cup(3, Name("tea")), Cup(3, "tea")],
    "a Decimal": [Cup(3, "tea", Decimal("0.5")), Cup(3, "tea")],
    "not a number": [Cup(3, "tea", float("nan")), Cup(3, "tea")],
    "half a character": [Cup(3, "\ud800"), Cup(3, "tea")],
    "a span of time": [Cup(np.timedelta64(3), "tea"), Cup(3, "tea")],
    "beyond 64 bits": [Cup(2**70, "tea"), Cup(3, "tea")],
    "outside": [Cup(3, "tea"), Cup(40, "tea")],
    "several faults": [Cup(40, 7), Cup("x", None)],
    "another class": [Pot(1.0), Cup(3, "tea")],
    "nothing": [None, Cup(3, "tea")],
    "an unknown field": [Cup(3, "tea"), {"grams": 3, "label": "", "sugar": 1}],
    "a missing field": [{"grams": 3}, Cup(3, "tea")],
}


def by_lanes(space, values, name="action"):
    """What lanes alone make of values."""
    return tuple(space.coerce(one, f"{name}[{lane}]") for lane, one in enumerate(values))


def outcome(make):
    try:
        return [(type(one), repr(one)) for one in make()]
    except (CodecError, InvalidValue) as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", RIGHT)
def test_columns_give_back_what_lanes_stand_for(kind):
    space, values = Record(MODELS[kind]), RIGHT[kind]
    codec = SpaceCodec(space.batch(3), "action")
    data = codec.write(values)
    assert type(data) is bytes
    assert codec.read(data) == codec.take(data) == by_lanes(space, values)
    assert codec.read(codec.write(codec.read(data))) == codec.read(data)


@pytest.mark.parametrize("odd", ODD)
def test_columns_take_and_refuse_what_lanes_do(odd):
    space = Record(Cup)
    codec = SpaceCodec(space.batch(2), "action")
    # What travels is plain: a value of a class of its own comes back as what it is written as.
    wanted = outcome(lambda: [space.read(space.encode(one, binary=True)) for one in by_lanes(space, ODD[odd])])
    assert outcome(lambda: codec.read(codec.write(ODD[odd]))) == wanted


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[3, 40], ["a", "b"], [0.5, 0.5], [True, True]], r"action\[1\].grams: expected Discrete\(40\), got 40"),
        ([[3, "x"], ["a", "b"], [0.5, 0.5], [True, True]], r"action\[1\].grams"),
        ([[3, 4], ["a", None], [0.5, 0.5], [True, 1]], r"action\[1\].label.*action\[1\].lid"),
        ([[3, 4], ["a", "b"], [0.5, float("nan")], [True, True]], r"action\[1\].heat"),
        ([[3], ["a"], [0.5], [True]], "action: expected 4 columns of 2 values"),
        ([[3, 4], ["a", "b"]], "action: expected 4 columns of 2 values"),
        ([[3, [[]]], ["a", "b"], [0.5, 0.5], [True, True]], "action: expected 4 columns of 2 values"),
        ({"grams": 1}, "action: expected 4 columns of 2 values"),
    ],
)
def test_what_comes_in_is_held_to_the_space_with_its_place(values, said):
    read = SpaceCodec(Record(Cup).batch(2), "action").read
    with pytest.raises((InvalidValue, CodecError), match=said):
        read(msgspec.msgpack.encode(values))


def test_a_whole_float_that_comes_in_is_an_int():
    read = SpaceCodec(Record(Cup).batch(1), "action").read
    assert read(msgspec.msgpack.encode([[3.0], ["a"], [1], [True]])) == (Cup(3, "a", 1.0, True),)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data):
    read = SpaceCodec(Record(Cup).batch(2), "action").read
    for some in (data, b"\x94\x92" + data, b"\xdd\xff\xff\xff\xff" + data):
        with suppress(CodecError, InvalidValue):
            read(some)


def test_an_announcement_of_much_takes_no_memory():
    with pytest.raises(CodecError, match="expected 4 columns of 2 values"):
        SpaceCodec(Record(Cup).batch(2), "action").read(b"\x94\xdd\xff\xff\xff\xff")


def test_an_authors_own_code_runs_once_for_each_lane():
    space = Record(Order)
    codec = SpaceCodec(space.batch(2), "action")
    assert codec.read(codec.write([{"count": 1, "note": " a "}] * 2)) == (Order(count=1, note="a"),) * 2
    with pytest.raises(InvalidValue, match=r"action\[1\].*not that"):
        codec.read(msgspec.msgpack.encode([[1, 2], ["a", "never"]]))


def test_a_model_that_changes_its_fields_is_as_in_one_lane():
    space = Record(Tripled)
    one, many = SpaceCodec(space, "action"), SpaceCodec(space.batch(2), "action")
    alone = [msgspec.msgpack.decode(msgspec.msgpack.encode(one.write(Tripled(x)))) for x in (1, 2)]
    assert many.read(many.write([Tripled(1), Tripled(2)])) == tuple(map(one.read, alone))


def test_records_with_containers_and_differing_records_travel_lane_by_lane():
    shelves = SpaceCodec(Record(Shelf).batch(2), "action")
    assert shelves.write([Shelf([1]), Shelf([2, 3])]) == [{"cups": [1]}, {"cups": [2, 3]}]
    assert shelves.read([{"cups": [1]}, {"cups": []}]) == (Shelf([1]), Shelf([]))
    both = SpaceCodec(Record(Cup).batch_differing([Record(Cup), Record(Pot)]), "action")
    assert both.read(both.write([Cup(1, "a"), Pot(2.0)])) == (Cup(1, "a"), Pot(2.0))


def test_a_batch_of_records_that_was_put_together_by_hand_speaks_as_any_other():
    made, own = SpaceCodec(Record(Cup).batch(2), "action"), SpaceCodec(Tuple([Record(Cup), Record(Cup)]), "action")
    values = (Cup(1, "a"), Cup(2, "b"))
    assert own.write(values) == made.write(values)
    assert own.read(made.write(values)) == made.read(own.write(values)) == values


def test_lanes_that_come_as_a_list_are_read_too():
    read = SpaceCodec(Record(Cup).batch(2), "action").read
    assert read([{"grams": 1, "label": "a"}, {"grams": 2, "label": "b"}]) == (Cup(1, "a"), Cup(2, "b"))
