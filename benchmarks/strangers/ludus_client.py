"""Our clients as a program of the user's has them; told what to do on standard input, as `openenv_client.py` is.

    python ludus_client.py URL UNIX_URL SESSIONS

`one N`, `unix N` and `frame N`: seconds of N steps by `ludus.connect`; `lanes N`: of N steps of a batch in one session;
`crowd SECONDS`: steps a second of all sessions of `aconnect` together.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from mine import Move

import ludus
from ludus.client import aconnect

LANES = 64


def steps(env: Any, action: Any, count: int) -> float:
    """Seconds of so many."""
    begin = time.perf_counter()
    for _ in range(count):
        env.step(action)
    return time.perf_counter() - begin


async def crowd(envs: list[Any], seconds: float) -> float:
    """Steps a second, when each client steps as often as it can."""
    begin = time.perf_counter()

    async def go_on(env: Any) -> int:
        count = 0
        while time.perf_counter() < begin + seconds:
            await env.step(Move(amount=1, note="on"))
            count += 1
        return count

    done = await asyncio.gather(*(go_on(one) for one in envs))
    return sum(done) / (time.perf_counter() - begin)


def blocking(stack: ExitStack, url: str, unix: str) -> dict[str, Callable[[int], float]]:
    """What can be asked of the clients that block."""
    one = stack.enter_context(ludus.connect(url, env="Count"))
    near = stack.enter_context(ludus.connect(unix, env="Count"))
    many = stack.enter_context(ludus.connect(url, LANES, env="Count"))
    frame = stack.enter_context(ludus.connect(url, env="Frame"))
    for env in (one, near, many, frame):
        env.reset(seed=0)
    move = Move(amount=1, note="on")
    return {
        "one": lambda count: steps(one, move, count),
        "unix": lambda count: steps(near, move, count),
        "lanes": lambda count: steps(many, [move] * LANES, count),
        "frame": lambda count: steps(frame, 1, count),
    }


async def main(url: str, unix: str, sessions: int) -> None:
    """Do what is asked for until there is no more: with sessions, of them, else of the clients that block."""
    envs = [await aconnect(url, env="Count") for _ in range(sessions)]
    for env in envs:
        await env.reset(seed=0)
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        works = {} if sessions else blocking(stack, url, unix)
        print("ready", flush=True)
        while line := (await loop.run_in_executor(None, sys.stdin.readline)).split():
            name, number = line
            found = await crowd(envs, float(number)) if name == "crowd" else works[name](int(number))
            print(json.dumps(found), flush=True)
    for env in envs:
        await env.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
