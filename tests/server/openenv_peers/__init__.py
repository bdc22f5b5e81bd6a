"""OpenEnv's stock packages, each in a virtual environment of its own, and the programs that are run in them."""

import json
import os
import subprocess
from pathlib import Path

__all__ = ["VERSIONS", "python_of", "run"]

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = ("0.10.0", "0.3.0")
SECONDS = 600


def python_of(version: str) -> Path:
    """The interpreter that has this version; installed now, where it is not there yet."""
    subprocess.run(["sh", "scripts/peers.sh"], cwd=ROOT, check=True, timeout=1800, capture_output=True)
    return ROOT / "build" / "peers" / f"openenv-{version}" / "bin" / "python"


def run(version: str, program: str, *arguments: str):
    """What a program of this folder prints as JSON, run with that version; it fails where the program does."""
    command = [str(python_of(version)), str(Path(__file__).with_name(f"{program}.py")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=quiet(), check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def quiet() -> dict[str, str]:
    """The environment without proxies and without what our own tests set for Python."""
    unwanted = ("PYTHON", "COV_", "PYTEST", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {name: one for name, one in os.environ.items() if not name.upper().startswith(unwanted)}
