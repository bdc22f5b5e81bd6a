"""Large and small observations of OpenEnv's, its server and its clients: run by the interpreter that has OpenEnv.

python their_values.py serve            prints its port
python their_values.py generic URL      its client of plain dictionaries, told `CASE STEPS` on standard input
python their_values.py typed URL        its client of Pydantic models, likewise; seconds of the processor come back
"""

import asyncio
import json
import socket
import sys
import time
from typing import Any

import uvicorn
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from openenv.core.generic_client import GenericEnvClient
from pydantic import BaseModel, Field, computed_field

RECORDS, NUMBERS, CHARACTERS = 3000, 100_800, 1_000_000
WIDTH, HEIGHT = 500, 320


class Ask(Action):
    """Which observation to give."""

    case: str


class Item(BaseModel):
    """One of many."""

    name: str
    x: float
    y: int
    tags: list[str]
    ok: bool


class Seen(Observation):
    """Something of every kind."""

    items: list[Item] = Field(default_factory=list)
    facts: dict[str, Any] = Field(default_factory=dict)
    numbers: list[int] = Field(default_factory=list)
    floats: list[float] = Field(default_factory=list)
    text: str = ""
    screen: list[list[list[int]]] | None = None


class SeenMore(Seen):
    """With what no schema announces."""

    note: str = ""

    @computed_field
    @property
    def length(self) -> int:
        """Of the note."""
        return len(self.note)


def seen(case: str) -> Seen:
    """The observation of a case."""
    rows = [{"name": f"row {n}", "x": n / 7, "y": n, "tags": ["a", "b"], "ok": True} for n in range(RECORDS)]
    match case:
        case "records":
            return Seen(items=[Item(**row) for row in rows])
        case "open":
            return Seen(facts={"rows": rows, "more": {"deep": {"deeper": list(range(100))}}})
        case "numbers":
            return Seen(numbers=[n % 256 for n in range(NUMBERS)])
        case "nan":
            return Seen(floats=[0.5, float("nan")] * 5000)
        case "picture":
            return Seen(screen=[[[n % 256, n // 2, 255] for n in range(WIDTH)]] * HEIGHT)
        case "unannounced":
            return SeenMore(note="word " * 20, numbers=[*range(100)])
        case "text":
            return Seen(text="word " * (CHARACTERS // 5))
        case "lines":
            return Seen(text='a line, "quoted"\n' * (CHARACTERS // 17))
        case "words":
            return Seen(text="žluťoučký " * (CHARACTERS // 10))
        case _:
            return Seen()


NAMES = ("small", "records", "open", "numbers", "nan", "text", "lines", "words", "picture", "unannounced")
CASES = {case: seen(case) for case in NAMES}


class Values(Environment[Ask, Seen, State]):
    """Gives what it is asked for."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Seen:
        """Nothing yet."""
        return CASES["small"]

    def step(self, action: Ask, timeout_s: float | None = None, **kwargs: Any) -> Seen:
        """What the action names."""
        return CASES[action.case]

    @property
    def state(self) -> State:
        """The episode's."""
        return State(episode_id="one", step_count=0)


class TypedClient(EnvClient[Ask, Seen, State]):
    """Makes models of what comes, as the template of `openenv init` does."""

    def _step_payload(self, action: Ask) -> dict[str, Any]:
        return {"case": action.case}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        known = {name: one for name, one in payload["observation"].items() if name in Seen.model_fields}
        found = {**known, "reward": payload.get("reward"), "done": payload.get("done", False)}
        if found.get("floats"):  # null is NaN, which the client has to know
            found["floats"] = [float("nan") if one is None else one for one in found["floats"]]
        return StepResult(observation=Seen(**found), reward=found["reward"], done=found["done"])

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


async def play(client: Any, action: Any) -> None:
    """Do the steps that are asked for, until there is no more."""
    await client.connect()
    await client.reset()
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):  # pings are answered while others have their turn
        case, count = line.split()
        begin = time.process_time()
        for _ in range(int(count)):
            await client.step(action(case=case))
        print(json.dumps(time.process_time() - begin), flush=True)
    await client.close()


def serve() -> None:
    """At any port."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_fastapi_app(Values, Ask, Seen, max_concurrent_envs=8)
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="error", ws_max_size=2**26, ws_ping_interval=None)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["generic", url]:
            asyncio.run(play(GenericEnvClient(base_url=url), dict))
        case ["typed", url]:
            asyncio.run(play(TypedClient(base_url=url), Ask))
        case other:
            raise SystemExit(f"their_values: expected serve, generic URL or typed URL, got {other}")
