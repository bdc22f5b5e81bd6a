r"""TRL's own OpenEnv examples, unmodified, on OpenEnv's server and on ours: are the rewards equal?

    sh scripts/peers.sh
    pip install --target build/peers/textarena --no-deps textarena==0.7.4 nltk regex joblib tqdm click chess \
        python-dotenv pillow numpy
    pip install --target build/peers/browsergym browsergym-core==0.14.3 browsergym-miniwob==0.14.3 \
        playwright==1.44.0 greenlet==3.0.3 miniwob pillow numpy
    python scripts/trl_examples.py TRL/examples/scripts/openenv OPENENV/envs [wordle …]

The two folders are of clones; `echo.py` is of a time when `echo_env` had models, so that it wants a clone of before
23 January 2026. Each script runs as it is in OpenEnv's virtual environment; `trl` and `datasets` are
stand-ins whose trainer plays what a model would (`trl_players.py`): it calls the script's own tools, and prints the
rewards that the script gives.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import ludus
from ludus.envs.open.browsergym.chromium import program
from ludus.server.served_env import ServedEnv

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build/peers/openenv-0.10.0/bin/python"
MORE = tuple(ROOT / "build/peers" / name for name in ("textarena", "browsergym"))
ENGINES = sysconfig.get_paths()["purelib"]
"""Where OpenEnv's own server finds the engines of the twelve, behind all else."""
TIMEOUT_S = 300
PLAYERS = 5
"""Addresses for a script that wants one for each environment."""

DATASETS = """
class Dataset:
    def __init__(self, columns): self.columns = columns
    @classmethod
    def from_dict(cls, columns): return cls(columns)
    @classmethod
    def from_list(cls, rows): return cls({})
def load_dataset(*args, **kwargs): raise SystemExit("it needs a dataset of a hub")
"""
STOCK = """
import json, os, sys, tempfile
sys.path.insert(0, sys.argv[1])
sys.path.extend(sys.argv[3:])
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
if sys.argv[2] == "browsergym":
    import miniwob, playwright
    from browsergym_env.models import BrowserGymAction as Action, BrowserGymObservation as Observation
    from browsergym_env.server.browsergym_environment import BrowserGymEnvironment
    os.environ["MINIWOB_URL"] = f"file://{os.path.dirname(miniwob.__file__)}/html/miniwob/"
    # Playwright looks for a browser of its own, which this machine's stands for.
    listed = json.load(open(os.path.join(os.path.dirname(playwright.__file__), "driver/package/browsers.json")))
    revision = next(one["revision"] for one in listed["browsers"] if one["name"] == "chromium")
    where = os.environ["PLAYWRIGHT_BROWSERS_PATH"] = tempfile.mkdtemp()
    os.makedirs(f"{where}/chromium-{revision}/chrome-linux")
    os.symlink(os.environ["CHROMIUM"], f"{where}/chromium-{revision}/chrome-linux/chrome")
    class Plain(BrowserGymEnvironment):
        def _create_observation(self, *args, **kwargs):
            seen = super()._create_observation(*args, **kwargs)
            seen.metadata = {}  # it holds arrays, which OpenEnv 0.10.0 fails to serialise
            return seen
    make = lambda: Plain(task_name="click-test")
elif sys.argv[2] == "carla":
    from carla_env.server.app import CarlaAction as Action, CarlaObservation as Observation, create_environment as make
elif sys.argv[2] == "textarena":
    from textarena_env.models import TextArenaAction as Action, TextArenaObservation as Observation
    from textarena_env.server.environment import TextArenaEnvironment
    make = lambda: TextArenaEnvironment(env_id=os.environ["TEXTARENA_ENV_ID"], download_nltk=False)
elif sys.argv[2] == "openspiel":
    from openspiel_env.models import OpenSpielAction as Action, OpenSpielObservation as Observation
    from openspiel_env.server.openspiel_environment import OpenSpielEnvironment
    make = lambda: OpenSpielEnvironment("catch")
elif sys.argv[2] == "echo":
    from echo_env.models import EchoAction as Action, EchoObservation as Observation
    from echo_env.server.echo_environment import EchoEnvironment as make
else:
    raise SystemExit("no such server here")
places = 1 if sys.argv[2] in ("carla", "echo") else 16  # they may not have more
app = create_fastapi_app(make, Action, Observation, max_concurrent_envs=places)
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listener])
"""


class Example(NamedTuple):
    """What a script is run with."""

    words: str
    """Its command line, with `{0}` and `{1}` for the addresses."""
    servers: tuple[tuple[str, str], ...]
    """Our environment, or a folder of OpenEnv's, and what OpenEnv's own server is told to serve."""
    variables: dict[str, str] = {}  # noqa: RUF012  (nobody writes to it)
    arguments: dict[str, object] = {}  # noqa: RUF012  (as above)
    """Of our environment, the last one."""


TEXTS, CATCH, PAGES = (
    ("open/TextArena-v0", "textarena"),
    ("open/OpenSpiel-v0", "openspiel"),
    ("open/BrowserGym-v0", "browsergym"),
)
CARLA = Example(f"--env-urls {' '.join(['{0}'] * PLAYERS)}", (("carla_env", "carla"),))  # the folder mocks the engine
NUMBER = {"TEXTARENA_ENV_ID": "GuessTheNumber-v0"}
EXAMPLES = {
    "echo": Example("--env-host {0}", (("open/Echo-v0", "echo"),)),
    "wordle": Example("--env-url {0}", (TEXTS,), NUMBER),
    "catch": Example("--env-mode space --env-host {0}", (CATCH,), arguments={"game": "catch"}),
    "multi_env": Example("--wordle-url {0} --catch-url {1}", (TEXTS, CATCH), NUMBER, {"game": "catch"}),
    "sudoku": Example("--env-mode space --env-host {0}", (TEXTS,), {"TEXTARENA_ENV_ID": "Sudoku-v0"}),
    "browsergym_llm": Example("--space-url {0}", (PAGES,)),
    "browsergym": Example("--space-url {0}", (PAGES,)),
    **dict.fromkeys(("carla", "carla_vlm", "carla_vlm_gemma"), CARLA),
}


def played(script: Path, envs: Path, stand_ins: str, *arguments: str) -> dict[str, object]:
    """What a script's players were paid."""
    paths = os.pathsep.join(map(str, [stand_ins, envs, MORE[0]]))  # which has Pillow, for scripts that show pictures
    done = subprocess.run(
        [PYTHON, script, *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=stand_ins,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("TOLD ")]
    if not lines:
        return {"failed": done.stderr.strip()[-800:]}
    return json.loads(lines[-1].removeprefix("TOLD "))


def our_url(stack: ExitStack, envs: Path, name: str, arguments: dict[str, object]) -> str:
    """Our server of an environment, or of a folder of OpenEnv's, whose packages are those of its own clients."""
    if "/" in name:
        return stack.enter_context(ludus.serve(ServedEnv(name, arguments=arguments), port=0, block=False)).url
    command = [sys.executable, "-m", "ludus", "serve", str(envs / name), "--port", "0"]
    packages = next(PYTHON.parents[1].glob("lib/*/site-packages"))
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    server = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
    stack.callback(server.terminate)
    assert server.stdout is not None
    return server.stdout.readline().split()[0]


def stock_url(stack: ExitStack, envs: Path, name: str) -> str:
    """OpenEnv's own server."""
    command = [str(PYTHON), "-c", STOCK, str(envs), name, *map(str, MORE), ENGINES]
    environment = {**os.environ, "CHROMIUM": program()} if name == "browsergym" else None
    server = stack.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    )
    stack.callback(server.terminate)
    assert server.stdout is not None
    return f"http://127.0.0.1:{int(server.stdout.readline())}"


def compared(name: str, scripts: Path, envs: Path, stand_ins: str) -> dict[str, dict[str, object]]:
    """Rewards of a script's players, by server."""
    example = EXAMPLES[name]
    os.environ.update(example.variables)
    found: dict[str, dict[str, object]] = {}
    with ExitStack() as stack:
        last = example.servers[-1]
        ours = [our_url(stack, envs, one[0], example.arguments if one is last else {}) for one in example.servers]
        theirs = [stock_url(stack, envs, one[1]) for one in example.servers]
        for server, urls in (("ours", ours), ("OpenEnv's", theirs)):
            found[server] = played(scripts / f"{name}.py", envs, stand_ins, *example.words.format(*urls).split())
    return found


def main() -> None:
    """Print a row for each script; exit with 1 where rewards differ, or a script failed."""
    scripts, envs, *names = sys.argv[1:]
    differ = False
    with tempfile.TemporaryDirectory() as stand_ins:
        Path(stand_ins, "datasets.py").write_text(DATASETS, encoding="utf8")
        shutil.copyfile(Path(__file__).with_name("trl_players.py"), Path(stand_ins, "trl.py"))
        for name in names or EXAMPLES:
            found = compared(name, Path(scripts).resolve(), Path(envs).resolve(), stand_ins)
            for server, rewards in found.items():
                print(f"{name:16}{server:12}{json.dumps(rewards)}", flush=True)
            differ |= len({json.dumps(rewards, sort_keys=True) for rewards in found.values()}) > 1
            differ |= any("failed" in rewards for rewards in found.values())
    sys.exit(differ)


if __name__ == "__main__":
    main()
