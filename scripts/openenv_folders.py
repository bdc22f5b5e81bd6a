"""Which of OpenEnv's own folders are served here: `python scripts/openenv_folders.py [--install] CLONE/envs [NAME…]`.

Each is served by `ludus serve FOLDER`, and reset and stepped with three sampled actions by `ludus.connect` and by
OpenEnv's stock client (`sh scripts/peers.sh` installs it); a row for each. The packages that they need have to be
installed, or on PYTHONPATH; or `--install` comes first, which installs what each requires for it alone.
`NAME=VALUE` is a variable for all of them.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ludus
from ludus.core import Env
from ludus.errors import EnvError, LudusError

ROOT = Path(__file__).resolve().parents[1]
STOCK = ROOT / "build/peers/openenv-0.10.0/bin/python"
STEPS, START_S, CLIENT_S = 3, 2400.0, 300.0
CLIENT = """
import json, sys
from openenv.core.generic_client import GenericEnvClient
with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    env.reset()
    for number, action in enumerate(json.loads(sys.argv[2]), 1):
        try:
            done = env.step(action).done
        except RuntimeError as error:
            raise SystemExit(print(f"step {number} refused: {str(error)[:60]}"))
        if done:
            raise SystemExit(print(f"ended at step {number}"))
    print(len(json.loads(sys.argv[2])), "steps")
"""


@contextmanager
def served(folder: Path, options: list[str]) -> Generator[str]:
    """The address, once it answers; EnvError with the last line where it ends before."""
    command = [sys.executable, "-m", "ludus", "serve", str(folder), "--port", "0", "--deadline", "60", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as server:
        killer = threading.Timer(START_S, server.kill)
        killer.start()
        assert server.stdout is not None
        assert server.stderr is not None
        said = server.stdout.readline()
        killer.cancel()
        if not said:
            raise EnvError(" ".join(server.stderr.read().split())[-300:] or "it ended without a word")
        heard = threading.Thread(target=server.stderr.read, daemon=True)
        heard.start()
        try:
            yield said.split()[0]
        finally:
            server.terminate()


def row(folder: Path, options: list[str]) -> list[str]:
    """Seconds until it was served, how far our client came, and how far OpenEnv's."""
    begun = time.perf_counter()
    try:
        with served(folder, options) as url:
            started = f"{time.perf_counter() - begun:.1f} s"
            with ludus.connect(url, timeout=CLIENT_S) as env:
                env.action_space.seed(0)
                env.reset(seed=0)
                ours, actions = stepped(env)
            return [started, ours, by_stock_client(url, actions), repr(env.action_space)[:80]]
    except LudusError as error:
        return ["no", " ".join(str(error).split())[:300], "", ""]


def stepped(env: Env[Any, Any]) -> tuple[str, list[Any]]:
    """How far sampled actions led, and what they were; some are refused by environments whose schema allows them."""
    actions = list[Any]()
    for number in range(1, STEPS + 1):
        action = env.action_space.sample()
        data = env.action_space.encode(action, binary=False)
        actions.append(data if isinstance(data, dict) else {"action": data})
        try:
            step = env.step(action)
        except EnvError as error:
            return f"step {number} refused: {str(error).splitlines()[0][:60]}", actions
        if step.terminated or step.truncated:
            return f"ended at step {number}", actions
    return f"{STEPS} steps", actions


def by_stock_client(url: str, actions: list[Any]) -> str:
    """How far the same actions lead OpenEnv's client."""
    command = [STOCK, "-c", CLIENT, url, json.dumps(actions)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CLIENT_S, check=False)
    return done.stdout.strip() or " ".join(done.stderr.split())[-200:]


def main() -> None:
    """Print the table."""
    install = sys.argv[1] == "--install"
    first, *names = sys.argv[2:] if install else sys.argv[1:]
    where = Path(first)
    options = ["--install"] if install else []
    options += [word for name in names if "=" in name for word in ("--variable", name)]
    named = [where / name for name in names if "=" not in name]
    print("| folder | served after | `ludus.connect` | OpenEnv's client | actions |\n|---|---|---|---|---|")
    for folder in named or sorted(one.parent for one in where.glob("*/openenv.yaml")):
        print(f"| {folder.name} | {' | '.join(row(folder, options))} |", flush=True)


if __name__ == "__main__":
    main()
