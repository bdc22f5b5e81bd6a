"""Which of OpenEnv's own folders start here: `python scripts/openenv_folders.py CLONE/envs [NAME…]`, a row for each.

Each is made as `ludus serve FOLDER` makes it, reset with a seed, and stepped with three sampled actions. The packages
that they need have to be installed, or on PYTHONPATH, as `build/peers/openenv-0.10.0` has OpenEnv's own.
"""

import sys
import time
from pathlib import Path
from typing import Any

from ludus.core import Env
from ludus.errors import EnvError, LudusError
from ludus.server.settings import Settings
from ludus.server.targets import Application, offered

STEPS = 3


def row(folder: Path) -> tuple[str, str]:
    """Whether it starts, and what it is or lacks."""
    begun = time.perf_counter()
    try:
        found = offered([str(folder)], Settings(deadline=60.0))
        if isinstance(found, Application):
            return "application", "served as it is"
        with found[0].make() as env:
            env.action_space.seed(0)
            env.reset(seed=0)
            played = stepped(env)
    except LudusError as error:
        return "no", " ".join(str(error).split("\n")[0].split())[:160]
    return "yes", f"{time.perf_counter() - begun:.1f} s, {played}, {env.action_space!r}"[:160]


def stepped(env: Env[Any, Any]) -> str:
    """How far sampled actions led; some are refused by environments whose schema allows them."""
    for number in range(STEPS):
        try:
            step = env.step(env.action_space.sample())
        except EnvError as error:
            return f"step {number + 1} refused: {str(error).splitlines()[0][:60]}"
        if step.terminated or step.truncated:
            return f"ended at step {number + 1}"
    return f"{STEPS} steps"


def main() -> None:
    """Print the table."""
    where, names = Path(sys.argv[1]), sys.argv[2:]
    folders = [where / name for name in names] or sorted(one.parent for one in where.glob("*/openenv.yaml"))
    print("| folder | starts | |\n|---|---|---|")
    for folder in folders:
        starts, what = row(folder)
        print(f"| {folder.name} | {starts} | {what} |", flush=True)


if __name__ == "__main__":
    main()
