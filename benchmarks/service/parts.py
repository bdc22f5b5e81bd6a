"""What other scripts measure of the same bars, and how much code it takes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from servers import ROOT, surroundings

ROOMS = ("sandbox/environment", "client", "serve", "wire", "remote")
REVIEWED = 17_423
"""Lines of these packages when an environment that is somewhere else was still built three times."""
WISH = 2 / 3


def figures(folder: Path, script: str, *arguments: str) -> list[dict[str, Any]]:
    """What a script of this folder writes as JSON."""
    found = folder / f"{script}.json"
    argv = [sys.executable, str(ROOT / "benchmarks" / script), *arguments, "--json", str(found)]
    # No check: a script whose bar is not met says so by how it ends, and has measured all the same.
    environment = surroundings(sys.executable)
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if not found.exists():
        raise SystemExit(f"{script}: it wrote nothing\n{done.stderr}")
    return json.loads(found.read_text())


def lines() -> dict[str, int]:
    """Lines of Python of each of the packages that are the far side of an environment."""
    paths = {room: sorted((ROOT / "ludus" / room).rglob("*.py")) for room in ROOMS}
    return {room: sum(len(one.read_text().splitlines()) for one in found) for room, found in paths.items()}
