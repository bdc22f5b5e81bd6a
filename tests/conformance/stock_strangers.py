"""The sea of `strangers.PydanticSea` as somebody writes it for OpenEnv: run by the interpreter that has it.

`python stock_strangers.py` prints its port. The rules and their draws are the same, so histories can be compared.
"""

import socket
from datetime import date, timedelta
from enum import Enum
from random import Random
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, Field


class Wind(Enum):
    CALM = "calm"
    STORM = "storm"


class Mark(BaseModel):
    x: int = Field(ge=-1000, le=1000)
    y: int = Field(default=0, ge=-1000, le=1000)


class Wish(Action):
    speed: int = Field(ge=0, le=9)
    wind: Wind = Wind.CALM
    note: str | None = None
    buoy: Mark = Field(default_factory=lambda: Mark(x=1, y=2))
    route: list[Mark] = Field(default_factory=list)
    tag: int | str = 0


class View(Observation):
    day: date
    wind: Wind
    depths: list[float]
    buoys: list[Mark]
    tag: int | str
    note: str | None = None
    seal: bytes = b""


class Log(State):
    miles: int = 0
    harbours: list[str] = Field(default_factory=list)


class Sea(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state, self._dice, self._plot, self._age = Log(), Random(0), "", 0

    def reset(self, seed=None, episode_id=None, plot="", miles=0, **kwargs: Any):
        if seed is not None:
            self._dice = Random(seed)
        self._plot, self._age = plot, 0
        self._dice.randrange(1000)
        self._state = Log(episode_id=episode_id or "an episode", step_count=0, miles=miles)
        seen = self._seen(0, None, None, False)
        self._dice.random()
        return seen

    def step(self, action, timeout_s=None, **kwargs: Any):
        if self._plot == "raise":
            raise RuntimeError("the bridge is out at mile 7")
        self._age += 1
        self._state.step_count += 1
        self._state.miles += action.speed
        self._state.harbours.append("abcdefghijklmnopqrstuvwxyz"[self._dice.randrange(26)])
        ends = self._dice.random() < 0.12 or self._plot == "end"
        cut = not ends and (self._age >= 7 or self._plot == "cut")
        reward = self._dice.random() * 3 - 1 + action.speed / 8
        self._dice.random()
        reward += len(action.note or "") + len(str(action.tag)) + (action.wind is Wind.STORM)
        seen = self._seen(action.speed, action, reward, ends or cut)
        if ends:
            seen.metadata["outcome"] = "success" if self._state.miles > 30 else "failure"
        return seen

    def _seen(self, speed, heard, reward, done):
        drawn = self._dice.randrange(100)
        seen = View(
            day=date(2024, 2, 28) + timedelta(days=drawn),
            wind=Wind.STORM if drawn % 2 else Wind.CALM,
            depths=[self._dice.random() for _ in range(drawn % 3)],
            buoys=[Mark(x=drawn, y=speed)] + ([] if heard is None else [heard.buoy, *heard.route]),
            tag=drawn if drawn % 2 else f"t{drawn}",
            note=None if heard is None else heard.note,
            seal=bytes([drawn, 0, 127]),
            reward=reward,
            done=done,
        )
        return seen if self._plot != "lie" else seen.model_copy(update={"depths": "unknown"})

    @property
    def state(self):
        return self._state


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_fastapi_app(Sea, Wish, View, max_concurrent_envs=64)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    print(listener.getsockname()[1], flush=True)
    server.run([listener])
