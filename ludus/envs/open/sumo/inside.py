"""The simulation inside the sandbox: SUMO by libsumo, one to a process, driven over one socket.

The text of this file is what is started there: it is the one that imports libsumo. Each question is a length and JSON;
`start` begins a simulation, `advance` lets seconds pass while lights change, and gives what can be measured then.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    import libsumo

__all__ = ["main"]

CHANNEL = 3
OPTIONS = (
    "--no-step-log true --no-warnings true --duration-log.disable true --xml-validation never "
    "--xml-validation.net never --xml-validation.routes never --max-depart-delay -1 "
    "--waiting-time-memory 10000 --time-to-teleport -1"
)


class LibsumoSimulation:
    """One simulation, and what has been waited so far, vehicle by vehicle and lane by lane."""

    def __init__(self) -> None:
        self.waited: dict[str, dict[str, float]] = {}
        self.lanes: list[str] = []
        self.arrived = 0

    def start(self, net: str, routes: str, seed: int, lanes: list[str]) -> dict[str, object]:
        """Load a network and its routes; text in place of a path is written down first."""
        if routes.startswith("<"):
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "demand.rou.xml")  # noqa: S108  (the sandbox's own)
            with open(path, "w", encoding="utf8") as file:
                file.write(routes)
            routes = path
        self.lanes = lanes
        libsumo.start(["sumo", "-n", net, "-r", routes, "--seed", str(seed), *OPTIONS.split()])
        return {"started": True}

    def advance(self, seconds: int, changes: list[tuple[int, str, str]]) -> dict[str, object]:
        """Let seconds pass; a change is the second after which a light gets a state."""
        for second in range(seconds):
            for at, light, state in changes:
                if at == second:
                    libsumo.trafficlight.setRedYellowGreenState(light, state)
            libsumo.simulationStep()
            self.arrived += libsumo.simulation.getArrivedNumber()
        for at, light, state in changes:
            if at >= seconds:
                libsumo.trafficlight.setRedYellowGreenState(light, state)
        return self.measured()

    def measured(self) -> dict[str, object]:
        """What there is on each lane, and each vehicle as it is drawn."""
        vehicles = [
            [*libsumo.vehicle.getPosition(one), libsumo.vehicle.getAngle(one), libsumo.vehicle.getSpeed(one),
             libsumo.vehicle.getWaitingTime(one)]
            for one in libsumo.vehicle.getIDList()
        ]  # fmt: skip
        return {
            "time": libsumo.simulation.getTime(),
            "lanes": {lane: self.lane(lane) for lane in self.lanes},
            "vehicles": vehicles,
            "arrived": self.arrived,
            "expected": libsumo.simulation.getMinExpectedNumber(),
        }

    def lane(self, lane: str) -> list[float]:
        """Vehicles, those that stand, their mean length, what they have waited here, and the sum of relative speeds."""
        waited, speeds = 0.0, 0.0
        for one in libsumo.lane.getLastStepVehicleIDs(lane):
            before = self.waited.setdefault(one, {})
            before[lane] = libsumo.vehicle.getAccumulatedWaitingTime(one) - sum(
                seconds for other, seconds in before.items() if other != lane
            )
            waited += before[lane]
            speeds += libsumo.vehicle.getSpeed(one) / libsumo.vehicle.getAllowedSpeed(one)
        return [
            libsumo.lane.getLastStepVehicleNumber(lane),
            libsumo.lane.getLastStepHaltingNumber(lane),
            libsumo.lane.getLastStepLength(lane),
            waited,
            speeds,
        ]


def taken(channel: socket.socket, size: int) -> bytes:
    """So many bytes; the end of the channel is the end of the process."""
    data = b""
    while len(data) < size:
        piece = channel.recv(size - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


class Packages:
    """Finds SUMO's packages by their folders.

    Where these are seen and the folder above them is not, as by Landlock, `sys.path` finds nothing: it lists folders.
    """

    names = ("libsumo", "sumolib", "traci", "sumo_data")

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Of a package there; of what is in it, the package's own path is asked."""
        del target
        place = os.path.join(self.folder, name)
        if path is not None or name not in self.names or not os.path.isdir(place):
            return None
        first = os.path.join(place, "__init__.py")
        if os.path.isfile(first):
            return spec_from_file_location(name, first, submodule_search_locations=[place])
        found = ModuleSpec(name, None, is_package=True)  # data without code
        found.submodule_search_locations = [place]
        return found


def main(packages: str) -> None:
    """Answer until the channel is closed."""
    sys.meta_path.append(Packages(packages))  # pyright: ignore[reportArgumentType]  (older finders have less)
    global libsumo
    import libsumo  # found only now

    run = LibsumoSimulation()
    with socket.socket(fileno=CHANNEL) as channel:
        while True:
            question = json.loads(taken(channel, int.from_bytes(taken(channel, 4), "big")))
            try:
                answer = getattr(run, question.pop("do"))(**question)
            except Exception as error:  # SUMO's words are what a user needs
                answer = {"error": f"{type(error).__name__}: {error}"}
            data = json.dumps(answer).encode()
            channel.sendall(len(data).to_bytes(4, "big") + data)
