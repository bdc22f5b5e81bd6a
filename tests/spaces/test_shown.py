"""What is shown to those who know no tags: JSON that anybody reads, of any value that is data or a model."""

import datetime as dt
import enum
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import pydantic
import pytest
from hypothesis import assume, given

from ludus.errors import ContractViolation
from ludus.spaces.plain import PlainLimits
from ludus.spaces.shown import Private, Shown, shown
from tests.spaces.test_plain import is_complex, values


class Suit(enum.Enum):
    HEARTS = "♥"
    ODD = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    pass


@dataclass
class Card:
    suit: Suit
    back: Annotated[str, Private] = "secret"


class Pair(NamedTuple):
    left: Card
    right: int


class Packed(msgspec.Struct):
    when: dt.datetime
    cards: list[Card]


class Model(pydantic.BaseModel):
    key: uuid.UUID
    price: Decimal


WHEN = dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, [2.5, None]), [1, [2.5, None]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset("a"), ["a"]),
        (OrderedDict({1: "a", (2, 3): Word("b")}), {"1": "a", "(2, 3)": "b"}),
        ([float("nan"), np.inf, -np.inf], ["NaN", "Infinity", "-Infinity"]),
        (np.array([[1.5, np.nan]], np.float16), [[1.5, "NaN"]]),
        (np.longdouble(0.5), 0.5),
        (np.array([0.5, np.inf], np.longdouble), [0.5, "Infinity"]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([None, {"x": np.int8(1)}], object), [None, {"x": 1}]),
        (np.array(3, np.uint64), 3),
        (np.bool_(True), True),
        (memoryview(b"raw"), "cmF3"),
        (2**70, 2**70),
        ([Suit.HEARTS, Suit.ODD, Level.HIGH], ["♥", "ODD", 3]),
        (Pair(Card(Suit.HEARTS), 2), {"left": {"suit": "♥"}, "right": 2}),
        (Packed(WHEN, [Card(Suit.ODD)]), {"when": "2030-01-02T03:04:05Z", "cards": [{"suit": "ODD"}]}),
        (
            Model(key=uuid.UUID(int=7), price=Decimal("1.50")),
            {"key": "00000000-0000-0000-0000-000000000007", "price": "1.50"},
        ),
        ({"day": WHEN.date(), "took": dt.timedelta(seconds=3)}, {"day": "2030-01-02", "took": "PT3S"}),
    ],
    ids=range(19),
)
def test_values_are_shown_as_json(value: Any, expected: Any) -> None:
    assert shown(value) == expected
    assert msgspec.json.decode(msgspec.json.encode(shown(value))) == expected


def test_private_fields_are_shown_only_to_those_who_ask() -> None:
    assert Shown(private=True).write([Card(Suit.HEARTS)]) == [{"suit": "♥", "back": "secret"}]


def test_models_are_refused_where_only_data_may_be() -> None:
    with pytest.raises(ContractViolation, match=r"info\['card'\]: expected numbers, text, bytes, arrays or containers"):
        Shown(models=False).write({"card": Card(Suit.HEARTS)}, "info")
    assert Shown(models=False).write(Pair(Card(Suit.HEARTS), 2)[1:]) == [2]


def test_what_is_no_data_is_named_with_its_path() -> None:
    with pytest.raises(ContractViolation, match=r"^info\.cards\[0\]\.suit: expected numbers, .* models, got <object"):
        shown(Packed(WHEN, [Card(object())]), "info")  # type: ignore[arg-type]


def test_depth_is_limited() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ContractViolation, match="at most 24 levels"):
        shown(loop)
    with pytest.raises(ContractViolation, match="at most 2 levels"):
        Shown(limits=PlainLimits(depth=2)).write([[[1, []]]])


@given(values)
def test_all_that_travels_can_be_shown_as_json(value: Any) -> None:
    assume(not is_complex(value))
    msgspec.json.encode(shown(value))
