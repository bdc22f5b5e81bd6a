"""A stranger's environments, in one module of their own: models, randomness, state and faults, as somebody would write.

Nothing here knows where it will run. One world, in which somebody sails by orders and sees a report, is there in six
kinds: as arrays, typed by a dataclass, by a msgspec Struct and by a Pydantic model, as tools, and as text; and
`Arcade`, for wrappers of screens. What is to go wrong is asked for by `reset(options={"plot": …})`.
"""

import os
import signal
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from random import Random
from typing import Annotated, Any

import msgspec
import numpy as np
from pydantic import BaseModel, Field

from ludus import Env, Step
from ludus.core import Outcome, Private
from ludus.errors import InvalidAction, InvalidArgument, RenderError
from ludus.spaces import Box, Discrete, Record, Text
from ludus.tools import ToolEnv, ToolOutcome, tool

PLOTS = ("", "raise", "refuse", "kill", "end", "cut", "lie")
"""What the next step does: nothing strange, raise, refuse by an error of Ludus, kill its process, end, cut, or lie."""
BEGINNING = date(2024, 2, 28)
LONGEST_EPISODE = 7
FAR = 30
"""Who has come so many miles when the voyage ends has landed."""
SPEEDS = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789"


class BridgeOut(RuntimeError):
    """An exception that nobody else knows."""


@dataclass
class Log:
    """What is shown of the episode; where the treasure is, only to whoever runs it."""

    miles: int = 0
    harbours: list[str] = field(default_factory=list)
    treasure: Annotated[int, Private] = 0


class Sea:
    """The rules: what all kinds share. A mixin for an `Env`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}

    def __init__(self, gravity: float = 9.75, render_mode: str | None = None, looks: bool = True) -> None:
        super().__init__()
        self.gravity, self.render_mode, self.looks = gravity, render_mode, looks
        self.state, self.plot, self.age = Log(), "", 0

    # --- what may be drawn ---

    def draw(self, most: int) -> int:
        return int(self.np_random.integers(most))

    def chance(self) -> float:
        return float(self.np_random.random())

    def seeded(self, seed: int) -> None:
        """A place for generators of one's own."""

    # --- the episode ---

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        unknown = [name for name in options or () if name not in ("plot", "miles")]
        if unknown:
            raise InvalidArgument(f"options: expected plot or miles, got {unknown[0]!r}")
        super().reset(seed=seed)
        if seed is not None:
            self.seeded(seed)
        given = options or {}
        self.plot, self.age = given.get("plot", ""), 0
        self.state = Log(miles=given.get("miles", 0), treasure=self.draw(1000))
        return self.seen(0), {"tide": self.chance(), "harbour": "Genoa"}

    def sail(self, speed: int) -> tuple[float, bool, bool, dict[str, Any]]:
        """One step: reward, flags and info."""
        if self.plot == "raise":
            raise BridgeOut("the bridge is out at mile 7")
        if self.plot == "refuse":
            raise RenderError("chart: expected a known sea, got the end of the world")
        if self.plot == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        self.age += 1
        self.state.miles += speed
        self.state.harbours.append(LETTERS[self.draw(26)])
        ends = self.chance() < 0.12 or self.plot == "end"
        cut = not ends and (self.age >= LONGEST_EPISODE or self.plot == "cut")
        reward = self.chance() * 3 - 1 + speed / 8
        info = {"tide": self.chance(), "depth": np.arange(3, dtype=np.int16) * self.age}
        info["reward_components"] = {"luck": reward - speed / 8, "speed": speed / 8}
        if ends:
            info["outcome"] = "success" if self.state.miles > FAR else Outcome.FAILURE
            info["facts"] = {"landed": self.state.miles > FAR, "harbours": len(self.state.harbours)}
        return reward, ends, cut, info

    def look(self, action: Any) -> None:
        """Look whether an action is one, as a careful author does."""
        if self.looks:
            self.action_space.check(action, "action", InvalidAction)

    def seen(self, speed: int) -> Any:
        """The observation."""
        raise NotImplementedError

    # --- the rest ---

    def render(self) -> Any:
        return np.full((4, 6, 3), (self.state.miles * 7 + self.age) % 251, np.uint8)

    def greet(self, name: str, times: int = 1) -> str:
        """A method, to be called from wherever."""
        return f"{name}, {self.gravity:g}" * times


# --- arrays ---


class ArraySea(Sea, Env):
    """Arrays: a choice out of ten, and three numbers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.observation_space, self.action_space = Box(-100.0, 100.0, (3,), np.float32), Discrete(SPEEDS)

    def seen(self, speed: int) -> Any:
        drawn = [self.chance() * 9, -self.chance() * 9, speed + self.gravity]
        return np.array([1e9, 0, 0] if self.plot == "lie" else drawn, np.float32)

    def step(self, action: Any) -> Step[Any]:
        self.look(action)
        return step(self, int(action))


def step(sea: Any, speed: int) -> Step[Any]:
    reward, ends, cut, info = sea.sail(speed)
    return Step(sea.seen(speed), reward, ends, cut, info)


# --- typed by dataclasses ---


class Wind(Enum):
    """An enum whose values are not its names."""

    CALM = "calm"
    STORM = "storm"


@dataclass
class Buoy:
    """A model inside another."""

    x: Annotated[int, Field(ge=-1000, le=1000)]
    y: Annotated[int, Field(ge=-1000, le=1000)] = 0


@dataclass
class Order:
    """What to do."""

    speed: Annotated[int, Field(ge=0, le=9)]
    wind: Wind = Wind.CALM
    note: str | None = None
    buoy: Buoy = field(default_factory=lambda: Buoy(1, 2))
    route: list[Buoy] = field(default_factory=list)
    tag: int | str = 0


@dataclass
class Report:
    """What is seen."""

    day: date
    wind: Wind
    depths: list[float]
    buoys: list[Buoy]
    tag: int | str
    note: str | None = None
    seal: bytes = b""


class DataclassSea(Sea, Env):
    """Typed by dataclasses."""

    order, report, buoy, wind = Order, Report, Buoy, Wind
    rim = 255

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.observation_space, self.action_space = Record(self.report), Record(self.order)
        self.heard: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.heard = None
        return super().reset(seed=seed, options=options)

    def seen(self, speed: int) -> Any:
        heard, drawn = self.heard, self.draw(100)
        return self.report(
            day="tomorrow" if self.plot == "lie" else BEGINNING + timedelta(days=drawn),
            wind=self.wind.STORM if drawn % 2 else self.wind.CALM,
            depths=[self.chance() for _ in range(drawn % 3)],
            buoys=[self.buoy(x=drawn, y=speed)] + ([] if heard is None else [heard.buoy, *heard.route]),
            tag=drawn if drawn % 2 else f"t{drawn}",
            note=None if heard is None else heard.note,
            seal=bytes([drawn, 0, self.rim]),
        )

    def step(self, action: Any) -> Step[Any]:
        self.look(action)
        self.heard = action
        length = len(action.note or "") + len(str(action.tag)) + (action.wind is self.wind.STORM)
        reward, ends, cut, info = self.sail(action.speed)
        return Step(self.seen(action.speed), reward + length, ends, cut, info)


# --- typed by structs ---


class Point(msgspec.Struct):
    """A model inside another."""

    x: Annotated[int, msgspec.Meta(ge=-1000, le=1000)]
    y: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] = 0


class Command(msgspec.Struct):
    """What to do."""

    speed: Annotated[int, msgspec.Meta(ge=0, le=9)]
    wind: Wind = Wind.CALM
    note: str | None = None
    buoy: Point = msgspec.field(default_factory=lambda: Point(1, 2))
    route: list[Point] = msgspec.field(default_factory=list)
    tag: int | str = 0


class Bulletin(msgspec.Struct, kw_only=True):
    """What is seen."""

    day: date
    wind: Wind
    depths: list[float]
    buoys: list[Point]
    tag: int | str
    note: str | None = None
    seal: bytes = b""


class StructSea(DataclassSea):
    """Typed by msgspec's structs."""

    order, report, buoy = Command, Bulletin, Point


# --- typed by Pydantic's models, with a generator of its own ---


class Mark(BaseModel):
    """A model inside another."""

    x: int = Field(ge=-1000, le=1000)
    y: int = Field(default=0, ge=-1000, le=1000)


class Wish(BaseModel):
    """What to do."""

    speed: int = Field(ge=0, le=9)
    wind: Wind = Wind.CALM
    note: str | None = None
    buoy: Mark = Field(default_factory=lambda: Mark(x=1, y=2))
    route: list[Mark] = Field(default_factory=list)
    tag: int | str = 0


class View(BaseModel):
    """What is seen."""

    day: date
    wind: Wind
    depths: list[float]
    buoys: list[Mark]
    tag: int | str
    note: str | None = None
    seal: bytes = b""

    @classmethod
    def of(cls, **values: Any) -> Any:
        """Unchecked where it is to lie."""
        return cls(**values) if isinstance(values["day"], date) else cls.model_construct(**values)


class PydanticSea(DataclassSea):
    """Typed by Pydantic's models. It draws from Python's own generator, as environments of OpenEnv do."""

    order, buoy = Wish, Mark
    rim = 127  # bytes are text in the JSON of Pydantic
    dice = Random(0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.report: Any = View
        super().__init__(*args, **kwargs)
        self.report = View.of

    def seeded(self, seed: int) -> None:
        self.dice = Random(seed)

    def draw(self, most: int) -> int:
        return self.dice.randrange(most)

    def chance(self) -> float:
        return self.dice.random()


# --- tools ---


class Sighted(msgspec.Struct):
    """What a tool gives back."""

    depths: list[float]
    buoy: Point


class ToolSea(Sea, ToolEnv):
    """The same by calls of tools."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._sailed: Any = None
        return super().reset(seed=seed, options=options)

    def seen(self, speed: int) -> Any:
        return ToolOutcome()

    @tool
    def sail_on(self, speed: Annotated[int, msgspec.Meta(ge=0, le=9)], wind: Wind = Wind.CALM) -> Sighted:
        """Sail for a while.

        Args:
            speed: How fast.
            wind: With which wind.
        """
        self._sailed = self.sail(speed + (wind is Wind.STORM))
        return Sighted([self.chance(), self.chance()], Point(speed, self.draw(50)))

    @tool
    def ask(self, question: str, buoy: Point | None = None) -> str:
        """Ask the mate.

        Args:
            question: What to ask.
            buoy: Of which buoy.
        """
        self._sailed = self.sail(len(question) % SPEEDS)
        if question.endswith("!"):
            raise ValueError("that was no question")
        return f"{question}? {self.draw(100)}" + ("" if buoy is None else f" at {buoy.x},{buoy.y}")

    def step(self, action: Any) -> Step[Any]:
        self._sailed = None
        given = super().step(action)
        if self._sailed is None:
            return given
        reward, ends, cut, info = self._sailed
        return Step(given.observation, reward, ends, cut, info)


# --- text ---


class TextSea(Sea, Env):
    """The same in words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.observation_space = Text(100_000, min_length=0, charset=None)
        self.action_space = Text(20, min_length=1, charset=LETTERS)

    def seen(self, speed: int) -> Any:
        if self.plot == "lie":
            return 7
        drawn = "".join(LETTERS[self.draw(26)] for _ in range(5))
        long = "≈" * 70_000 if self.state.miles >= 5000 else ""
        return f"{drawn} “{speed}” knots\n{long}"

    def step(self, action: Any) -> Step[Any]:
        self.look(action)
        return step(self, len(action) % SPEEDS)


# --- screens ---


class Emulator:
    """What an emulator is asked for."""

    def __init__(self) -> None:
        self.frame, self.left, self.shade = 0, 3, 0

    def lives(self) -> int:
        return self.left

    def screen(self) -> Any:
        half = np.zeros((12, 10), np.uint8)
        half[:, (self.frame % 2) * 5 :][:, :5] = (self.frame * 9 + self.shade) % 256
        return half

    def getScreenGrayscale(self, out: Any) -> None:
        out[...] = self.screen()


class Arcade(Env):
    """A machine that speaks as Atari's emulator does: its observations are its screens, in grey."""

    metadata = {"render_modes": []}
    _frameskip = 1

    def __init__(self) -> None:
        self.observation_space, self.action_space = Box(0, 255, (12, 10), np.uint8), Discrete(3)
        self.ale = Emulator()

    def get_action_meanings(self) -> list[str]:
        return ["NOOP", "LEFT", "RIGHT"]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.ale = Emulator()
        self.ale.shade = int(self.np_random.integers(256))
        return self.ale.screen(), {"lives": self.ale.lives()}

    def step(self, action: Any) -> Step[Any]:
        self.ale.frame += 1
        self.ale.left -= bool(self.np_random.random() < 0.1)
        over = self.ale.left <= 0 or self.ale.frame >= 40
        reward = float(self.np_random.random()) + int(action)
        return Step(self.ale.screen(), reward, bool(over), False, {"lives": self.ale.lives()})
