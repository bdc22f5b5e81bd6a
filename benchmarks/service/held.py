"""Sessions that are held: many, each of which steps once a second."""

import asyncio
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from servers import STRANGERS

from ludus.client import aconnect
from ludus.errors import LudusError

sys.path.insert(0, str(STRANGERS))  # the author's own class, as his program has it
from mine import Move

AT_ONCE = 64
"""Sessions that are being opened."""
SESSIONS_BAR = 2000
P99 = 50.0
"""Milliseconds: the bar for so many."""


@dataclass
class Held:
    """What became of them; times are in milliseconds."""

    sessions: int
    opened_seconds: float
    steps: int
    lost: int
    p50: float
    p95: float
    p99: float

    @property
    def met(self) -> bool:
        """Whether none was lost, and the slowest hundredth was quick enough."""
        return not self.lost and self.p99 <= P99

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "met": self.met}


async def hold(url: str, count: int, seconds: float) -> Held:
    """Hold so many for so long."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def opened() -> Any:
        async with gate:
            env = await aconnect(url, env="Count", timeout=60.0)
            await env.reset(seed=0)
            return env

    begin = time.perf_counter()
    envs = await asyncio.gather(*(opened() for _ in range(count)))
    took, times = time.perf_counter() - begin, list[float]()
    ends = time.perf_counter() + seconds

    async def live(place: int, env: Any) -> int:
        await asyncio.sleep(place / count)
        failed = 0
        while time.perf_counter() < ends:
            start = time.perf_counter()
            try:
                await env.step(Move(1, "on"))
            except LudusError:
                failed += 1
            times.append(time.perf_counter() - start)
            await asyncio.sleep(max(0.0, 1.0 - (time.perf_counter() - start)))
        return failed

    lost = sum(await asyncio.gather(*(live(place, env) for place, env in enumerate(envs))))
    await asyncio.gather(*(env.close() for env in envs))
    p50, p95, p99 = (float(one) for one in np.percentile(np.array(times) * 1e3, (50, 95, 99)))
    return Held(count, took, len(times), lost, p50, p95, p99)
