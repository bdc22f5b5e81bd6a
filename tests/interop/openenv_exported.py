"""Run by an interpreter that has openenv, with our packages behind its own: environments of ours at its server."""

import json
import socket
import sys
import threading
from dataclasses import dataclass, field
from enum import Enum

sys.path += sys.argv[1:]

import numpy as np
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.generic_client import GenericEnvClient

from ludus.core import Env, Step
from ludus.interop.openenv import from_openenv, to_openenv
from ludus.server import serve
from ludus.server.served_env import ServedEnv
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Record, Tuple


class Suit(Enum):
    HEARTS = "hearts"
    SPADES = "spades"


@dataclass
class Card:
    suit: Suit = Suit.HEARTS
    rank: int = 1


@dataclass
class Play:
    card: Card
    note: str | None = None
    open: bool | None = None
    more: list[Card] = field(default_factory=list)


@dataclass
class Table:
    hand: list[Card]
    top: Card | None = None
    scores: dict[str, float] = field(default_factory=dict)
    pair: tuple[int, str] = (0, "")


class Cards(Env):
    """Records in records, and an outcome."""

    action_space, observation_space = Record(Play), Record(Table)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn = 0
        return Table([Card(rank=int(self.np_random.integers(9)))]), {"options": options}

    def step(self, action):
        self.turn += 1
        info = {"turn": self.turn, "open": action.open} | ({"outcome": "success"} if self.turn == 3 else {})
        top = action.card if action.note else None
        seen = Table([action.card, *action.more], top, {"a": 1.5 * self.turn}, (self.turn, action.note or ""))
        return Step(seen, float(self.turn), self.turn == 3, False, info)


class Slope(Env):
    """Arrays, in the info too; ends by truncation."""

    action_space, observation_space = Box(-1, 1, (2,), np.float32), Box(-np.inf, np.inf, (2, 2), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.random((2, 2)), {}

    def step(self, action):
        return Step(np.full((2, 2), float(action.sum())), -0.5, False, bool(action[0] > 0.9), {"row": np.arange(3)})


class Choice(Env):
    action_space, observation_space = Discrete(3, start=1), Discrete(5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.int64(0), {}

    def step(self, action):
        return Step(np.int64(action), 1.0, bool(action == 3), False, {})


@dataclass
class Say:
    text: str
    metadata: dict[str, int] = field(default_factory=dict)


class Meter(Env):
    """Its fields have names that OpenEnv's observations have for themselves."""

    action_space = Record(Say)
    observation_space = Dict({"reward": Discrete(9), "done": MultiDiscrete([2, 3]), "b": Tuple((MultiBinary(2),))})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._seen(0), {"begun": True}

    def step(self, action):
        return Step(self._seen(action.metadata.get("k", 1)), 2.0, False, False, {"text": action.text})

    def _seen(self, number):
        return {"reward": np.int64(number), "done": np.array([1, 2]), "b": (np.array([0, 1], np.int8),)}


CASES = [
    (
        Cards,
        [
            {"card": {"suit": "spades", "rank": 4}, "note": "hi"},
            {"card": {}, "open": True, "more": [{"rank": 2}]},
            {"card": {"suit": "hearts"}},
        ],
    ),
    (Slope, [{"action": [0.5, 0.25]}, {"action": [0.95, 0]}]),
    (Choice, [{"action": 1}, {"action": 2}, {"action": 3}]),
    (Meter, [{"text": "a", "metadata": {"k": 3}}, {"text": "b"}]),
]


def stock(kind):
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_fastapi_app(kind, kind.Action, kind.Observation, max_concurrent_envs=4)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def played(url, actions):
    """The history by OpenEnv's client; what our server tells beside an observation, its own tells inside, too."""
    with GenericEnvClient(base_url=url).sync() as client:
        found = [client.reset(seed=1), *(client.step(one) for one in actions)]
        count = client.state()["step_count"]
    return [[_bare(one.observation), one.reward, one.done, one.metadata] for one in found], count


def _bare(observation):
    return {name: value for name, value in observation.items() if name != "metadata"}


def direct(env, actions):
    plain = [one["action"] if one.keys() == {"action"} else one for one in actions]
    first, info = env.reset(seed=1)
    steps = [env.step(env.action_space.decode(one)) for one in plain]
    form = env.observation_space.encode
    told = [[form(s.observation, binary=False), s.reward, s.terminated, s.truncated, repr(s.info)] for s in steps]
    return [form(first, binary=False), repr(info), *told]


def main():
    told = {}
    for kind, actions in CASES:
        theirs = played(stock(to_openenv(kind)), actions)
        with serve(ServedEnv(kind, kind.__name__), port=0, block=False) as server:
            ours = played(server.url, actions)
        again = direct(from_openenv(to_openenv(kind())), actions)
        told[kind.__name__] = {"stock": theirs, "ours": ours, "direct": direct(kind(), actions), "again": again}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
