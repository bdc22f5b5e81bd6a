"""OpenEnv's own clients, run by the interpreter that OpenEnv is installed in; told what to do on standard input.

    python openenv_client.py COUNT_URL FRAME_URL SESSIONS

`one N` and `frame N`: seconds of N steps, within one event loop, which is its quickest way; `crowd SECONDS`: steps a
second of all sessions together.
"""

import asyncio
import json
import sys
import time
from typing import Any

from theirs import CountClient, FrameClient, Move, Push


async def steps(client: Any, action: Any, count: int) -> float:
    """Seconds of so many."""
    begin = time.perf_counter()
    for _ in range(count):
        await client.step(action)
    return time.perf_counter() - begin


async def crowd(clients: list[Any], seconds: float) -> float:
    """Steps a second, when each client steps as often as it can."""
    begin = time.perf_counter()

    async def go_on(client: Any) -> int:
        count = 0
        while time.perf_counter() < begin + seconds:
            await client.step(Move(amount=1, note="on"))
            count += 1
        return count

    done = await asyncio.gather(*(go_on(one) for one in clients))
    return sum(done) / (time.perf_counter() - begin)


async def main(count_url: str, frame_url: str, sessions: int) -> None:
    """Do what is asked for until there is no more."""
    counts: list[Any] = [CountClient(base_url=count_url) for _ in range(sessions)]
    frame: Any = FrameClient(base_url=frame_url)
    for client in (*counts, frame):
        await client.connect()
        await client.reset()
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    while line := (await loop.run_in_executor(None, sys.stdin.readline)).split():
        match line:
            case ["crowd", seconds]:
                found = await crowd(counts, float(seconds))
            case ["one", number]:
                found = await steps(counts[0], Move(amount=1, note="on"), int(number))
            case ["frame", number]:
                found = await steps(frame, Push(action=1), int(number))
            case _:
                raise SystemExit(f"openenv_client: expected one, frame or crowd, got {line}")
        print(json.dumps(found), flush=True)
    for client in (*counts, frame):
        await client.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
