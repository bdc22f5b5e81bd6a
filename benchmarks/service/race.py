"""The same work by both, side by side: rounds that take turns at being first, and the median of each."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from servers import (
    IS_WHOLE,
    PEER,
    Client,
    Http,
    Place,
    Services,
    free_port,
    ludus_server,
    openenv_server,
    running,
    surroundings,
)

LANES = SESSIONS = 64
PROCESSES = 4
"""Of clients, where one is what holds the sessions back."""
BODY = {"action": {"amount": 1, "note": "on"}}


@dataclass
class Row:
    """A piece of work, done by both."""

    work: str
    bar: float | None = None
    """The least ratio; None: for information."""
    unit: Literal["µs", "ms", "steps/s"] = "µs"
    theirs: list[float] = field(default_factory=list[float])
    ours: list[float] = field(default_factory=list[float])

    @property
    def medians(self) -> tuple[float, float]:
        """Theirs and ours."""
        return statistics.median(self.theirs), statistics.median(self.ours)

    @property
    def ratio(self) -> float:
        """How many times better ours is."""
        theirs, ours = self.medians
        return ours / theirs if self.unit == "steps/s" else theirs / ours

    @property
    def met(self) -> bool | None:
        """Whether the bar is; None where there is none."""
        return None if self.bar is None else self.ratio >= self.bar

    def take(self, theirs: Callable[[], float], ours: Callable[[], float]) -> None:
        """One round."""
        turns = [(self.theirs, theirs), (self.ours, ours)]
        for times, work in turns if len(self.ours) % 2 else reversed(turns):
            times.append(work())

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        theirs, ours = self.medians
        plain = {"work": self.work, "unit": self.unit, "openenv": theirs, "ludus": ours, "ratio": self.ratio}
        return {**plain, "bar": self.bar, "met": self.met}


def race_steps(found: Services, rounds: int, scale: float) -> list[Row]:
    """One session of each kind, and a batch in one session."""
    one, unix = Row("one session, WebSocket", 3.0), Row("one session, Unix socket; OpenEnv's WebSocket", 8.0)
    lanes = Row(f"{LANES} lanes in one frame; one session of OpenEnv", 40.0, "steps/s")
    http, frame = Row("one session, HTTP", 2.0), Row("one session, 210×160×3 observation, WebSocket", 30.0)
    many, few = int(1000 * scale), max(5, int(20 * scale))
    with Client.openenv(found) as theirs, Client.ludus(found) as ours:
        plain, stateless = Http(found.ours.port, "/env/Count"), Http(found.count.port)
        plain.post("/reset", {"seed": 0})
        for work in ("one", "unix", "lanes", "frame"):  # a server has to have seen a step to know what it costs
            ours.seconds(work, 200)
        theirs.seconds("one", 200)
        for _ in range(rounds):
            plain.renew()
            stateless.renew()
            one.take(lambda: theirs.seconds("one", many) * 1e6, lambda: ours.seconds("one", many) * 1e6)
            unix.take(lambda: theirs.seconds("one", many) * 1e6, lambda: ours.seconds("unix", many) * 1e6)
            lanes.take(lambda: 1 / theirs.seconds("one", many), lambda: LANES / ours.seconds("lanes", many // 4))
            http.take(lambda: posts(stateless, many // 4) * 1e6, lambda: posts(plain, many // 4) * 1e6)
            frame.take(lambda: theirs.seconds("frame", few) * 1e6, lambda: ours.seconds("frame", few * 10) * 1e6)
    return [one, unix, lanes, http, frame]


def posts(client: Http, count: int) -> float:
    """Seconds of one step over HTTP."""
    begin = time.perf_counter()
    for _ in range(count):
        client.post("/step", BODY)
    return (time.perf_counter() - begin) / count


def race_sessions(found: Services, rounds: int, seconds: float) -> list[Row]:
    """Many sessions that step at once, from one process of clients and from several."""
    alone = Row(f"{SESSIONS} sessions at once, async clients in one process", 4.0, "steps/s")
    shared = Row(f"{SESSIONS} sessions at once, async clients in {PROCESSES} processes", None, "steps/s")
    for row, processes in ((alone, 1), (shared, PROCESSES)):
        each = SESSIONS // processes
        with ExitStack() as stack:
            theirs = [stack.enter_context(Client.openenv(found, each)) for _ in range(processes)]
            ours = [stack.enter_context(Client.ludus(found, each)) for _ in range(processes)]
            for _ in range(rounds):
                row.take(lambda theirs=theirs: crowd(theirs, seconds), lambda ours=ours: crowd(ours, seconds))
    return [alone, shared]


def crowd(clients: list[Client], seconds: float) -> float:
    """Steps a second of all clients together."""
    for one in clients:
        one.begin("crowd", seconds)
    return sum(one.end() for one in clients)


def lanes_beside_sessions(lanes: Row, sessions: Row) -> Row:
    """For information: a batch beside the most that OpenEnv has for it, as many sessions."""
    work = f"{LANES} lanes in one frame; {SESSIONS} sessions of OpenEnv"
    return Row(work, None, "steps/s", theirs=sessions.theirs, ours=lanes.ours)


def race_starts(rounds: int) -> list[Row]:
    """Import of the client, and start of the server."""
    # The bar is about what an install of OpenEnv imports; half of that is gradio.
    imports = Row("import of the client", 20.0 if IS_WHOLE else None, "ms")
    starts = Row("start of the server", None, "ms")
    for server in (ludus_server, partial(openenv_server, "count")):
        start_seconds(server)  # once, so that what is compiled is there
    for _ in range(rounds):
        imports.take(
            lambda: import_seconds(str(PEER), "openenv.core.env_client") * 1e3,
            lambda: import_seconds(sys.executable, "ludus.client") * 1e3,
        )
        starts.take(
            lambda: start_seconds(partial(openenv_server, "count")) * 1e3,
            lambda: start_seconds(ludus_server) * 1e3,
        )
    return [imports, starts]


def import_seconds(python: str, module: str) -> float:
    """Seconds that an interpreter takes to import a module, its own start not counted."""
    code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
    environment = surroundings(python)
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def start_seconds(server: Callable[[Place], list[str]]) -> float:
    """Seconds from the command to the first answer about its health."""
    place = Place(free_port())
    with running(server(place), place.port) as took:
        return took
