"""Which of OpenEnv's own folders start here: `python scripts/openenv_folders.py CLONE/envs [NAME…]`, a row for each.

Each is made as `ludus serve FOLDER` makes it, reset with a seed, and stepped with three sampled actions. The packages
that they need have to be installed, or on PYTHONPATH, as `build/peers/openenv-0.10.0` has OpenEnv's own; or `--install`
comes first, which installs what each requires for it alone. `NAME=VALUE` is a variable for all of them.
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


def row(folder: Path, settings: Settings) -> tuple[str, str]:
    """Whether it starts, and what it is or lacks."""
    begun = time.perf_counter()
    try:
        found = offered([str(folder)], settings)
        if isinstance(found, Application):
            return "application", "served as it is"
        with found[0].make() as env:
            env.action_space.seed(0)
            env.reset(seed=0)
            played = stepped(env)
    except LudusError as error:
        return "no", " ".join(str(error).split())[:200]
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
    install = sys.argv[1] == "--install"
    first, *names = sys.argv[2:] if install else sys.argv[1:]
    where, variables = Path(first), dict(name.split("=", 1) for name in names if "=" in name)
    settings = Settings(deadline=60.0, install=install, variables=variables)
    named = [where / name for name in names if "=" not in name]
    print("| folder | starts | |\n|---|---|---|")
    for folder in named or sorted(one.parent for one in where.glob("*/openenv.yaml")):
        starts, what = row(folder, settings)
        print(f"| {folder.name} | {starts} | {what} |", flush=True)


if __name__ == "__main__":
    main()
