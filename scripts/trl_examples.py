r"""TRL's own OpenEnv examples, unmodified, on OpenEnv's server and on ours: are the rewards equal?

    sh scripts/peers.sh
    pip install --target build/peers/textarena --no-deps textarena==0.7.4 nltk regex joblib tqdm click chess \
        python-dotenv pillow numpy
    pip install --target build/peers/browsergym browsergym-core==0.14.3 browsergym-miniwob==0.14.3 \
        playwright==1.44.0 greenlet==3.0.3 miniwob pillow numpy
    python scripts/trl_examples.py TRL/examples/scripts/openenv OPENENV/envs [wordle …]

The two folders are of clones. Each script runs as it is in OpenEnv's virtual environment; `trl` and `datasets` are
stand-ins whose trainer plays what a model would: it calls the script's own tools, and prints the rewards that the
script gives. Players' rewards depend on no secret: each wins, or never could. One of them finds all hints by
searching the whole text, as programs do that were written for one transcript.
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import ludus
from ludus.envs.open.browsergym.chromium import program
from ludus.server.served_env import ServedEnv

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build/peers/openenv-0.10.0/bin/python"
MORE = tuple(ROOT / "build/peers" / name for name in ("textarena", "browsergym"))
TIMEOUT_S = 300
PLAYERS = 5
"""Addresses for a script that wants one for each environment."""

DATASETS = """
class Dataset:
    @classmethod
    def from_dict(cls, columns): return cls()
    @classmethod
    def from_list(cls, rows): return cls()
def load_dataset(*args, **kwargs): raise SystemExit("it needs a dataset of a hub")
"""
TRL = '''
import json, re, sys
class GRPOConfig:
    def __init__(self, **given): self.__dict__.update(given)
class RichProgressCallback: pass

def bisect(env, text):
    """Guess between the bounds that all hints in the whole text leave; the text is what a model would have read."""
    low, high, whole, guesses = 1, 20, text, []
    while not env.done:
        for guess, hint in zip(guesses, re.findall(r"number is (higher|lower)", whole)):
            low, high = (max(low, guess + 1), high) if hint == "higher" else (low, min(high, guess - 1))
        guesses.append((low + high) // 2)
        whole += env.guess(f"[{guesses[-1]}]")

def nonsense(env, text):
    while not env.done: env.guess("I do not know")

def forgets_brackets(env, text):
    """Invalid once, and then as good as any."""
    env.guess("[none of them]")
    bisect(env, text)

def leaves(env, text): pass

def clicks(env, text):
    if not isinstance(text, str):  # what a model that reads pictures is given: text among them
        text = " ".join(str(one.get("text", "")) for one in text)
    found = re.search(r"\\[(\\w+)\\] button", text)
    env.click(found[1] if found else "13")  # the one button of click-test

def waits(env, text):
    env.noop()

def looks(env, text): return env.observe()

def brakes(env, text): return [env.observe(), env.emergency_stop()]

def swerves(env, text): return env.lane_change("left")

PLAYERS = {
    "guess": [bisect, nonsense, forgets_brackets, leaves],
    "click": [clicks, waits],
    "lane_change": [looks, brakes, swerves],
}

class GRPOTrainer:
    def __init__(self, *, reward_funcs, environment_factory, **given):
        self.factory = environment_factory
        self.rewards = reward_funcs if isinstance(reward_funcs, list) else [reward_funcs]
    def train(self):
        told = {}
        probe = self.factory()
        [players] = [some for tool, some in PLAYERS.items() if hasattr(probe, tool)]
        for player in players:
            env = self.factory()
            text = env.reset() or ""
            try:
                said = player(env, text)
            except Exception as error:
                told[player.__name__] = f"{type(error).__name__}: {error}"[:300]
                continue
            told[player.__name__] = [one(environments=[env], completions=[[]], prompts=[[]])[0] for one in self.rewards]
            if said is not None:
                told[player.__name__].append(str(said))  # what a model reads is to be equal as well
            env.client.close()
        print("TOLD " + json.dumps(told), flush=True)
    def save_model(self, *args, **kwargs): pass
'''
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
else:
    raise SystemExit("no such server here")
places = 1 if sys.argv[2] == "carla" else 16  # it may not have more
app = create_fastapi_app(make, Action, Observation, max_concurrent_envs=places)
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listener])
"""
EXAMPLES = {
    "wordle": ("open/TextArena-v0", "textarena", "--env-url", {"TEXTARENA_ENV_ID": "GuessTheNumber-v0"}, {}),
    "browsergym_llm": ("open/BrowserGym-v0", "browsergym", "--space-url", {}, {}),
    "browsergym": ("open/BrowserGym-v0", "browsergym", "--space-url", {}, {}),
    **{
        name: ("carla_env", "carla", "--env-urls", {}, {}) for name in ("carla", "carla_vlm", "carla_vlm_gemma")
    },  # OpenEnv's folder, which has a mock of the engine
}
"""By script: our environment or OpenEnv's folder, its own server, the option with the address, variables, arguments."""


def played(script: Path, envs: Path, stand_ins: str, *arguments: str) -> dict[str, object]:
    """What a script's players were paid."""
    paths = os.pathsep.join(map(str, [stand_ins, envs, *MORE]))
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
    command = [str(PYTHON), "-c", STOCK, str(envs), name, *map(str, MORE)]
    environment = {**os.environ, "CHROMIUM": program()} if name == "browsergym" else None
    server = stack.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    )
    stack.callback(server.terminate)
    assert server.stdout is not None
    return f"http://127.0.0.1:{int(server.stdout.readline())}"


def compared(name: str, scripts: Path, envs: Path, stand_ins: str) -> dict[str, dict[str, object]]:
    """Rewards of a script's players, by server."""
    ours, theirs, option, variables, arguments = EXAMPLES[name]
    os.environ.update(variables)
    found: dict[str, dict[str, object]] = {}
    with ExitStack() as stack:
        urls = {"ours": our_url(stack, envs, ours, arguments), "OpenEnv's": stock_url(stack, envs, theirs)}
        for server, url in urls.items():
            addresses = [url] * PLAYERS if option.endswith("s") else [url]
            found[server] = played(scripts / f"{name}.py", envs, stand_ins, option, *addresses)
    return found


def main() -> None:
    """Print a row for each script; exit with 1 where rewards differ."""
    scripts, envs, *names = sys.argv[1:]
    differ = False
    with tempfile.TemporaryDirectory() as stand_ins:
        Path(stand_ins, "datasets.py").write_text(DATASETS, encoding="utf8")
        Path(stand_ins, "trl.py").write_text(TRL, encoding="utf8")
        for name in names or EXAMPLES:
            found = compared(name, Path(scripts).resolve(), Path(envs).resolve(), stand_ins)
            for server, told in found.items():
                print(f"{name:16}{server:12}{json.dumps(told)}", flush=True)
            differ |= len({json.dumps(told, sort_keys=True) for told in found.values()}) > 1
    sys.exit(differ)


if __name__ == "__main__":
    main()
