"""`Simulation`: SUMO in a sandboxed process of its own, brought to any moment by playing the lights again.

libsumo has one simulation for a process. Processes are few (`LUDUS_SUMO_PROCESSES`, 64): where one more is needed, the
one that was used longest ago ends, and its simulation is played again when it is asked for. So a snapshot is the list
of what the lights did. SUMO's own saved states were refused: they leave out what vehicles have waited.
"""

import json
import os
import subprocess
import threading
import time
from collections import OrderedDict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from ludus.errors import ChannelError, MissingExtra, WorkerFailure, shorten
from ludus.sandbox import Limits, Mount, Sandbox
from ludus.sandbox.framed_process import FramedProcess, Late, python_command

__all__ = ["Measures", "Plan", "SumoRun", "Simulation"]

START_SECONDS, STEP_SECONDS = 60.0, 60.0
MEMORY = 1 << 30
MAX_PROCESSES = 64
VARIABLE = "LUDUS_SUMO_PROCESSES"

Plan = tuple[int, tuple[tuple[int, str, str], ...]]
"""Seconds to pass, and changes of lights: after which second, which light, which state."""


class SumoRun(NamedTuple):
    """What decides a simulation, beside its lights."""

    net: str
    routes: str
    """Of a file, or XML."""
    seed: int
    lanes: tuple[str, ...]


class Measures(msgspec.Struct):
    """What can be measured at a moment.

    >>> Measures(time=5.0).vehicles
    []
    """

    time: float = 0.0
    lanes: dict[str, list[float]] = {}
    """Vehicles, those that stand, their mean length, what they have waited, and the sum of relative speeds."""
    vehicles: list[list[float]] = []
    """Place, angle, speed, and seconds since each last moved."""
    arrived: int = 0
    expected: int = 0
    error: str = ""


LIVE: "OrderedDict[int, Simulation]" = OrderedDict()
"""Those that have a process, the one used longest ago first."""
LIVE_LOCK = threading.Lock()


class Simulation:
    """A holder of one process; it has none until something is asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._run: SumoRun | None = None
        self._plans: list[Plan] = []
        self._last = Measures()

    def measured(self, run: SumoRun, plans: list[Plan]) -> Measures:
        """What is there after all plans of a run; only those that the process has not seen are played."""
        with self._lock:
            process = self._process
            if process is None or run != self._run or self._plans != plans[: len(self._plans)]:
                process = self._begin(run)
            self._touch()
            try:
                for seconds, changes in plans[len(self._plans) :]:
                    self._last = process.ask(STEP_SECONDS, do="advance", seconds=seconds, changes=changes)
                    self._plans.append((seconds, changes))
            except BaseException:
                self._end()
                raise
            return self._last

    def close(self) -> None:
        """End the process, if there is one; harmless twice."""
        with self._lock:
            self._end()

    def _begin(self, run: SumoRun) -> "_Process":
        self._end()
        _end_longest_idle()
        process = _Process(run)
        self._process, self._run, self._plans, self._last = process, run, [], Measures()
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
        self._process, self._plans = None, []
        with LIVE_LOCK:
            LIVE.pop(id(self), None)

    def _touch(self) -> None:
        with LIVE_LOCK:
            LIVE[id(self)] = self
            LIVE.move_to_end(id(self))

    def retire(self) -> bool:
        """End the process unless it is being used."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._end()
            return True
        finally:
            self._lock.release()


def _end_longest_idle() -> None:
    """End what was used longest ago, where there are as many processes as there may be."""
    with LIVE_LOCK:
        most = max(1, int(os.environ.get(VARIABLE, MAX_PROCESSES)))
        oldest = list(LIVE.values())[: max(0, len(LIVE) - most + 1)]
    for one in oldest:
        one.retire()


class _Process:
    """libsumo in a sandbox, and the socket to it."""

    def __init__(self, run: SumoRun) -> None:
        self._talk = _started(run)
        try:
            routes = run.routes
            self.ask(START_SECONDS, do="start", net=run.net, routes=routes, seed=run.seed, lanes=run.lanes)
        except BaseException:
            self.close()
            raise

    def ask(self, deadline: float, **question: object) -> Measures:
        """One question; raises WorkerFailure where there is no answer in time, or SUMO refuses."""
        until = time.monotonic() + deadline
        try:
            self._talk.send(json.dumps(question).encode(), until)
            answer = self._talk.read(until, Measures)
        except Late:
            raise WorkerFailure(
                f"SUMO: expected an answer within {deadline:g} s, got none; its process was ended"
            ) from None
        except ChannelError as error:
            memory = " (out of memory)" if self._talk.process.usage().oom else ""
            raise WorkerFailure(f"SUMO: expected an answer, got: {error}{memory}", lost=True) from None
        if answer.error:
            raise WorkerFailure(
                f"SUMO: expected a network and routes that it can run, got {shorten(answer.error, 400)}"
            )
        return answer

    def close(self) -> None:
        """Kill it."""
        self._talk.close()


def _started(run: SumoRun) -> FramedProcess:
    packages = _packages()
    folders = [packages / name for name in ("libsumo", "libsumo.libs", "sumo_data", "sumolib", "traci")]
    seen = [*folders, Path(run.net), *([] if run.routes.startswith("<") else [Path(run.routes)])]
    sandbox = Sandbox(
        limits=Limits(wall=None, memory=MEMORY, processes=16),
        mounts=[Mount(str(one)) for one in seen if one.exists()],
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    argv = python_command(_source(), str(packages))
    return FramedProcess(sandbox, argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@cache
def _packages() -> Path:
    """Where libsumo is installed."""
    found = find_spec("libsumo")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(
            'SumoRL: expected the package libsumo, got none; pip install "ludus-rl[sumo]"', name="libsumo"
        )
    return Path(found.submodule_search_locations[0]).resolve().parent


@cache
def _source() -> str:
    text = Path(__file__).with_name("inside.py").read_text(encoding="utf8")
    return f"{text}\nmain(sys.argv[1])\n"
