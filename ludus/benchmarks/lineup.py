"""Who takes part: our executors, the peers that are installed, and a plain loop in C."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ludus.benchmarks.contestant import Contestant
from ludus.benchmarks.report import SkippedContestant
from ludus.errors import InvalidArgument, listing, shorten
from ludus.vector.executor import EXECUTORS

__all__ = ["PEERS", "lineup"]

LARGE = (1024, 65536)
"""Batches to compare the memory of, where a lane takes a few bytes."""
PEERS = {
    "gymnasium vector": (
        "gymnasium",
        Contestant("gymnasium vector", "gymnasium_batch.py", {"mode": "vector_entry_point"}, memory_lanes=LARGE),
    ),
    "gymnasium sync": (
        "gymnasium",
        Contestant("gymnasium sync", "gymnasium_batch.py", {"mode": "sync"}, most_lanes=16384),
    ),
    "gymnasium async": (
        "gymnasium",
        Contestant("gymnasium async", "gymnasium_batch.py", {"mode": "async"}, most_lanes=64, memory_lanes=(2, 8)),
    ),
    "envpool": ("envpool", Contestant("envpool", "envpool_batch.py", memory_options={"threads": 1})),
    "gymnax": ("gymnax", Contestant("gymnax", "gymnax_scan.py", memory_lanes=LARGE)),
}
"""Other libraries by name: the package each needs, and the contestant."""
C_LOOP = Contestant("C loop", "c_loop.py", memory_lanes=LARGE)
WITH_C_LOOP = ("CartPole-v1",)
PROBE = """
import importlib.metadata, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


def lineup(
    id: str, executors: Iterable[str], interpreters: Sequence[str]
) -> tuple[list[Contestant], list[SkippedContestant]]:
    """The contestants for an id, and the peers that no interpreter has installed.

    >>> [one.name for one in lineup("CartPole-v1", ["serial", "kernel"], [])[0]]
    ['ludus serial', 'ludus kernel', 'C loop']
    """
    ours = [executor(name) for name in executors]
    peers, missing = installed_peers(interpreters) if interpreters else ([], [])
    return [*ours, *peers, *([C_LOOP] if id in WITH_C_LOOP else [])], missing


def executor(name: str) -> Contestant:
    """One of `make_vec`'s executors as a contestant."""
    if name not in EXECUTORS:
        raise InvalidArgument(f"executors: expected some of {listing(EXECUTORS)}, got {shorten(name)}")
    lanes = LARGE if name == "kernel" else Contestant.memory_lanes
    return Contestant(f"ludus {name}", "executor.py", {"executor": name}, memory_lanes=lanes)


def installed_peers(interpreters: Sequence[str]) -> tuple[list[Contestant], list[SkippedContestant]]:
    """Each peer with the first interpreter that has its package, and those that none has."""
    found: list[Contestant] = []
    missing: list[SkippedContestant] = []
    versions = {python: _versions(python) for python in interpreters}
    for name, (package, peer) in PEERS.items():
        homes = [python for python in interpreters if versions[python][package] is not None]
        if homes:
            found.append(replace(peer, python=homes[0]))
        else:
            missing.append(SkippedContestant(name, 0, f"{package} is not installed"))
    return found, missing


def _versions(python: str) -> dict[str, str | None]:
    packages = sorted({package for package, _ in PEERS.values()})
    try:
        done = subprocess.run([python, "-I", "-c", PROBE, *packages], capture_output=True, check=True, timeout=60)
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InvalidArgument(f"peers: expected a Python interpreter, got {shorten(Path(python).name)}") from error
