"""Pydantic models of OpenEnv's environments: values are what its own server would give and take."""

import asyncio
import json
import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from math import inf, isnan, nan
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from uuid import UUID

import httpx
import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator

import ludus
from ludus.errors import InvalidAction
from ludus.interop.openenv import from_openenv
from ludus.server import serve
from ludus.server.config import ServerConfig
from ludus.server.served_env import ServedEnv
from ludus.spaces import Record
from ludus.spaces.json import Json

STRICT = ConfigDict(extra="forbid", validate_assignment=True, arbitrary_types_allowed=True)


class Action(BaseModel):
    """As OpenEnv has it."""

    model_config = STRICT
    metadata: dict[str, Any] = Field(default_factory=dict)


class Observation(BaseModel):
    """As OpenEnv has it."""

    model_config = STRICT
    done: bool = False
    reward: bool | int | float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class Colour(str, Enum):  # noqa: UP042  (as most authors write it)
    RED = "red"
    BLUE = "blue"


class Rank(IntEnum):
    LOW = 1
    HIGH = 9


class Point(BaseModel):
    x: int = 0
    y: int = 0


class Circle(BaseModel):
    kind: Literal["circle"] = "circle"
    centre: Point = Field(default_factory=Point)
    radius: float = Field(gt=0, le=100)


class Square(BaseModel):
    kind: Literal["square"] = "square"
    side: float = 1.0


Shape = Annotated[Circle | Square, Field(discriminator="kind")]


class Draw(Action):
    shape: Shape
    colour: Colour = Colour.RED
    rank: Rank = Rank.LOW
    mode: Literal["fill", "line"] = "fill"
    where: Point | None = None
    path: list[Point] = Field(default_factory=list, max_length=5)
    value: int | str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=dict)
    when: datetime = datetime(2024, 1, 1, tzinfo=UTC)
    span: timedelta = timedelta(seconds=5)
    amount: Decimal = Decimal("1.50")
    ident: UUID = UUID(int=0)
    pair: tuple[int, str] = (1, "a")
    times: int = Field(default=1, ge=1, le=10, alias="timesAlias")
    name: str = Field(default="n", max_length=20, pattern="^[a-z]+$")
    size: int = 1

    @field_validator("size", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return {"small": 1, "large": 3}.get(value, value)


class Seen(Observation):
    shapes: list[Shape] = Field(default_factory=list)
    last: dict[str, Any] = Field(default_factory=dict)
    when: datetime = datetime(2024, 1, 1, tzinfo=UTC)
    span: timedelta = timedelta(seconds=1)
    amount: Decimal = Decimal("0.0")
    anything: Any = None
    colour: Colour = Colour.RED
    pair: tuple[int, str] = (0, "")


class State(BaseModel):
    episode_id: str | None = None
    step_count: int = 0
    drawn: list[Point] = Field(default_factory=list)


class Easel:
    """Tells what it was told."""

    def __init__(self):
        self.state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.state = State(episode_id=episode_id or "one")
        return Seen(last={"seed": seed})

    def step(self, action: Draw) -> Seen:
        self.state.step_count += 1
        self.state.drawn.append(action.where or Point())
        told = action.model_dump(mode="json", exclude={"metadata"})
        same = {name: getattr(action, name) for name in ("when", "span", "amount", "colour", "pair")}
        return Seen(**same, shapes=[action.shape], last=told, anything=[1, None], reward=action.size)

    def list_splits(self) -> list[str]:
        return ["train"]


class AsyncEasel(Easel):
    async def step_async(self, action: Draw) -> Seen:
        await asyncio.sleep(0)
        return self.step(action)


ACTIONS = [
    {"shape": {"kind": "square"}},
    {
        "shape": {"kind": "circle", "radius": 2.5, "centre": {"x": 1}},
        "colour": "blue",
        "rank": 9,
        "mode": "line",
        "where": {"x": 3, "y": 4},
        "path": [{"x": 1, "y": 2}, {"x": 3}],
        "value": "s",
        "extra": {"a": [1, {"b": None}]},
        "weights": {"w": 1.5},
        "when": "2025-02-03T04:05:06Z",
        "span": "PT10S",
        "amount": "2.25",
        "ident": "12345678-1234-5678-1234-567812345678",
        "pair": [7, "z"],
    },
    {"shape": {"kind": "circle", "radius": 1}, "value": 5, "timesAlias": 4},
    {"shape": {"kind": "square", "side": "2.5"}, "size": "large", "rank": 9.0, "where": {"x": "7", "more": 1}},
]
REFUSED = [
    ({"shape": {"kind": "circle", "radius": -1}}, "greater than 0"),
    ({"shape": {"kind": "triangle"}}, "triangle"),
    ({"shape": {"kind": "square"}, "timesAlias": 99}, "less than or equal to 10"),
    ({"shape": {"kind": "square"}, "name": "ABC"}, "pattern"),
    ({"shape": {"kind": "square"}, "unknown": 1}, "unknown"),
    ({}, "shape"),
]


def stock(actions):
    """What OpenEnv's own server answers: the model reads, the model writes."""
    env = Easel()
    env.reset()
    for action in actions:
        seen = env.step(Draw.model_validate(action)).model_dump(mode="json")
        yield {name: one for name, one in seen.items() if name not in ("reward", "done")}, seen["reward"]


@pytest.mark.parametrize("kind", [Easel, AsyncEasel])
def test_values_travel_as_the_models_themselves_read_and_write_them(kind):
    target = ServedEnv(lambda: from_openenv(kind), "Easel")
    with serve(target, port=0, block=False) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        began = http.post("/reset", json={"seed": 3}).json()["observation"]
        assert began == Seen(last={"seed": 3}).model_dump(mode="json", exclude={"done", "reward"})
        for action, expected in zip(ACTIONS, stock(ACTIONS), strict=True):
            told = http.post("/step", json={"action": action}).json()
            assert (told["observation"], told["reward"]) == expected
        for action, word in REFUSED:
            refused = http.post("/step", json={"action": action})
            assert (refused.status_code, word in refused.text) == (422, True), refused.text
        assert http.get("/state").json()["step_count"] == len(ACTIONS)
        assert http.get("/state").json()["drawn"][1] == {"x": 3, "y": 4}
        with ludus.connect(server.url) as env:
            env.reset()
            step = env.step({"shape": Square(side=2.0), "when": datetime(2030, 1, 1, tzinfo=UTC)})
            assert (step.observation.when.year, step.observation.shapes[0].side) == (2030, 2.0)


def test_in_isolation_the_authors_model_reads_as_well():
    isolated = ServerConfig(isolation="process")
    with (
        serve(f"{__name__}:easel", port=0, block=False, config=isolated) as server,
        httpx.Client(base_url=server.url, timeout=60) as http,
    ):
        http.post("/reset")
        told = http.post("/step", json={"action": ACTIONS[3]}).json()
        assert (told["observation"], told["reward"]) == list(stock(ACTIONS))[3]
        refused = http.post("/step", json={"action": REFUSED[0][0]})
        assert (refused.status_code, REFUSED[0][1] in refused.text) == (422, True), refused.text
        [name] = http.get("/list_environments").json()
        assert http.get(f"/{name}/splits").json() == [{"name": "train", "type": "train"}]
        assert http.post(f"/{name}/num_tasks", json={"split": "train"}).status_code == 501


def easel():
    """What a server makes in another process."""
    return from_openenv(Easel)


def test_a_pattern_is_the_models_own_to_check():
    env = from_openenv(Easel)
    assert isinstance(env.action_space, Record)
    env.reset()
    with pytest.raises(InvalidAction, match="pattern"):
        env.step({"shape": Square(), "name": "ABC"})


def test_nothing_is_written_as_nothing_where_anything_may_stand():
    first, _ = from_openenv(Easel).reset()
    assert first.anything is None


class Wide(Observation):
    model_config = ConfigDict(extra="allow")
    n: int = 0


class Computing(Observation):
    n: int = 1

    @computed_field
    @property
    def twice(self) -> int:
        return 2 * self.n


class Bytes(Observation):
    data: bytes = b"hello"


class Placed(Observation):
    path: PurePosixPath = PurePosixPath("/a")


class More(Seen):
    score: int = 3


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (Wide(n=1, more="m"), {"n": 1, "more": "m"}),
        (Computing(n=2), {"n": 2, "twice": 4}),
        (Bytes(), {"data": "hello"}),
        (Placed(), {"path": "/a"}),
    ],
)
def test_models_that_say_more_than_their_fields_lose_nothing(observation, expected):
    kind = type(observation)

    class Author(Easel):
        def reset(self) -> kind:
            return observation

        def step(self, action: Draw) -> kind:
            return observation

    env = from_openenv(Author)
    assert env.observation_space == Json("object")
    assert expected.items() <= env.reset()[0].items()


def test_fields_that_nobody_announced_are_given_as_openenvs_server_gives_them_and_told_in_the_info():
    class Author(Easel):
        def step(self, action: Draw) -> Seen:
            return More()

    with serve(ServedEnv(lambda: from_openenv(Author), "Author"), port=0, block=False) as server:
        with httpx.Client(base_url=server.url, timeout=60) as http:
            http.post("/reset", json={})
            told = http.post("/step", json={"action": ACTIONS[0]}).json()
        expected = More().model_dump(mode="json", exclude={"done", "reward"})
        assert (told["observation"], told["info"]) == (expected, {})
        with ludus.connect(server.url) as env:
            assert "unannounced" not in env.reset()[1]
            step = env.step(ACTIONS[0])
    assert (step.info["unannounced"], step.observation.colour) == ({"score": expected["score"]}, More().colour)


class Measure(BaseModel):
    at: float = 0.0


class Measured(Observation):
    level: float = 0.0
    perhaps: float | None = None
    row: list[float] = Field(default_factory=list)
    named: dict[str, float] = Field(default_factory=dict)
    inside: Measure = Field(default_factory=Measure)
    share: float = Field(0.5, ge=0, le=1)


class Gauge(Easel):
    """Its instruments fail at every step."""

    def reset(self) -> Measured:
        return Measured(level=nan, row=[1.0, inf])

    def step(self, action: Action) -> Measured:
        seen = Measured(level=-inf, perhaps=nan, row=[nan, 2.0], named={"a": nan}, inside=Measure(at=nan), reward=1.0)
        return seen.model_copy(update=action.metadata)


def gauge():
    """What a server makes in another process."""
    return from_openenv(Gauge)


@pytest.mark.parametrize("isolation", [None, "process"])
def test_numbers_that_json_lacks_are_null_for_openenvs_clients_and_themselves_on_our_wire(isolation):
    target = f"{__name__}:gauge" if isolation else ServedEnv(gauge, "Gauge")
    with serve(target, port=0, block=False, config=ServerConfig(isolation=isolation)) as server:
        with httpx.Client(base_url=server.url, timeout=60) as http:
            for path, seen in (("/reset", Gauge().reset()), ("/step", Gauge().step(Action()))):
                told = http.post(path, json={"action": {}} if path == "/step" else {})
                expected = json.loads(seen.model_dump_json(exclude={"done", "reward"}))
                assert (told.status_code, told.json().get("observation")) == (200, expected), told.text
        with ludus.connect(server.url) as env:
            assert isnan(env.reset()[0].level)
            seen = env.step({}).observation
            assert (seen.level, isnan(seen.perhaps), isnan(seen.inside.at), seen.row[1]) == (-inf, True, True, 2.0)


def test_a_number_with_bounds_is_none_that_json_lacks():
    env = from_openenv(Gauge)
    env.reset()
    assert env.observation_space.contains(env.step({}).observation)
    assert not env.observation_space.contains(env.step({"metadata": {"share": nan}}).observation)
    again = pickle.loads(pickle.dumps(env.observation_space))
    assert (again, again.contains(Measured(level=nan))) == (env.observation_space, True)
    assert not Record(Measured).contains(Measured(level=nan))
