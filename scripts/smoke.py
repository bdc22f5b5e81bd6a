"""Try built distributions as a user would: a fresh environment, a folder outside the repository, the classical loop.

    python scripts/smoke.py dist/*

Dependencies are not installed again: the fresh environment sees those of the interpreter that runs this script. Ludus
itself must be the installed distribution, and the trial asserts that it is.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

TRIAL = """
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import ludus

home = Path(ludus.__file__).resolve()
assert home.is_relative_to(Path(sys.prefix).resolve()), f"expected the installed ludus, got {home}"
assert version("ludus-rl") == ludus.__version__, (version("ludus-rl"), ludus.__version__)
assert (files("ludus") / "py.typed").is_file(), "py.typed is not in the distribution"

with ludus.make("GridWorld-v0") as env:
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    for _ in range(100):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        if terminated or truncated:
            observation, info = env.reset()
"""


def package_files(repository: Path) -> list[str]:
    """Every file of the package that is not Python code: each must be in each distribution."""
    data = (path for path in repository.joinpath("ludus").rglob("*") if path.is_file())
    kept = (path for path in data if path.suffix not in {".py", ".pyc"} and "__pycache__" not in path.parts)
    return sorted(str(path.relative_to(repository)) for path in kept)


def run(*command: object, folder: Path) -> None:
    """Run a command in `folder`, with nothing of this environment's Python settings; its failure is ours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    subprocess.run([str(part) for part in command], cwd=folder, env=clean, check=True, stdout=subprocess.DEVNULL)


def smoke(distribution: Path, data: list[str]) -> None:
    """Install one wheel or sdist into a fresh environment outside the repository, and run the loop there."""
    with tempfile.TemporaryDirectory(prefix="ludus-smoke-") as name:
        folder = Path(name)
        home = folder / "venv"
        venv.create(home, symlinks=True)
        python = home / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", python]
        run(*pip, "install", "-qq", "--no-deps", distribution, folder=folder)
        site = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(home)}))
        missing = [file for file in data if not (site / file).is_file()]
        if missing:
            sys.exit(f"{distribution.name}: expected the package's data files, missing {', '.join(missing)}")
        # A path in a .pth file comes after the environment's own; .pth files in it (editable installs) are not read.
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        run(python, "-c", TRIAL, folder=folder)
        run(home / "bin" / "ludus", "--help", folder=folder)
    print(f"{distribution.name}: installed outside the repository, loop and command line work")


def main() -> None:
    """Try each distribution named on the command line."""
    distributions = [Path(argument).resolve() for argument in sys.argv[1:]]
    kinds = sorted(distribution.suffix for distribution in distributions)
    if kinds != [".gz", ".whl"]:
        sys.exit(f"expected one wheel and one sdist, got {[distribution.name for distribution in distributions]}")
    data = package_files(Path(__file__).resolve().parent.parent)
    for distribution in distributions:
        smoke(distribution, data)


if __name__ == "__main__":
    main()
