"""Typed models, and spaces that users would write: every law that holds for the built-in cases holds for these."""

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Literal

import msgspec
import numpy as np
from pydantic import BaseModel, Field

from ludus.spaces import ArraySpace, Box, Dict, Discrete, Record, Sequence, Space, Tuple
from tests.spaces.cases import CASES
from tests.spaces.values import space_of


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Corner(Enum):
    """Values that JSON has no exact form for."""

    NEAR = (0, 0)
    FAR = (1, 1)


@dataclass
class Point:
    x: float
    y: float = 0.0


@dataclass
class Move:
    direction: Literal["left", "right", 3, None, True]
    steps: Annotated[int, Discrete(4, start=1)]
    position: Annotated[np.ndarray, Box(-1, 1, (2,))]
    color: Color = Color.RED
    note: str | None = None

    def __eq__(self, other):
        mine, theirs = vars(self) | {"position": 0}, vars(other) | {"position": 0}
        return mine == theirs and np.array_equal(self.position, other.position)


class Order(msgspec.Struct):
    points: list[Point]
    pair: tuple[int, bool]
    flags: tuple[bool, ...]
    scores: dict[str, float]
    choice: int | str | Point
    level: Level = Level.LOW
    corner: Corner = Corner.NEAR
    nothing: None = None
    count: Annotated[int, msgspec.Meta(ge=0, lt=5)] = 0


class Inner(BaseModel):
    value: int = Field(gt=-1, lt=5)


class Query(BaseModel):
    text: str = Field(min_length=1, max_length=20)
    k: int = Field(3, ge=1, le=10)
    temperature: float = Field(0.5, ge=0, lt=2)
    tags: list[str] = Field(default=[], max_length=3)
    inner: Inner | None = None
    limit: int | None = Field(None, ge=0, le=3)
    renamed: int = Field(1, alias="otherName", ge=0)


@dataclass
class Flat:
    """Every field an array, so that it flattens to one."""

    a: Annotated[int, Discrete(3)]
    b: bool
    c: Annotated[np.ndarray, Box(0, 1, (2,), np.float64)] = field(default_factory=lambda: np.zeros(2))

    def __eq__(self, other):
        return (self.a, self.b) == (other.a, other.b) and np.array_equal(self.c, other.c)


class Even(Space[int]):
    """Objects, with an argument: all that a custom space has to say."""

    def __init__(self, top=100, seed=None):
        self.top = top
        super().__init__(seed=seed)

    def sample(self, mask=None, probability=None):
        return 2 * int(self.np_random.integers(self.top // 2))

    def contains(self, x):
        return isinstance(x, int) and not isinstance(x, bool) and 0 <= x < self.top and x % 2 == 0


class Simplex(ArraySpace[np.ndarray]):
    """Arrays, with an argument."""

    def __init__(self, n, seed=None):
        self.n = n
        super().__init__((n,), np.float32, seed)

    def sample(self, mask=None, probability=None):
        return self.np_random.dirichlet(np.ones(self.n)).astype(np.float32)

    def contains(self, x):
        return bool(
            isinstance(x, np.ndarray)
            and (x.shape, x.dtype) == (self.shape, self.dtype)
            and (x >= 0).all()
            and abs(x.sum() - 1) < 1e-4
        )


EXTRAS = {
    "record-dataclass": lambda: Record(Move),
    "record-struct": lambda: Record(Order),
    "record-pydantic": lambda: Record(Query),
    "record-flat": lambda: Record(Flat),
    "custom": lambda: Even(40),
    "custom-array": lambda: Simplex(3),
    "containers": lambda: Dict(
        moves=Tuple((Record(Flat), Even(6))), parts=Sequence(Record(Query)), weights=Sequence(Simplex(2), stack=True)
    ),
    "sequence-stack-custom": lambda: Sequence(Even(8), stack=True),
}
EVERY = [*CASES, *EXTRAS]


def any_space(name, seed=None):
    if name in CASES:
        return space_of(name, seed)
    space = EXTRAS[name]()
    space.seed(seed)
    return space


def any_samples(name, n=5, seed=3):
    space = any_space(name, seed)
    return space, [space.sample() for _ in range(n)]
