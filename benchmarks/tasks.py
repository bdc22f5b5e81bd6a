"""The bars of research tasks, each with a verdict: start, shell step, snapshot of 200 MB, fifty at once without a leak.

python benchmarks/tasks.py [start|step|snapshot|fifty …]
python benchmarks/tasks.py order [--out FOLDER] [--seed 8100] [--seeds 5] [TASK …]

`order` has nop, baseline and reference do every shipped task, or those named, and prints one table: the reference must
beat the baseline, and the baseline nop, on each seed by itself. It takes hours; what FOLDER has is not run again.

Verdicts are about medians; the best is what a quiet machine would come near to. A step is compared with `bash -c true`
started in turns with it, so what is printed as "over" is what a task adds to a command's own time, by the clock and in
processor time of all processes that take part.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from ludus.sandbox import Workspace
from ludus.sandbox.leftovers import identity
from ludus.sandbox.tree import below
from ludus.tasks import Task, TaskEnv, find_task, known_tasks
from ludus.tasks.agents.batch import RunProgress, planned_runs, run_jobs
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.agents.result import RunResult
from ludus.tasks.new import new_task
from ludus.tools import Call

START_S, STEP_MS, SNAPSHOT_MS, AT_ONCE = 1.0, 10.0, 100.0, 50
STEPS = 38
AGENTS = ("nop", "baseline", "reference")


def print_result(name: str, words: str, met: bool) -> bool:
    print(f"{name:28} {words:70} {'met' if met else 'NOT MET'}", flush=True)
    return met


def cpu_ms(who: int) -> float:
    used = getrusage(who)
    return (used.ru_utime + used.ru_stime) * 1e3


def start() -> bool:
    """A task's reset, data and shell included; the first one of a process has imports to make and is not counted."""
    with TaskEnv("tabular_regression") as env:
        env.reset(seed=0)
        taken = []
        for seed in range(7):
            begun = time.perf_counter()
            env.reset(seed=seed)
            taken.append(time.perf_counter() - begun)
    median = statistics.median(taken)
    return print_result(
        "start of a task", f"median {median:.3f} s, best {min(taken):.3f} s; bar {START_S:g} s", median <= START_S
    )


def step() -> bool:
    """A shell step beyond what the same command takes by itself."""
    bare, whole, bare_cpu, whole_cpu = [], [], [], []
    with TaskEnv("tabular_regression") as env:
        env.reset(seed=0)
        for _ in range(STEPS):
            used, begun = cpu_ms(RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(["/bin/bash", "-c", "true"], check=True)
            bare.append((time.perf_counter() - begun) * 1e3)
            bare_cpu.append(cpu_ms(RUSAGE_CHILDREN) - used)
            used, begun = cpu_ms(RUSAGE_SELF), time.perf_counter()
            env.step(Call("shell", {"command": "true"}))
            whole.append((time.perf_counter() - begun) * 1e3)
            whole_cpu.append(cpu_ms(RUSAGE_SELF) - used + 1e3 * (env.measured.cpu_seconds or 0.0))
    over = statistics.median(whole) - statistics.median(bare)
    best = min(whole) - min(bare)
    over_cpu = statistics.mean(whole_cpu) - statistics.mean(bare_cpu)
    words = f"{over:.1f} ms over the command's own {statistics.median(bare):.1f}, best {best:.1f}"
    return print_result("shell step", f"{words}; cpu {over_cpu:.1f} ms over; bar {STEP_MS:g} ms", over <= STEP_MS)


def snapshot(files: int = 300) -> bool:
    """A snapshot of 200 MB in which one file changed."""
    with tempfile.TemporaryDirectory() as base:
        work = Path(base, "work")
        work.mkdir()
        for number in range(files):
            (work / f"{number}.bin").write_bytes(number.to_bytes(4, "big") * (200 * 1024 * 1024 // files // 4))
        workspace = Workspace(work, store=Path(base, "store"))
        workspace.snapshot("first")
        taken = []
        for turn in range(7):
            (work / "0.bin").write_bytes(bytes([turn]) * 1000)
            begun = time.perf_counter()
            workspace.snapshot("next")
            taken.append((time.perf_counter() - begun) * 1e3)
    median = statistics.median(taken)
    words = f"median {median:.1f} ms, best {min(taken):.1f} ms; bar {SNAPSHOT_MS:g} ms"
    return print_result("snapshot of 200 MB", words, median <= SNAPSHOT_MS)


def fifty() -> bool:
    """Fifty runs at once: all of them end with the reference's score, and nothing is left of them."""
    with tempfile.TemporaryDirectory() as base:
        task = find_task(new_task(Path(base, "task")))
        run_jobs(planned_runs([task], ["nop"], [0], Path(base, "warm")), chosen_agent, workers=1)
        before = _held()
        begun = time.perf_counter()
        results = run_jobs(
            planned_runs([task], ["reference"], range(AT_ONCE), Path(base, "runs")), chosen_agent, workers=AT_ONCE
        )
        taken = time.perf_counter() - begun
        after = _held()
    done = sum(one.outcome == "success" for one in results)
    left = {name: after[name] - count for name, count in before.items() if after[name] > count}
    words = f"{done} of {AT_ONCE} succeeded in {taken:.1f} s, left behind: {left or 'nothing'}"
    return print_result(f"{AT_ONCE} tasks at once", words, done == AT_ONCE and not left)


def _held() -> dict[str, int]:
    """What this process holds that a run could leave behind."""
    mine = [one for one in os.listdir(tempfile.gettempdir()) if identity() in one]
    processes = len(list(below(os.getpid())))
    threads = threading.active_count()
    return {
        "processes": processes,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "folders": len(mine),
        "threads": threads,
    }


def order(arguments: list[str]) -> bool:
    """Reference above baseline above nop, on each seed of each task."""
    parser = argparse.ArgumentParser(prog="tasks.py order")
    parser.add_argument("tasks", nargs="*", default=[], metavar="TASK")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=8100)
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.seed, chosen.seed + chosen.seeds)
    with tempfile.TemporaryDirectory() as base:
        tasks = [find_task(name) for name in chosen.tasks or known_tasks()]
        rows = [_ordered(task, seeds, chosen.out or Path(base)) for task in tasks]
    print(f"\n{'task, seeds ' + str(seeds):44} {'nop':>20} {'baseline':>20} {'reference':>20}  in order")
    for words, _ in rows:
        print(words)
    met = sum(good for _, good in rows)
    return print_result(
        "reference > baseline > nop", f"{met} of {len(rows)} tasks on {len(seeds)} seeds", met == len(rows)
    )


def _ordered(task: Task, seeds: range, out: Path) -> tuple[str, bool]:
    def say(progress: RunProgress) -> None:
        one = progress.result
        if one is not None:
            print(f"{progress.job.title}: {one.outcome} {one.value} ({one.seconds:.0f} s) {one.reason}", flush=True)

    results = run_jobs(planned_runs([task], AGENTS, seeds, out), chosen_agent, workers=1, watch=say)
    by_agent = {agent: [one for one in results if one.agent == agent] for agent in AGENTS}
    spec = task.spec
    in_order = sum(
        not any(one.masked for one in three)
        and spec.evaluation.better(three[2].value, three[1].value)
        and spec.evaluation.better(three[1].value, three[0].value)
        for three in zip(*by_agent.values(), strict=True)
    )
    name = f"{spec.env_id.removeprefix('task/')}, {spec.evaluation.metric} ({spec.evaluation.direction_known})"
    cells = " ".join(f"{_span(found):>20}" for found in by_agent.values())
    return f"{name:44} {cells}  {in_order} of {len(seeds)}", in_order == len(seeds)


def _span(results: list[RunResult]) -> str:
    values = sorted(one.value for one in results if one.value is not None)
    none = len(results) - len(values)
    span = f"{values[0]:.4g} … {values[-1]:.4g}" if values else "no score"
    return f"{span} (+{none} none)" if values and none else span


BARS: dict[str, Callable[[], bool]] = {"start": start, "step": step, "snapshot": snapshot, "fifty": fifty}


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if sys.argv[1:2] == ["order"]:
        sys.exit(0 if order(sys.argv[2:]) else 1)
    chosen = sys.argv[1:] or list(BARS)
    met = [BARS[name]() for name in chosen]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
