"""What `cgroup_v2.sh` runs in its machine, as an ordinary user in a unit of systemd: figures, as one JSON object."""

import json
import platform
import subprocess
import sys

import msgspec

from ludus.sandbox import Limits, Sandbox
from tests.attacks import attacks, run_attack

PATIENCE_S = 300.0
"""For an attack to be over: user-mode Linux is many times as slow as the machine, which may be busy itself."""
CHOSEN = ("fork-bomb", "memory-bomb", "memory-by-children", "memory-by-files", "fill-with-names", "daemon")


def main(place: str) -> int:
    """Attack limits; the exit code tells whether one got through, or was kept by something else than a group."""
    box = Sandbox("bubblewrap", limits=Limits(wall=PATIENCE_S))
    means = {name: getattr(box.guarantees, name) for name in ("memory", "processes")}
    chosen = [msgspec.structs.replace(one, patience=PATIENCE_S) for one in attacks() if one.name in CHOSEN]
    outcomes = [run_attack(one, box) for one in chosen]
    wrong = [f"{one.attack}: {one.evidence}" for one in outcomes if not one.held]
    wrong += [f"{name} is kept by {what or 'nothing'}" for name, what in means.items() if "cgroup v2" not in what]
    held = f"{sum(one.held for one in outcomes)} of {len(outcomes)} attacks on limits came to nothing"
    version = subprocess.run(["systemctl", "--version"], capture_output=True, text=True, check=False).stdout.split()
    summary = "; ".join([f"memory by {means['memory']}, processes by {means['processes']}", held, *wrong])
    print(json.dumps({"place": place, "kernel": platform.release(), "systemd": version[1], "told": summary}))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
