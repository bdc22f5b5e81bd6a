"""Try the lowest versions that pyproject.toml allows, all at once: install them beside Ludus and use what needs them.

    python scripts/lowest.py [FOLDER]

The virtual environment is made anew in FOLDER (build/lowest). Only wheels are taken: a bound that nobody can install
without a compiler is raised. Left out are torch, whose lowest release is gigabytes, and extras that no code of ours
imports yet.
"""

import subprocess
import sys
import tempfile
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
TRIAL = Path(__file__).with_name("lowest_trial.py")


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
    """Run a command; its failure is ours."""
    done = subprocess.run([str(part) for part in command], cwd=folder, check=False)
    if done.returncode:
        sys.exit(f"lowest: expected success, got {done.returncode} from {' '.join(map(str, command[:5]))} …")


def main(folder: Path) -> None:
    """Install and try."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    pins = list(lowest(project))
    builders = [pinned(Requirement(one)) for one in project["build-system"]["requires"]]
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    run("sh", "scripts/venv.sh", sys.executable, folder)
    print(f"Installing {', '.join(pins)} ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="ludus-lowest-") as name:
        run(*pip, "install", "-qq", "--only-binary", ":all:", *builders)
        run(*pip, "wheel", "-qq", "--no-deps", "--no-build-isolation", "--wheel-dir", name, ROOT)
        [wheel] = Path(name).glob("*.whl")
        run(*pip, "install", "-qq", "--only-binary", ":all:", *pins, f"{wheel}[{','.join(EXTRAS)}]")
        run(python, TRIAL, *pins, folder=Path(name))
    print("the lowest versions that pyproject.toml allows work")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "lowest").resolve())
