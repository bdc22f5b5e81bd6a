"""What a server adds to an environment, on its own side.

    python benchmarks/serve.py [--steps N] [--rounds N] [--json FILE]

One step of CartPole from the bytes that were received to the bytes that are sent, without a socket, over the
same step by itself; the same with 64 lanes in one message; and the memory of a session. Medians.
"""

import argparse
import asyncio
import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.connection import serve_connection
from ludus.server.server import Server
from ludus.wire.messages import (
    BatchResetRequest,
    BatchStepRequest,
    HelloRequest,
    NumberedRequest,
    ResetRequest,
    StepRequest,
    write_message,
)

OWNER = Principal("orchestrator", "benchmark")
BAR = 25.0
"""Microseconds for a step of CartPole at the server's side."""
LANES = 64
RENEWED = 16
"""Steps of an episode, so that none ends by itself."""


class Stopwatch:
    """A link that says one thing after another, and takes the time from what it gave to what it got."""

    def __init__(self, hello: HelloRequest, reset: Any, step: Callable[[int], Any], steps: int) -> None:
        self._waiting: list[Any] = [NumberedRequest(0, hello), NumberedRequest(1, reset)]
        self._reset, self._step, self._left, self._number = reset, step, steps, 1
        self._given, self._answered, self._counts = 0.0, False, False
        self.times: list[float] = []

    async def receive(self) -> bytes | None:
        while not self._answered and not self._waiting:
            await asyncio.sleep(0)
        if self._waiting:
            return write_message(self._waiting.pop(0))
        if not self._left:
            return None
        self._left, self._number, self._answered = self._left - 1, self._number + 1, False
        self._counts = self._number % RENEWED != 0
        request = self._step(self._number) if self._counts else self._reset
        data = write_message(NumberedRequest(self._number, request, None, self._number - 1))
        await asyncio.sleep(0)
        self._given = time.perf_counter()
        return data

    async def send(self, data: bytes) -> None:
        if self._counts:
            self.times.append((time.perf_counter() - self._given) * 1e6)
        self._answered = True

    async def close(self) -> None:
        pass


async def measure(link: Stopwatch) -> float:
    server = Server(["CartPole-v1"], ServerConfig(rate=1e9))
    await serve_connection(server, link, OWNER)
    await server.sessions.stop()
    return statistics.median(link.times)


def bare_step(steps: int) -> float:
    with ludus.make("CartPole-v1") as env:
        found: list[float] = []
        for number in range(steps):
            if number % RENEWED == 0:
                env.reset(seed=3)
            begin = time.perf_counter()
            env.step(number & 1)
            found.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(found)


def bare_batch(steps: int) -> float:
    with ludus.make_vec("CartPole-v1", LANES) as envs:
        envs.reset(seed=3)
        actions, found = np.arange(LANES) % 2, list[float]()
        for _ in range(steps):
            begin = time.perf_counter()
            envs.step(actions)
            found.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(found[steps // 2 :])


async def memory(count: int = 200) -> float:
    """KiB of a session that has been reset."""
    server = Server(["CartPole-v1"])

    async def opened(number: int) -> None:
        for _ in range(number):
            session = await server.sessions.open("", OWNER)
            await session.call(lambda hosted: hosted.answer(ResetRequest(0, None)))

    await opened(20)
    gc.collect()
    tracemalloc.start()
    await opened(count)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    await server.sessions.stop()
    return size / count / 1024


def core(steps: int, rounds: int) -> dict[str, float]:
    """The best of some rounds of medians: others use the machine too."""
    actions = (np.arange(LANES) % 2).tobytes()

    def one() -> float:
        link = Stopwatch(HelloRequest(), ResetRequest(3, None), lambda number: StepRequest(number & 1), steps)
        return asyncio.run(measure(link))

    def batch() -> float:
        step = BatchStepRequest(actions)
        link = Stopwatch(HelloRequest(lanes=LANES), BatchResetRequest(3, None), lambda _: step, steps // 4)
        return asyncio.run(measure(link))

    rows: dict[str, Callable[[], float]] = {
        "step, bare": lambda: bare_step(steps),
        "step, served": one,
        f"{LANES} lanes, bare": lambda: bare_batch(steps // 4),
        f"{LANES} lanes, served": batch,
    }
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, take in rows.items():
            found[name].append(take())
    return {**{name: min(times) for name, times in found.items()}, "session, KiB": asyncio.run(memory())}


def show(found: dict[str, float]) -> None:
    table = Table("CartPole, server's side, no socket", "µs")
    for name, value in found.items():
        table.add_row(name, f"{value:.1f}")
    met = "met" if found["step, served"] <= BAR else "not met"
    Console().print(table, f"bar: a step within {BAR:g} µs: {met}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = core(given.steps, given.rounds)
    show(found)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
