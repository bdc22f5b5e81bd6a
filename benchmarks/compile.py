"""What compiling costs: processor seconds to make a batch, in a new process, compiled for the first time and from disk.

    python benchmarks/compile.py [--bars] [ID …]

Every figure is over an interpreter that has loaded nothing; the least of some rounds, since others may use the machine.
`--bars` measures only what has a bar, by the clock, the whole process included: a batch from disk, and the first
compilation of rules that observe ten thousand numbers, over the import of Numba. They decide on a quiet machine only.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IDS = ("CartPole-v1", "Blackjack-v1", "ReversedAddition3-v0", "Taxi-v4")
ROUNDS = 3
MADE = "import ludus; from ludus.vector import Kernel; ludus.make_vec({id!r}, 64, executor=Kernel(checks={checks}))"
CASES = {
    "import numba": "import numba",
    "import ludus": "import ludus",
    "the compiler": "import ludus.kernels.batch",
}


CACHED_SECONDS, FIRST_SECONDS = 0.45, 3.0
"""How long a batch may take from disk, in a new process, and how long rules of ten thousand numbers to be compiled."""
QUIET = 0.5
"""Below this load a clock decides."""
LARGE = """
from typing import NamedTuple
import numpy as np
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete
class State(NamedTuple):
    plate: np.ndarray
    time: int
class Params(NamedTuple):
    heat: float = 50.0
def reset(rng, params):
    plate = np.zeros((100, 100))
    for _ in range(20):
        plate[rng.integers(100), rng.integers(100)] = 2.0 * params.heat
    return State(plate, 0)
def step(state, action, rng, params):
    state.plate[action, 50] = params.heat
    return State(state.plate, state.time + 1), -float(np.mean(state.plate)), state.time > 30
def observe(state, params):
    return state.plate
class Plate(RuleEnv):
    rules = Rules(State, Params, reset, step, observe)
    observation_space, action_space = Box(-np.inf, np.inf, (100, 100), np.float32), Discrete(100)
"""
"""Rules that observe ten thousand numbers."""


def cpu_seconds(code: str, folder: str) -> float:
    """The processor time of a new process that runs some code."""
    timed = f"{code}\nimport resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    environment = {
        "LUDUS_CACHE_DIR": folder,
        "LUDUS_QUIET": "1",
        "PATH": "/usr/bin:/bin",
        **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
    }
    done = subprocess.run([sys.executable, "-c", timed], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def least(code: str, folder: str, floor: float, rounds: int = ROUNDS) -> float:
    """The least of some rounds, over an empty interpreter."""
    return min(cpu_seconds(code, folder) for _ in range(rounds)) - floor


def clock_seconds(code: str, folder: str, path: str = "") -> float:
    """How long a new process takes that runs some code, from its start to its end."""
    environment = os.environ | {"LUDUS_CACHE_DIR": folder, "LUDUS_QUIET": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH", ""))))
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return time.perf_counter() - start


def judge_bars() -> None:
    """Print what has a bar, and whether it is met."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        made = MADE.format(id="CartPole-v1", checks=False)
        clock_seconds(made, folder)
        cached = min(clock_seconds(made, folder) for _ in range(10))
        Path(folder, "large_plate.py").write_text(LARGE, encoding="utf8")
        loaded = min(clock_seconds("import ludus.kernels.compiler", folder) for _ in range(3))
        first = "import ludus, large_plate; ludus.make_vec(large_plate.Plate, 4, executor='kernel')"
        large = [clock_seconds(first, f"{folder}/{place}", folder) - loaded for place in range(3)]
    for what, found, bar in (
        ("make_vec in a new process, from disk", cached, CACHED_SECONDS),
        ("first compilation of 10,000 numbers", min(large), FIRST_SECONDS),
    ):
        print(f"{what}: {found:.2f} s, wanted {bar} s: {'met' if found <= bar else 'NOT MET'}")
    if load >= QUIET:
        print(f"load {load:.1f} at the start: not a quiet machine, so this decides nothing")


def main() -> None:
    """Print the table."""
    if "--bars" in sys.argv:
        judge_bars()
        return
    with tempfile.TemporaryDirectory() as folder:
        floor = min(cpu_seconds("pass", folder) for _ in range(ROUNDS))
        for name, code in CASES.items():
            print(f"{name:24} {least(code, folder, floor):6.2f} s")
    print(f"{'':24} {'first':>8} {'checked':>8} {'cached':>8}")
    for name in sys.argv[1:] or IDS:
        with tempfile.TemporaryDirectory() as folder:
            plain, checked = (MADE.format(id=name, checks=checks) for checks in (False, True))
            figures = least(plain, folder, floor, 1), least(checked, folder, floor, 1), least(plain, folder, floor)
        print(f"{name:24} " + " ".join(f"{one:6.2f} s" for one in figures))


if __name__ == "__main__":
    main()
