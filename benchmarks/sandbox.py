"""What isolation costs: a step, a start, a spawn, interleaved with what each is compared to. Medians.

    python benchmarks/sandbox.py [--backends process bubblewrap …] [--rounds N] [--typed] [--json FILE]

A step is CartPole's, over the same step in this process; a typed step is of `strangers/mine.py`, a user's own
environment with an action and an observation of two fields. A start is from `isolate` to an environment that is ready,
over a bare `python -I -c pass` in the same sandbox. A spawn is from `ForkServer.spawn` to one that is ready.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.environment import ForkServer, isolate, isolate_vec
from ludus.sandbox.environment.interpreter import Interpreter

sys.path.insert(0, str(Path(__file__).parent / "strangers"))
from mine import Count, Move

SPEC = ludus.spec("CartPole-v1")
MOVE = Move(1, "on")
STEPS = 300
LANES = 64
BARS = {"step": (40.0, "µs"), "typed": (60.0, "µs"), "start": (60.0, "ms"), "spawn": (15.0, "ms")}


def seconds(do: Callable[[], Any]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def time_steps(env: Any) -> list[float]:
    """Microseconds of each step; resets are not counted."""
    found: list[float] = []
    env.reset(seed=0)
    for number in range(STEPS):
        start = time.perf_counter()
        step = env.step(number & 1)
        found.append((time.perf_counter() - start) * 1e6)
        if step.terminated or step.truncated:
            env.reset()
    return found


def measure_steps(box: Sandbox, rounds: int) -> dict[str, float]:
    with isolate(SPEC, sandbox=box) as sandboxed, ludus.make(SPEC) as bare:
        times: dict[str, list[float]] = {"sandboxed": [], "bare": []}
        for _ in range(rounds):
            times["sandboxed"] += time_steps(sandboxed)
            times["bare"] += time_steps(bare)
    found = {f"step {name}": statistics.median(one) for name, one in times.items()}
    return {**found, "step": found["step sandboxed"] - found["step bare"]}


def measure_typed(box: Sandbox, rounds: int) -> dict[str, float]:
    """Microseconds of a typed step, sandboxed and in this process, as users make both."""
    with ludus.make(Count, isolation=box) as sandboxed, ludus.make(Count) as bare:
        times: dict[str, list[float]] = {"sandboxed": [], "bare": []}
        for env in (sandboxed, bare):
            env.reset(seed=0)
        for _ in range(rounds):
            for name, env in (("sandboxed", sandboxed), ("bare", bare)):
                for _ in range(STEPS):
                    start = time.perf_counter()
                    env.step(MOVE)
                    times[name].append((time.perf_counter() - start) * 1e6)
    found = {f"typed {name}": statistics.median(one) for name, one in times.items()}
    return {**found, "typed": found["typed sandboxed"] - found["typed bare"]}


def measure_batch(box: Sandbox, rounds: int) -> dict[str, float]:
    """Microseconds that a lane's step costs more in a sandboxed batch than in the serial one."""
    times: dict[str, list[float]] = {"sandboxed": [], "bare": []}
    with (
        isolate_vec(SPEC, sandbox=box, num_envs=LANES) as sandboxed,
        ludus.make_vec(SPEC, LANES, executor="serial") as bare,
    ):
        actions = np.arange(LANES) % 2
        for envs in (sandboxed, bare):
            envs.reset(seed=0)
        for _ in range(rounds * 10):
            times["sandboxed"].append(seconds(lambda: sandboxed.step(actions)))
            times["bare"].append(seconds(lambda: bare.step(actions)))
    found = {name: statistics.median(one) / LANES * 1e6 for name, one in times.items()}
    return {"lane": found["sandboxed"] - found["bare"]}


def measure_starts(box: Sandbox, rounds: int) -> dict[str, float]:
    policy = Interpreter().policy(box.policy)
    times: dict[str, list[float]] = {"interpreter": [], "numpy": [], "isolate": []}

    def run(program: str) -> None:
        with box.backend.start([sys.executable, "-I", "-c", program], policy) as process:
            process.wait()

    for _ in range(rounds):
        times["interpreter"].append(seconds(lambda: run("pass")))
        times["numpy"].append(seconds(lambda: run("import numpy")))
        start = time.perf_counter()
        env = isolate(SPEC, sandbox=box)
        times["isolate"].append(time.perf_counter() - start)
        env.close()
    found = {name: statistics.median(one) * 1e3 for name, one in times.items()}
    return {**found, "start": found["isolate"] - found["interpreter"]}


def measure_spawns(box: Sandbox, rounds: int) -> dict[str, float]:
    times: list[float] = []
    with ForkServer(SPEC, sandbox=box) as server:
        for _ in range(rounds):
            start = time.perf_counter()
            env = server.spawn()
            times.append((time.perf_counter() - start) * 1e3)
            env.close()
    return {"spawn": statistics.median(times)}


def measure(name: str, rounds: int, *, only_typed: bool) -> dict[str, Any]:
    box = Sandbox(name, limits=Limits(wall=None))
    found: dict[str, Any] = {"backend": name, **measure_typed(box, rounds)}
    for one in () if only_typed else (measure_steps, measure_batch, measure_starts, measure_spawns):
        found |= one(box, rounds)
    return found


def show(rows: list[dict[str, Any]]) -> None:
    """The table, and which bars are missed."""
    titles = {
        "typed bare": "typed step here, µs", "typed sandboxed": "sandboxed", "typed": "over",
        "step bare": "step here, µs", "step sandboxed": "sandboxed", "step": "over", "lane": f"over, of {LANES} lanes",
        "interpreter": "interpreter, ms", "numpy": "with NumPy", "isolate": "isolate", "start": "over",
        "spawn": "spawn, ms",
    }  # fmt: skip
    titles = {key: title for key, title in titles.items() if key in rows[0]}
    table = Table(title="what isolation costs: medians")
    for column in ("backend", *titles.values()):
        table.add_column(column, justify="left" if column == "backend" else "right")
    for row in rows:
        table.add_row(row["backend"], *(f"{row[key]:.1f}" for key in titles))
    Console().print(table)
    for key, (bar, unit) in BARS.items():
        if key not in rows[0]:
            continue
        missed = [f"{row['backend']} ({row[key]:.1f})" for row in rows if row[key] > bar]
        print(f"{key}: at most {bar:g} {unit}; missed by", ", ".join(missed) or "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backends", nargs="+", default=["process", "landlock", "bubblewrap"])
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--typed", action="store_true", help="typed steps alone")
    arguments = parser.parse_args()
    rows = [measure(name, arguments.rounds, only_typed=arguments.typed) for name in arguments.backends]
    show(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
