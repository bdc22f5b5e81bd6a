"""Stock OpenEnv beside us: its server and its client, run by the interpreter that it is installed in.

python openenv_program.py serve PORT            a server of `Count`; `Frame` on the next port
python openenv_program.py measure URL FRAMES    commands on standard input, seconds for each on standard output
"""

import asyncio
import json
import sys
import time

HEIGHT, WIDTH = 210, 160


def applications():
    """Two environments as any OpenEnv author writes them."""
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State

    class CountAction(Action):
        action: int

    class CountObservation(Observation):
        value: int

    class Count(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self):
            super().__init__()
            self.total = 0

        def reset(self, seed=None, episode_id=None, **kwargs):
            self.total = 0
            return CountObservation(value=0, reward=0.0)

        def step(self, action, timeout_s=None, **kwargs):
            self.total = (self.total + action.action) % 1000
            return CountObservation(value=self.total, reward=1.0)

        @property
        def state(self):
            return State(episode_id="one", step_count=self.total)

    class FrameObservation(Observation):
        screen: list[int]
        screen_shape: list[int]

    class Frame(Count):
        """A screen as its Atari environment sends it: a flat list of numbers."""

        def shown(self, reward):
            screen = [self.total % 256] * (HEIGHT * WIDTH * 3)
            return FrameObservation(screen=screen, screen_shape=[HEIGHT, WIDTH, 3], reward=reward)

        def reset(self, seed=None, episode_id=None, **kwargs):
            self.total = 0
            return self.shown(0.0)

        def step(self, action, timeout_s=None, **kwargs):
            self.total = (self.total + action.action) % 1000
            return self.shown(1.0)

    return [
        create_fastapi_app(Count, CountAction, CountObservation, max_concurrent_envs=64),
        create_fastapi_app(Frame, CountAction, FrameObservation, max_concurrent_envs=64),
    ]


async def serve(port):
    import uvicorn

    servers = []
    for place, app in enumerate(applications()):
        config = uvicorn.Config(app, host="127.0.0.1", port=port + place, log_level="warning")
        servers.append(uvicorn.Server(config))
    await asyncio.gather(*(one.serve() for one in servers))


async def measure(count_url, frame_url):
    """`count N` or `frame N`: N steps over its WebSocket, by its own client within one event loop, its quickest way."""
    from openenv.core.generic_client import GenericEnvClient

    clients = {"count": GenericEnvClient(base_url=count_url), "frame": GenericEnvClient(base_url=frame_url)}
    for client in clients.values():
        await client.connect()
        await client.reset()
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line.strip():
            break
        kind, number = line.split()
        client, action = clients[kind], {"action": 1}
        begin = time.perf_counter()
        for _ in range(int(number)):
            await client.step(action)
        print(json.dumps(time.perf_counter() - begin), flush=True)
    for client in clients.values():
        await client.close()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(int(sys.argv[2])))
    else:
        asyncio.run(measure(sys.argv[2], sys.argv[3]))
