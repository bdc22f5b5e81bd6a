"""Models as strangers write them: every kind of field, in each of the libraries that models come from."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import msgspec
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ludus.spaces import Box, Discrete, Text


class Suit(Enum):
    HEARTS = "♥"
    SPADES = "♠"


class Rank(IntEnum):
    ACE = 1
    KING = 13


class Mood(StrEnum):
    GLAD = "glad"
    GRIM = "grim"


class Shape(Enum):
    """Values that no plain data is, so that names are written."""

    DOT = (0,)
    LINE = (0, 1)


@dataclass(frozen=True, slots=True)
class Place:
    x: float
    y: float = 0.0
    label: str = "here"


class Card(msgspec.Struct, frozen=True):
    suit: Suit
    rank: Rank = Rank.ACE


class Letter(BaseModel):
    model_config = ConfigDict(frozen=True)
    to: str = Field(min_length=1, max_length=30)
    words: list[str] = Field(default_factory=list, max_length=4)
    sent: dt.datetime | None = None


@dataclass
class Everything:
    """One field of each kind."""

    flag: bool
    number: int
    bounded: Annotated[int, msgspec.Meta(ge=-3, le=3)]
    ratio: float
    chance: Annotated[float, Field(ge=0, le=1)]
    text: str
    short: Annotated[str, msgspec.Meta(min_length=1, max_length=8)]
    blob: bytes
    small_blob: Annotated[bytes, msgspec.Meta(max_length=4)]
    nothing: None
    word: Literal["stop", "go"]
    odd: Literal["x", 3, None, True]
    suit: Suit
    rank: Rank
    mood: Mood
    shape: Shape
    when: dt.datetime
    day: dt.date
    clock: dt.time
    span: dt.timedelta
    key: UUID
    price: Decimal
    numbers: list[int]
    places: list[Place]
    few: Annotated[list[float], msgspec.Meta(min_length=1, max_length=3)]
    row: tuple[int, ...]
    pair: tuple[int, str]
    tags: set[str]
    frozen: frozenset[int]
    scores: dict[str, float]
    by_number: dict[int, str]
    by_suit: dict[Suit, int]
    homes: dict[str, Place]
    either: int | str
    wide: float | int
    maybe: Optional[Place]  # noqa: UP045  (as many still write it)
    many: bool | int | float | None
    thing: Place | Card | Letter
    list_or_text: list[int] | str
    anything: Any
    metadata: dict[str, Any]
    bare_dict: dict
    bare_list: list
    sequence: Sequence[int]
    mapping: Mapping[str, int]
    array: Annotated[np.ndarray, Box(-1, 1, (2,))]
    choice: Annotated[int, Discrete(4, start=1)]
    letters: Annotated[str, Text(3, charset="ab")]
    half: Annotated[float, Box(0, 0.5, (), np.float32)]

    def __eq__(self, other):
        mine = {name: one for name, one in vars(self).items() if name != "array"}
        return mine == {name: one for name, one in vars(other).items() if name != "array"} and np.array_equal(
            self.array, other.array
        )


@dataclass(frozen=True, slots=True)
class Frozen:
    place: Place = Place(1.0)
    when: dt.date = dt.date(2030, 1, 2)
    tags: tuple[str, ...] = ("a",)
    blob: bytes = b"\0\1"


class Form(msgspec.Struct, kw_only=True):
    title: str
    card: Card = Card(Suit.SPADES)
    options: dict[str, list[int]] = msgspec.field(default_factory=dict)
    level: Annotated[int, msgspec.Meta(ge=0, le=9)] = 4


class Theirs(BaseModel):
    """As OpenEnv's own: with metadata, an alias and a reward of many types."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    metadata: dict[str, Any] = Field(default_factory=dict)
    done: bool = Field(default=False)
    reward: bool | int | float | None = Field(default=None)
    renamed: int = Field(1, alias="otherName", ge=0)
    letter: Letter | None = None


@dataclass
class Sloppy:
    """Defaults that are not what the annotations say."""

    count: int = None
    names: list[str] = ()
    suit: Suit = "♥"
    short: Annotated[str, msgspec.Meta(min_length=3)] = ""


@dataclass
class Stamped:
    """A default that is another each time."""

    token: UUID = field(default_factory=lambda: UUID(bytes=np.random.default_rng().bytes(16)))
    text: str = ""


STRANGERS = [Everything, Frozen, Form, Theirs, Place, Card, Letter, Stamped]
