"""A stock server of OpenEnv, run by the interpreter that has it: `stock_server.py PLACES [priced]`; prints its port."""

import socket
import sys
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field, computed_field, field_serializer


class GuessAction(Action):
    number: int = Field(ge=0, le=100)
    note: str = ""


class GuessObservation(Observation):
    hint: str = "guess"
    tries: int = 0
    odds: list[float] = []
    best: float = 0.0


class Praise(GuessObservation):
    praise: str = "well"

    @computed_field
    @property
    def shout(self) -> str:
        return self.praise.upper()


class Priced(GuessObservation):
    """Not what its schema says."""

    cost: int = 3
    owners: list[str] = None
    more: int = 2**80
    hidden: int = Field(exclude=True)

    @field_serializer("cost")
    def _written(self, cost):
        return f"{cost} EUR"


class Guess(Environment):
    """A number to guess; seeded."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state, self._number = State(), 0

    def reset(self, seed=None, episode_id=None, offset=0, **kwargs: Any):
        self._state = State(episode_id=episode_id or "an episode", step_count=0)
        self._number = (0 if seed is None else seed) % 101 + offset
        return GuessObservation(reward=None, metadata={"begun": True})

    def step(self, action, timeout_s=None, **kwargs: Any):
        self._state.step_count += 1
        if action.note == "raise":
            raise RuntimeError("a bad guess")
        if action.note == "nan":
            return GuessObservation(odds=[0.5, float("nan")], best=float("nan"))
        if action.note == "praise":
            return Praise(praise=f"try {self._state.step_count}")
        if action.note == "long":
            return GuessObservation(hint="x" * 200_000, odds=[0.5] * 100_800)
        difference = action.number - self._number
        hint = "right" if difference == 0 else "less" if difference > 0 else "more"
        reward = None if action.note == "silent" else float(-abs(difference))
        return GuessObservation(hint=hint, tries=self._state.step_count, reward=reward, done=difference == 0)

    @property
    def state(self):
        return self._state


class Shop(Guess):
    """The same with prices."""

    def reset(self, *args, **kwargs):
        super().reset(*args, **kwargs)
        return Priced(hidden=1)

    def step(self, action, **kwargs):
        seen = super().step(action, **kwargs)
        return Priced(hint=seen.hint, tries=seen.tries, reward=seen.reward, done=seen.done, hidden=2)


def app():
    env, model = (Shop, Priced) if sys.argv[2:] else (Guess, GuessObservation)
    return create_fastapi_app(env, GuessAction, model, max_concurrent_envs=int(sys.argv[1]))


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app(), log_level="error"))
    print(listener.getsockname()[1], flush=True)
    server.run([listener])
