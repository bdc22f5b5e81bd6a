"""Try the lowest versions that pyproject.toml allows, all at once: install them beside Ludus and use what needs them.

    python scripts/lowest.py [FOLDER]

The virtual environment is made anew in FOLDER (build/lowest). Only wheels are taken, but for SOURCES: a bound that
nobody can install without a compiler is raised. Left out are torch, whose lowest release is gigabytes, and extras that
no code of ours imports yet. uv installs (`uv.py`): where pins are old, pip tries release after release of what they
need in turn, and may be at it for an hour.
"""

import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = (
    "atari", "browser", "chat", "cloudpickle", "finance", "gymnasium", "jax", "minari", "openspiel", "pandas",
    "parquet", "pettingzoo", "pydantic", "push", "reasoning", "serve", "sign", "sumo", "textarena", "video", "window",
)  # fmt: skip
SOURCES = ("cellpylib", "pycosat", "zss")
"""What reasoning-gym needs and nobody published as wheels: pycosat needs a C compiler, the others are pure Python."""
TRIAL, UV = Path(__file__).with_name("lowest_trial.py"), Path(__file__).with_name("uv.py")
PATIENCE_S = 900
"""Seconds for each step: what takes longer does not end."""


def lowest(project: dict[str, Any], extras: tuple[str, ...] = EXTRAS) -> Iterator[str]:
    """Every requirement that applies here, pinned to the least version that it allows."""
    about = project["project"]
    named = [*about["dependencies"], *(one for extra in extras for one in about["optional-dependencies"][extra])]
    return (pinned(one) for one in map(Requirement, named) if one.marker is None or one.marker.evaluate())


def pinned(requirement: Requirement) -> str:
    """The requirement at its least version."""
    [least] = [clause.version for clause in requirement.specifier if clause.operator in (">=", "==")]
    return f"{requirement.name}=={least}"


def run(*command: object, folder: Path = ROOT) -> None:
    """Run a command; its failure is ours, and so is that it does not end."""
    words = [str(part) for part in command]
    shown = f"{' '.join(words[:5])} …"
    began = time.monotonic()
    try:
        done = subprocess.run(words, cwd=folder, check=False, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"lowest: expected an end within {PATIENCE_S} s, got none from {shown}")
    if done.returncode:
        sys.exit(f"lowest: expected success, got {done.returncode} from {shown}")
    print(f"{time.monotonic() - began:6.1f} s  {shown}", flush=True)


def main(folder: Path) -> None:
    """Install and try."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    pins = list(lowest(project))
    builders = [pinned(Requirement(one)) for one in project["build-system"]["requires"]]
    python, uv = folder / "bin" / "python", (sys.executable, UV)
    install = (*uv, "pip", "install", "-q", "--python", python, "--only-binary", ":all:")
    run(*uv, "venv", "-q", "--clear", "--python", sys.executable, folder)
    print(f"Installing {', '.join(pins)} ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="ludus-lowest-") as name:
        run(*install, *builders)
        run(*uv, "build", "-q", "--wheel", "--no-build-isolation", "--python", python, "--out-dir", name, ROOT)
        [wheel] = Path(name).glob("*.whl")
        sources = [option for name in SOURCES for option in ("--no-binary", name)]
        run(*install, *sources, *pins, f"ludus-rl[{','.join(EXTRAS)}] @ {wheel.as_uri()}")
        run(python, TRIAL, *pins, folder=Path(name))
    print("the lowest versions that pyproject.toml allows work")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "lowest").resolve())
