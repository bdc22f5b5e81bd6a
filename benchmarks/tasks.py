"""How long a task takes to start, what a shell step costs beyond its command, and a snapshot of 200 MB with one change.

python benchmarks/tasks.py
"""

import statistics
import tempfile
import time
from pathlib import Path

from ludus.sandbox import Workspace
from ludus.tasks import TaskEnv
from ludus.tools import Call


def start_seconds(repeats: int = 5) -> float:
    with TaskEnv("tabular_regression") as env:
        env.reset(seed=0)
        taken = []
        for seed in range(repeats):
            begun = time.perf_counter()
            env.reset(seed=seed)
            taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def step_seconds(repeats: int = 40) -> tuple[float, float, float]:
    """A step, what the session says its command took, and the best step; medians."""
    with TaskEnv("tabular_regression") as env:
        env.reset(seed=0)
        whole, command = [], []
        for _ in range(min(repeats, 38)):
            begun = time.perf_counter()
            step = env.step(Call("shell", {"command": "true"}))
            whole.append(time.perf_counter() - begun)
            command.append(step.info["command"]["seconds"])
    return statistics.median(whole), statistics.median(command), min(whole)


def snapshot_seconds(files: int = 300) -> float:
    with tempfile.TemporaryDirectory() as base:
        work = Path(base, "work")
        work.mkdir()
        for number in range(files):
            (work / f"{number}.bin").write_bytes(number.to_bytes(4, "big") * (200 * 1024 * 1024 // files // 4))
        workspace = Workspace(work, store=Path(base, "store"))
        workspace.snapshot("first")
        taken = []
        for turn in range(5):
            (work / "0.bin").write_bytes(bytes([turn]) * 1000)
            begun = time.perf_counter()
            workspace.snapshot("next")
            taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def main() -> None:
    print(f"start of a task        {start_seconds():8.3f} s")
    whole, command, best = step_seconds()
    shown = [f"{one * 1e3:.1f} ms" for one in (whole, command, best)]
    print(f"shell step (true)      {shown[0]}, of which {shown[1]} in the session; best {shown[2]}")
    print(f"snapshot of 200 MB     {snapshot_seconds() * 1e3:8.1f} ms")


if __name__ == "__main__":
    main()
