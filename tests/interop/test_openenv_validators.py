"""Models of OpenEnv's environments with validators, serializers and excluded fields: as at its own server."""

from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Any

import httpx
import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WrapSerializer,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import to_jsonable_python

import ludus
from ludus.errors import InvalidAction
from ludus.interop.openenv import from_openenv
from ludus.server import serve
from ludus.server.config import ServerConfig
from ludus.spaces import Record

NIGHT = datetime(2024, 1, 1)  # noqa: DTZ001  (as most authors write it)


class Action(BaseModel):
    """As OpenEnv has it."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    metadata: dict[str, Any] = Field(default_factory=dict)


class Observation(BaseModel):
    """As OpenEnv has it."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    done: bool = False
    reward: bool | int | float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def _from_hex(value: Any) -> Any:
    return int(value, 16) if isinstance(value, str) else value


def _inside(value: Any, write: Any) -> dict[str, Any]:
    return {"items": write(value)}


Hex = Annotated[int, BeforeValidator(_from_hex), PlainSerializer(hex, return_type=str)]


class Place(BaseModel):
    x: float = 0.0
    y: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        return dict(zip("xy", value, strict=True)) if isinstance(value, list) else value

    @model_serializer
    def _as_pair(self) -> list[float]:
        return [self.x, self.y]


class Move(Action):
    pace: int = 0
    code: Hex = 0
    place: Place = Place()
    secret: int = Field(default=0, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _old_name(cls, value: Any) -> Any:
        return {("pace" if name == "speed" else name): one for name, one in value.items()}

    @field_validator("pace")
    @classmethod
    def _scaled(cls, value: int) -> int:
        return value * 10

    @model_validator(mode="after")
    def _bounded(self) -> "Move":
        if self.pace > 500:
            raise ValueError("the pace is too much")
        return self


class Moved(Observation):
    pace: int = 0
    code: Hex = 0
    codes: list[Hex] = []
    place: Place = Place()
    items: Annotated[list[int], WrapSerializer(_inside)] = [1]
    hidden: int = Field(default=3, exclude=True)
    guessed: int = 0
    when: datetime = NIGHT
    for_json: int = 1

    @field_serializer("when")
    def _day(self, value: datetime) -> str:
        return value.strftime("%d.%m.%Y")

    @field_serializer("for_json", when_used="json")
    def _text(self, value: int) -> str:
        return f"<{value}>"


class Walk:
    """Tells what its validators made of an action."""

    def __init__(self):
        self.state = None

    def reset(self) -> Moved:
        return Moved()

    def step(self, action: Move) -> Moved:
        seen = {"pace": action.pace, "code": action.code, "place": action.place, "hidden": action.secret}
        return Moved(**seen, codes=[action.code], guessed=action.secret)


class Painted(Observation):
    model_config = ConfigDict(use_enum_values=True, ser_json_timedelta="float")
    colour: Colour = Colour.RED
    span: timedelta = timedelta(seconds=1.5)


class Paint(Action):
    model_config = ConfigDict(use_enum_values=True, str_strip_whitespace=True, frozen=True)
    colour: Colour
    name: str = ""


class Studio(Walk):
    def reset(self) -> Painted:
        return Painted()

    def step(self, action: Paint) -> Painted:
        return Painted(colour=action.colour, metadata={"name": action.name})


MOVES = [
    {"pace": 2},
    {"speed": 2},
    {"speed": 3, "code": "0x10"},
    {"code": 5, "secret": 4},
    {"place": [3, 4]},
    {"pace": "4", "place": {"x": 1}},
]
PAINTS = [{"colour": "blue", "name": " a "}, {"colour": "red"}]


def stock(kind: type, model: Any, actions: list[dict[str, Any]]) -> list[Any]:
    """What OpenEnv's own server answers: the model reads, the model writes, and JSON carries that."""
    env = kind()
    seen = [env.reset(), *(env.step(model.model_validate(one)) for one in actions)]
    return [to_jsonable_python(one.model_dump(exclude={"done", "reward"})) for one in seen]


def walk():
    """What a server makes in another process."""
    return from_openenv(Walk)


def studio():
    """Likewise."""
    return from_openenv(Studio)


@pytest.mark.parametrize(
    ("isolation", "made", "kind", "model", "actions"),
    [
        (None, "walk", Walk, Move, MOVES),
        ("process", "walk", Walk, Move, MOVES),
        (None, "studio", Studio, Paint, PAINTS),
    ],
)
def test_validators_read_once_and_serializers_write_as_at_openenvs_own_server(isolation, made, kind, model, actions):
    config = ServerConfig(isolation=isolation)
    with (
        serve(f"{__name__}:{made}", port=0, block=False, config=config) as server,
        httpx.Client(base_url=server.url, timeout=60) as http,
    ):
        told = [http.post("/reset", json={}), *(http.post("/step", json={"action": one}) for one in actions)]
    assert [one.json().get("observation") for one in told] == stock(kind, model, actions)


def test_what_a_validator_refuses_is_told_and_the_episode_goes_on():
    with pytest.raises(ValidationError, match="too much"):
        Move(pace=51)
    with serve(f"{__name__}:walk", port=0, block=False) as server:
        with httpx.Client(base_url=server.url, timeout=60) as http:
            http.post("/reset", json={})
            refused = http.post("/step", json={"action": {"speed": 51}})
            assert (refused.status_code, "the pace is too much" in refused.text) == (422, True), refused.text
            assert http.post("/step", json={"action": {"speed": 5}}).json()["observation"]["pace"] == 50
        with ludus.connect(server.url) as env:
            env.reset()
            with pytest.raises(InvalidAction, match="the pace is too much"):
                env.step({"pace": 51})
            assert env.step({"pace": 5}).observation["pace"] == 50


def test_actions_that_are_written_in_a_way_of_their_own_still_have_fields_to_choose():
    with from_openenv(Walk) as env:
        assert isinstance(env.action_space, Record)
        assert list(env.action_space.fields) == ["metadata", "pace", "code", "place", "secret"]
        env.reset()
        assert env.step(Move(pace=3)).observation["pace"] == 30
        assert "hidden" not in env.step({"secret": 9}).observation
