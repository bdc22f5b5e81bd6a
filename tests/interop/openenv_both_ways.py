"""Run by an interpreter that has openenv, with our packages behind its own: one history in four places, as JSON."""

import asyncio
import json
import socket
import sys
import threading
from dataclasses import dataclass

sys.path += sys.argv[1:]

import fastmcp
import httpx
import numpy as np
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.types import Action, Observation, State
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

from ludus.core import Env, Step
from ludus.interop.openenv import from_openenv, to_openenv
from ludus.rendering import to_png
from ludus.server import serve
from ludus.server.served_env import ServedEnv
from ludus.spaces import Discrete, Record


class Bid(Action):
    amount: int
    note: int | str | None = None


class Sale(Observation):
    price: float = 0.0
    log: list[dict[str, object]] = []


class Market(Environment[Bid, Sale, State]):
    """A sale; seeded."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state, self._price = State(), 0

    def reset(self, seed=None, episode_id=None, floor=1, **kwargs) -> Sale:
        self._state = State(episode_id=episode_id or "one", step_count=0)
        self._price = (seed or 0) % 7 + floor
        return Sale(price=self._price, reward=None, metadata={"floor": floor})

    def step(self, action: Bid, timeout_s=None, **kwargs) -> Sale:
        self._state.step_count += 1
        reward = None if action.note is None else float(action.amount - self._price)
        return Sale(price=self._price, log=[{"note": action.note}], reward=reward, done=action.amount > 9)

    @property
    def state(self) -> State:
        return self._state


class AsyncMarket(Market):
    async def reset_async(self, seed=None, episode_id=None, floor=1, **kwargs):
        await asyncio.sleep(0)
        return self.reset(seed, episode_id, floor)

    async def step_async(self, action, timeout_s=None, **kwargs):
        await asyncio.sleep(0)
        return self.step(action)


class Shop(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        server = fastmcp.FastMCP("shop")

        @server.tool()
        def buy(item: str, count: int = 1) -> dict:
            """Buy something."""
            if item == "nothing":
                raise ValueError("nothing is not sold")
            return {"item": item, "count": count}

        @server.resource("shop://prices", description="What things cost")
        def prices() -> str:
            return "tea 3"

        @server.prompt()
        def haggle(item: str) -> str:
            """Ask for less."""
            return f"What is {item} to you?"

        super().__init__(server)
        self._state = State()

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._state = State(episode_id=episode_id or "one", step_count=0)
        return Observation(done=False, reward=0.0, metadata={"open": True})

    def _step_impl(self, action, timeout_s=None, **kwargs):
        return Observation(done=False, reward=0.0, metadata={"error": "no such action"})

    def step(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        return super().step(action, timeout_s, **kwargs)

    async def step_async(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        return await super().step_async(action, timeout_s, **kwargs)

    @property
    def state(self):
        return self._state


@dataclass
class Picture:
    screenshot: bytes | None = None


class Camera(Env):
    """Of ours; sees one pixel."""

    metadata = {"openenv_pictures": ["screenshot"]}
    action_space, observation_space = Discrete(2), Record(Picture)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return Picture(to_png(np.array([[[1, 2, 3]]], np.uint8))), {}

    def step(self, action):
        return Step(self.reset()[0], 0.0, False, False, {})


def stock(app):
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def played(url, actions, **options):
    with GenericEnvClient(base_url=url).sync() as client:
        found = [client.reset(**options), *(client.step(one) for one in actions)]
        return [[one.observation, one.reward, one.done] for one in found], client.state()


def back(kind):
    """A class of OpenEnv's as ours, and that as one of OpenEnv's: the address of its own server."""
    made = to_openenv(from_openenv(kind))
    made.close()
    app = create_fastapi_app(
        lambda: to_openenv(from_openenv(kind)), made.Action, made.Observation, max_concurrent_envs=4
    )
    return stock(app)


BIDS = [{"amount": 3, "note": "s"}, {"amount": "4", "note": 5}, {"amount": 2}, {"amount": 10, "note": ""}]
CALLS = [
    {"type": "call_tool", "tool_name": "buy", "arguments": {"item": "tea"}},
    {"type": "call_tool", "tool_name": "buy", "arguments": {"item": "nothing"}},
]


def main():
    told = {}
    for kind, models, actions in ((Market, (Bid, Sale), BIDS), (AsyncMarket, (Bid, Sale), BIDS)):
        theirs = played(stock(create_fastapi_app(kind, *models, max_concurrent_envs=4)), actions, seed=5, floor=2)
        with serve(ServedEnv(lambda kind=kind: from_openenv(kind), kind.__name__), port=0, block=False) as server:
            ours = played(server.url, actions, seed=5, floor=2)
        told[kind.__name__] = [theirs, ours]
        told[f"{kind.__name__} back"] = [theirs, played(back(kind), actions, seed=5, floor=2)]
    with serve(ServedEnv(lambda: from_openenv(Shop), "shop"), port=0, block=False) as server:
        ours = played(server.url, CALLS)
        tools = httpx.post(f"{server.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()
    theirs = played(stock(create_fastapi_app(Shop, Action, Observation, max_concurrent_envs=4)), CALLS)
    told["Shop"] = [_seen(theirs), _seen(ours)]
    shop = back(Shop)
    told["Shop back"] = [_seen(theirs), _seen(played(shop, CALLS))]
    with MCPToolClient(base_url=shop).sync() as client:
        told["tools back"] = [[one.name for one in client.list_tools()], client.call_tool("buy", item="tea")]
        try:
            client.call_tool("buy", item="nothing")
        except RuntimeError as error:
            told["tools back"].append("nothing is not sold" in str(error))
    told["tools"] = [one["name"] for one in tools["result"]["tools"]]
    told["material"] = material()
    cart = to_openenv("CartPole-v1")
    pushes = [{"action": 1}, {"action": 0}, {"action": 1}]
    theirs = played(
        stock(create_fastapi_app(cart, cart.Action, cart.Observation, max_concurrent_envs=4)), pushes, seed=3
    )
    with serve("CartPole-v1", port=0, block=False) as server:
        ours = played(server.url, pushes, seed=3)
    told["CartPole"] = [_values(theirs), _values(ours)]
    camera = to_openenv(Camera())
    with from_openenv(cart) as there_and_back:
        told["CartPole again"] = [there_and_back.reset(seed=3)[0].tolist(), told["CartPole"][0][0][0]]
    told["Camera"] = [
        [[[[1, 2, 3]]], [[[1, 2, 3]]]],
        [camera.reset().screenshot, camera.step({"action": 0}).screenshot],
    ]
    print(json.dumps(told))


def material():
    with from_openenv(Shop) as shop:
        listed, prompts = shop.list_resources(), shop.list_prompts()
        [message] = shop.get_prompt("haggle", {"item": "tea"})
        return [
            [(one["uri"], one["description"]) for one in listed],
            shop.read_resource("shop://prices"),
            [(one["name"], one["arguments"]) for one in prompts],
            [message["role"], message["content"]["text"]],
        ]


def _seen(history):
    """Calls by what they gave; how a server words an error is its own affair."""
    return [_called(*one) if "tool_name" in one[0] else one for one in history[0]], history[1]["step_count"]


def _called(seen, reward, done):
    result, error = seen.get("result") or {}, seen.get("error") or {}
    return [seen["tool_name"], result.get("data"), error.get("error_type"), reward, done]


def _values(history):
    return [[one[0]["value"], one[1], one[2]] for one in history[0]]


if __name__ == "__main__":
    main()
