"""The environments of `mine.py` for OpenEnv, as its guide has them written: servers, and typed clients.

From this folder, `uvicorn theirs:count` serves one of them.
"""

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

PIXELS = 210 * 160 * 3
SESSIONS = 256


class Move(Action):
    """How much to add, and what to say of it."""

    amount: int
    note: str


class Seen(Observation):
    """The sum, and what was said last."""

    total: int
    note: str


class Count(Environment[Move, Seen, State]):
    """Adds up what it is given."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Seen:
        """Begin at nothing."""
        self.total = 0
        return Seen(total=0, note="", reward=0.0)

    def step(self, action: Move, timeout_s: float | None = None, **kwargs: Any) -> Seen:
        """Add what is given."""
        self.total = (self.total + action.amount) % 1000
        return Seen(total=self.total, note=action.note, reward=1.0)

    @property
    def state(self) -> State:
        """The episode's."""
        return State(episode_id="one", step_count=self.total)


class Push(Action):
    """One or nothing."""

    action: int


class Screen(Observation):
    """A screen as OpenEnv's Atari environment sends it: a flat list of numbers."""

    screen: list[int]
    screen_shape: list[int]


class Frame(Environment[Push, Screen, State]):
    """Shows the sum of its actions as a screen."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Screen:
        """Begin at nothing."""
        self.total = 0
        return self._screen(0.0)

    def step(self, action: Push, timeout_s: float | None = None, **kwargs: Any) -> Screen:
        """Add what is given."""
        self.total = (self.total + action.action) % 1000
        return self._screen(1.0)

    def _screen(self, reward: float) -> Screen:
        return Screen(screen=[self.total % 256] * PIXELS, screen_shape=[210, 160, 3], reward=reward)

    @property
    def state(self) -> State:
        """The episode's."""
        return State(episode_id="one", step_count=self.total)


class CountClient(EnvClient[Move, Seen, State]):
    """The client of `Count`."""

    def _step_payload(self, action: Move) -> dict[str, Any]:
        return {"amount": action.amount, "note": action.note}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        found, reward, done = payload.get("observation", {}), payload.get("reward"), payload.get("done", False)
        seen = Seen(total=found["total"], note=found["note"], reward=reward, done=done)
        return StepResult(observation=seen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


class FrameClient(EnvClient[Push, Screen, State]):
    """The client of `Frame`."""

    def _step_payload(self, action: Push) -> dict[str, Any]:
        return {"action": action.action}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Screen]:
        found, reward, done = payload.get("observation", {}), payload.get("reward"), payload.get("done", False)
        screen = Screen(screen=found["screen"], screen_shape=found["screen_shape"], reward=reward, done=done)
        return StepResult(observation=screen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


count = create_fastapi_app(Count, Move, Seen, max_concurrent_envs=SESSIONS)
frame = create_fastapi_app(Frame, Push, Screen, max_concurrent_envs=SESSIONS)
