"""What the suite measures: reports, and nothing but reports, so that the page can be written from them again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

import ludus
from ludus.benchmarks import Arena, BenchmarkReport, Contestant, SkippedContestant, compare, lineup
from ludus.core.spec import load_entry_point
from ludus.kernels import RuleEnv
from ludus.vector.executor import EXECUTORS

CARTPOLE, KERNEL = "CartPole-v1", "ludus kernel"
SIZES = (64, 256, 1024, 4096, 16384, 65536)
LANES, FEW_LANES = 4096, 64
PROCESS = Contestant("ludus process", "executor.py", {"executor": "process", "workers": 2})
PROCESS_LANES = 8
READINGS = 3
"""Of memory, of which the least counts: what a reading has too much, Python's allocator kept for later."""
WORKLOADS = ("Cheap", "Pictures")


@dataclass(frozen=True)
class Results:
    """All that came out of a run."""

    cartpole: BenchmarkReport
    """By every executor and every peer, at every size."""
    others: tuple[BenchmarkReport, ...]
    """Every other environment with a kernel, beside EnvPool's, or Gymnasium's if EnvPool has none."""
    processes: dict[str, BenchmarkReport]
    """The executor for processes beside Gymnasium's, by workload."""
    missing: tuple[SkippedContestant, ...] = field(default=())
    """The peers that are not installed."""

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(msgspec.to_builtins(self), indent=1) + "\n", encoding="utf8")

    @staticmethod
    def load(path: Path) -> "Results":
        """Read what `save` wrote."""
        return msgspec.json.decode(path.read_bytes(), type=Results)


def measure(arena: Arena, interpreters: Sequence[str]) -> Results:
    """Run the suite."""
    found, missing = lineup(CARTPOLE, EXECUTORS, interpreters)
    contestants = {one.name: one for one in found}
    return Results(
        cartpole=compare(arena, CARTPOLE, _within_reason(found), SIZES, memory=READINGS),
        others=tuple(_other(arena, contestants, name) for name in compiled_ids() if name != CARTPOLE),
        processes={name: _processes(arena, contestants, name) for name in WORKLOADS},
        missing=tuple(missing),
    )


def compiled_ids() -> list[str]:
    """Every id of an environment that is made of rules, and so has a kernel."""
    return [spec.id for spec in ludus.list_envs() if issubclass(load_entry_point(spec.entry_point), RuleEnv)]


def _within_reason(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Those that run each lane in Python are not asked for more lanes than the bars speak of."""
    slow = {f"ludus {name}" for name in EXECUTORS if name != "kernel"} | {"gymnasium sync"}
    return [replace(one, most_lanes=LANES) if one.name in slow else one for one in contestants]


def _other(arena: Arena, contestants: dict[str, Contestant], env_id: str) -> BenchmarkReport:
    """Beside EnvPool's, or Gymnasium's if there is none; which of them took part, the report says."""
    kernel = contestants[KERNEL]
    skipped: tuple[SkippedContestant, ...] = ()
    for name in ("envpool", "gymnasium sync"):
        if name in contestants:
            report = compare(arena, env_id, [kernel, contestants[name]], [LANES])
            skipped += report.skipped
            if name in report.contestants:
                return replace(report, skipped=skipped)
    report = compare(arena, env_id, [kernel], [LANES])
    return replace(report, skipped=tuple(dict.fromkeys((*skipped, *report.skipped))))


def _processes(arena: Arena, contestants: dict[str, Contestant], name: str) -> BenchmarkReport:
    peer = contestants.get("gymnasium async")
    both = [PROCESS] if peer is None else [PROCESS, peer]
    return compare(arena, f"ludus.benchmarks.workloads:{name}", both, [PROCESS_LANES])
