"""What `lowest.py` runs beside the lowest versions, outside the repository: each function uses some of them.

    python scripts/lowest_trial.py numpy==2 numba==0.60 …

All are tried, so that one run tells every bound that is too low.
"""

import json
import os
import subprocess
import sys
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ludus

PROGRAM = Path(sys.executable).with_name("ludus")
TIMEOUT_SECONDS = 120


def one_environment() -> None:
    """Numpy, msgspec, pyyaml."""
    for name in ("CartPole-v1", "FrozenLake-v1", "Blackjack-v1", "open/Echo-v0"):
        with ludus.make(name) as env:
            observation, _ = env.reset(seed=1)
            if name != "open/Echo-v0":
                observation = env.step(env.action_space.sample()).observation
            assert env.observation_space.contains(observation), observation
    pixel = ludus.spaces.Box(0, 255, (1,), "uint8")
    try:
        wrapped = pixel.decode([-1])  # NumPy 1 makes 255 of it
    except ludus.errors.LudusError:
        wrapped = None
    assert wrapped is None, wrapped
    spec = ludus.spec("CartPole-v1")
    assert ludus.EnvSpec.from_json(spec.to_json()) == spec


def batches() -> None:
    """Numba with NumPy: compiled lanes, bit for bit those of single environments; every executor."""
    import numpy as np

    for name in ("CartPole-v1", "FrozenLake-v1", "Pendulum-v1", "Taxi-v4"):
        with ludus.make_vec(name, num_envs=8) as envs, ludus.make_vec(name, num_envs=8, executor="serial") as serial:
            for batch in (envs, serial):
                batch.action_space.seed(3)
            first, second = envs.reset(seed=7)[0], serial.reset(seed=7)[0]
            for _ in range(50):
                assert np.array_equal(first, second), name
                first, second = (one.step(one.action_space.sample()).observation for one in (envs, serial))
    with ludus.make_vec("CartPole-v1", num_envs=4, executor="process") as envs:
        envs.reset(seed=1)
        assert envs.step(envs.action_space.sample()).reward.shape == (4,)


def pictures() -> None:
    """Pillow and imageio-ffmpeg; pictures that need nothing."""
    from ludus.rendering import to_png, write_video

    with ludus.make("CartPole-v1", render_mode="rgb_array") as env:
        env.reset(seed=1)
        frames = []
        for _ in range(5):
            frames.append(env.render())
            env.step(1)
    assert to_png(frames[0])[1:4] == b"PNG"
    assert write_video("a.gif", frames).read_bytes()[:6] == b"GIF89a"
    assert write_video("a.mp4", frames).stat().st_size > 1000
    read_back(frames)


def read_back(frames: list[Any]) -> None:
    """The GIF has the frames that were written."""
    import numpy as np
    from PIL import Image, ImageSequence

    with Image.open("a.gif") as image:
        found = [np.array(one.convert("RGB")) for one in ImageSequence.Iterator(image)]
    for got, wanted in zip(found, frames, strict=True):
        assert np.abs(got.astype(int) - wanted).mean() < 1


def window() -> None:
    """pygame-ce."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    with ludus.make("CartPole-v1", render_mode="human") as env:
        env.reset(seed=1)
        env.step(1)


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """`ludus serve` as a program: its address."""
    command = [PROGRAM, "serve", "--port", "0", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split(" ")[0]
        finally:
            process.terminate()
            process.wait(TIMEOUT_SECONDS)


def service() -> None:
    """Starlette, uvicorn, httptools, uvloop, websockets, zstandard."""
    with serving("CartPole-v1") as url:
        for options in ({}, {"compression": "zstd"}):
            with ludus.connect(url, **options) as env:
                env.reset(seed=1)
                assert env.step(1).reward == 1.0
        with ludus.connect(url, num_envs=64) as envs:
            envs.reset(seed=1)
            assert envs.step(envs.action_space.sample()).reward.shape == (64,)
        answer = posted(f"{url}/reset", {"seed": 1})
        assert answer["observation"], answer
        for path in ("/", "/health", "/schema", "/openapi.json"):
            with urllib.request.urlopen(f"{url}{path}", timeout=TIMEOUT_SECONDS) as response:
                assert response.status == 200, path


def workers() -> None:
    """The same behind two processes, which speak HTTP and WebSocket to one another."""
    with serving("CartPole-v1", "--workers", "2") as url:
        for _ in range(4):
            with ludus.connect(url) as env:
                env.reset(seed=1)
                assert env.step(1).reward == 1.0
        assert posted(f"{url}/reset", {"seed": 1})["observation"]


def posted(url: str, data: dict[str, Any]) -> Any:
    """The answer to JSON, as JSON."""
    asked = urllib.request.Request(url, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS) as response:
        return json.loads(response.read())


def typed_values() -> None:
    """Pydantic, as the model of a space."""
    import pydantic

    class Move(pydantic.BaseModel):
        x: int = pydantic.Field(ge=0, le=9)
        note: str = pydantic.Field(default="", max_length=20)

    space = ludus.spaces.Record(Move)
    assert space.contains(Move(x=3, note="a")), space
    assert not space.contains(Move.model_construct(x=99, note="a"))
    assert space.contains(space.sample())
    assert space.decode(space.encode(Move(x=3))) == Move(x=3)


def gymnasium_environments() -> None:
    """Gymnasium both ways, and ale-py through it."""
    import gymnasium

    from ludus.interop.gymnasium import to_gymnasium

    for name in ("gymnasium/CartPole-v1", "gymnasium/ALE/Pong-v5"):
        with ludus.make(name) as env:
            env.reset(seed=1)
            env.step(env.action_space.sample())
    made = to_gymnasium(ludus.make("GridWorld-v0"))
    assert isinstance(made, gymnasium.Env)
    made.reset(seed=1)
    made.close()


def games_of_others() -> None:
    """PettingZoo's view of a game whose players count to ten in turn."""
    from typing import NamedTuple

    from ludus.interop.pettingzoo import to_aec
    from ludus.kernels import RuleEnv, Rules
    from ludus.spaces import Discrete

    class Params(NamedTuple):
        pass

    class State(NamedTuple):
        count: int
        player: int

    def reset(*_: Any) -> Any:
        return State(0, 0)

    def step(state: Any, action: int, *_: Any) -> Any:
        count = state.count + action
        return State(count, 1 - state.player), (0.0, 0.0), count >= 10

    class Counting(RuleEnv):
        observation_space, action_space = Discrete(20), Discrete(3, start=1)
        rules = Rules(
            State, Params, reset, step, lambda *given: given[0].count, players=2, turn=lambda *given: given[0].player
        )

    game = to_aec(Counting())
    game.reset(seed=1)
    for agent in game.agent_iter():
        over = any(game.last()[2:4])
        game.step(None if over else game.action_space(agent).sample())


def arrays_of_others() -> None:
    """JAX."""
    from ludus.wrappers.conversion import module_namespace

    jax = module_namespace("jax.numpy")
    env = ludus.wrappers.ArrayConversion(ludus.make("CartPole-v1"), "numpy", "jax.numpy")
    observation, _ = env.reset(seed=1)
    assert isinstance(observation, jax.ndarray), type(observation)
    env.close()


def recordings() -> None:
    """H5py, pandas and pyarrow: a run as theirs, and back."""
    import tempfile

    from ludus.trajectory import Recorder, Run, from_minari, from_parquet, to_minari, to_pandas, to_parquet

    folder = Path(tempfile.mkdtemp())
    with Recorder(ludus.make_vec("CartPole-v1", 4), folder / "run.ludus", "full") as envs:
        envs.reset(seed=0)
        for _ in range(60):
            envs.step(envs.action_space.sample())
    run = Run.open(folder / "run.ludus")
    assert len(to_pandas(run)) == sum(episode.length for episode in run)
    for name, there, back in (("m", lambda to: to_minari(run, to, "a-v0"), from_minari), ("p", None, from_parquet)):
        count = there(folder / name) if there is not None else to_parquet(run, folder / name)
        assert back(folder / name, folder / f"{name}.ludus") == count
        assert Run.open(folder / f"{name}.ludus")[0].observations.tobytes() == run[0].observations.tobytes()


def functions_that_travel() -> None:
    """Cloudpickle: a lambda in a worker process."""
    with ludus.make_vec(lambda: ludus.make("GridWorld-v0"), num_envs=2, executor="process") as envs:
        envs.reset(seed=1)


def command_line() -> None:
    """Typer and rich."""
    for arguments in (["--help"], ["--version"], ["list"], ["info", "CartPole-v1"], ["serve", "--help"],
                      ["run", "GridWorld-v0", "--episodes", "1"], ["check", "GridWorld-v0"]):  # fmt: skip
        command, pipes = [PROGRAM, *arguments], {"capture_output": True, "text": True}
        done = subprocess.run(command, check=False, timeout=TIMEOUT_SECONDS, **pipes)
        assert done.returncode == 0, f"ludus {' '.join(arguments)}: {done.stdout}{done.stderr}"


def push() -> None:
    """The calls of huggingface_hub that pushing makes are there, with the arguments that it gives."""
    import inspect

    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    inspect.signature(HfApi).bind(endpoint=None, token=None)
    bind = {"repo_type": "space"}
    inspect.signature(HfApi.create_repo).bind(None, "a/b", space_sdk="docker", private=True, exist_ok=True, **bind)
    inspect.signature(HfApi.list_repo_files).bind(None, "a/b", **bind)
    operations = [CommitOperationAdd("a.py", b"1"), CommitOperationDelete("b.py")]
    inspect.signature(HfApi.create_commit).bind(None, "a/b", operations, commit_message="c", **bind)


def open_engines() -> None:
    """ale-py, open_spiel, reasoning-gym, libsumo, textarena, miniwob's pages, stockstats with pandas, tokenizers."""
    import numpy as np
    from tokenizers import Tokenizer, models

    from ludus.envs.open.browsergym.miniwob import miniwob_tasks
    from ludus.envs.open.finrl.stockstats_features import stockstats_feature
    from ludus.envs.open.textarena.guard import package

    for name in ("open/Atari-v0", "open/OpenSpiel-v0", "open/ReasoningGym-v0", "open/SumoRL-v0"):
        with ludus.make(name) as env:
            assert env.observation_space.contains(env.reset(seed=1)[0]), name
    assert package().envs.registration.ENV_REGISTRY
    assert len(miniwob_tasks()) > 50
    columns = {one: np.linspace(1.0, 2.0, 50) for one in ("open", "high", "low", "close", "volume")}
    assert stockstats_feature("boll", columns).shape == (50,)
    Tokenizer(models.WordLevel({"hello": 0, "[UNK]": 1}, unk_token="[UNK]")).save("tokenizer.json")
    with ludus.make("open/Chat-v0", tokenizer="tokenizer.json") as env:
        env.reset(seed=1)


def signatures() -> None:
    """Cryptography: a key as openssl writes it signs, and the signature is good."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ludus.evaluate.signature import check_signature, signer

    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    Path("key.pem").write_bytes(Ed25519PrivateKey.generate().private_bytes(*form))
    sign = signer("key.pem")
    assert sign is not None
    assert check_signature(sign("a" * 64), "a" * 64) == ""


TRIALS: tuple[Callable[[], None], ...] = (
    one_environment, batches, pictures, window, service, workers, typed_values, recordings, functions_that_travel,
    command_line, push, open_engines, signatures, gymnasium_environments, games_of_others, arrays_of_others,
)  # fmt: skip


def main(pins: list[str]) -> int:
    """Try everything; the exit code."""
    home = Path(ludus.__file__).resolve()
    assert home.is_relative_to(Path(sys.prefix).resolve()), f"expected the installed ludus, got {home}"
    for name, _, least in (pin.partition("==") for pin in pins):
        print(f"{name:16} {least:10} installed {version(name)}")
    failed = 0
    for trial in TRIALS:
        try:
            trial()
            print(f"{trial.__name__}: works", flush=True)
        except Exception:
            traceback.print_exc()
            print(f"{trial.__name__}: FAILS", flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
