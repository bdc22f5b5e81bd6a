"""How fast results are written and executed again: CartPole, balanced for 500 steps an episode, on all cores.

    .venv/bin/python benchmarks/verification.py [EPISODES]

The bar is 10⁸ steps (200,000 episodes) in 10 seconds on two cores.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ludus.evaluate import Agent, evaluate, verify


class Upright(Agent):
    """Pushes to where the pole falls, in all lanes at once."""

    def act_batch(self, observations: Any, info: Any, mask: Any) -> Any:
        """The side of the pole."""
        del info, mask
        return (observations[:, 2] + 0.2 * observations[:, 3] > 0).astype(np.int64)


def main(episodes: int) -> None:
    """Write a result, and execute it twice: the first time compiles, or loads what is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.ludus")
        for name, out in (("played", None), ("played and written", path)):
            began, used = perf_counter(), process_time()
            found = evaluate("CartPole-v1", Upright, episodes=episodes, num_envs=4096, out=out)
            _tell(name, sum(one.length for one in found.episodes), began, used)
        print(f"{path.stat().st_size / sum(one.length for one in found.episodes):.2f} bytes a step")
        for name in ("verified, first", "verified"):
            began, used = perf_counter(), process_time()
            checked = verify(path)
            _tell(name, checked.steps, began, used)
            if not checked:
                raise SystemExit(str(checked))


def _tell(name: str, steps: int, began: float, used: float) -> None:
    clock, cpu = perf_counter() - began, process_time() - used
    print(f"{name:20} {steps:,} steps: {clock:.1f} s by the clock, {cpu:.1f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
