"""verifiers and NeMo Gym themselves, each where it does not disturb ours: their adapters for OpenEnv on our own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from tests.interop.open_twelve import TWELVE
from tests.server.openenv_peers import quiet

pytestmark = [pytest.mark.full, pytest.mark.no_cover]
ROOT = Path(__file__).resolve().parents[2]
SECONDS, INSTALLING = 600, 1800
SAID = {name: json.dumps(arguments) for name, (_, arguments) in TWELVE.items()}
SAID["open/Git-v0"] = '{"action_type": "list_repos"}'
"""An action of each of the twelve, as a model would write it."""


def installed(name: str, python: str) -> Path:
    command = ["sh", ROOT / "scripts/consumer_peers.sh", name, python]
    subprocess.run(command, check=True, timeout=INSTALLING, capture_output=True)
    return ROOT / f"build/peers/{name}/bin/python"


def told(python: Path, program: str, *arguments: str):
    command = [python, ROOT / f"tests/interop/{program}.py", *arguments]
    environment = quiet() | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def newer_python() -> str | None:
    """An interpreter of 3.12 or 3.13: this one, one on the path, or one of pyenv's."""
    if sys.version_info >= (3, 12):
        return sys.executable
    kept = sorted(Path.home().glob(".pyenv/versions/3.1[23]*/bin/python"))
    named = [shutil.which(name) for name in ("python3.12", "python3.13")]
    for one in filter(None, [*named, *map(str, kept)]):  # pyenv's own on the path may start nothing
        if subprocess.run([one, "-V"], capture_output=True, check=False).returncode == 0:
            return one
    return None


@pytest.mark.xdist_group("verifiers")
def test_verifiers_drives_the_twelve_arrays_and_tools():
    python = installed("verifiers", sys.executable)
    call = {"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "hi"}}
    cases = SAID | {"CartPole-v1": "1", "open/EchoTools-v0": json.dumps(call)}
    with ludus.serve(*cases, port=0, block=False) as server:
        for one in server.server.offered.values():
            one.description()  # the adapter waits ten seconds for a schema, which may be what a busy machine takes
        found = told(python, "verifiers_peers", server.url, *(f"{name}={one}" for name, one in cases.items()))
    assert set(found) == set(cases)
    assert all(one["turns"] >= 1 and "openenv_reward" in one["rewards"] for one in found.values())
    assert found["CartPole-v1"]["rewards"]["openenv_reward"] == 3.0
    assert found["open/Echo-v0"]["observations"][1]["echoed_message"] == "hello"
    assert found["open/EchoTools-v0"]["schema"]["available_tools"]
    assert found["open/EchoTools-v0"]["observations"][1]["error"] is None


@pytest.fixture
def nemo_gym():
    newer = newer_python()
    if newer is None:
        pytest.skip("NeMo Gym needs Python 3.12 or newer, and there is none here")
    python = installed("nemo-gym", newer)

    def drive(url, *names):
        found = told(python, "nemo_gym_peers", url, *(f"{name}={SAID[name]}" for name in names))
        assert set(found) == set(names)
        assert not any("error" in step and "result" in step for one in found.values() for step in one["told"])
        return found

    return drive


@pytest.mark.xdist_group("nemo-gym")
def test_nemo_gym_drives_classes_of_ours(nemo_gym):
    found = nemo_gym("", "open/Echo-v0", "open/Connect4-v0", "open/TextArena-v0", "open/FinRL-v0")
    echo, board = found["open/Echo-v0"], found["open/Connect4-v0"]
    assert [step["echoed_message"] for step in echo["told"]] == ["hello"] * 2
    assert echo["reward"] == pytest.approx(sum(step["reward"] for step in echo["told"]))
    assert sum(abs(cell) for row in board["told"][0]["board"] for cell in row) == 2


@pytest.mark.xdist_group("nemo-gym")
def test_nemo_gym_drives_the_twelve_where_a_server_has_their_packages(nemo_gym):
    with ludus.serve(*TWELVE, port=0, block=False) as server:
        found = nemo_gym(server.url, *TWELVE)
    for name, one in found.items():
        paid = sum(step["reward"] or 0.0 for step in one["told"])
        assert one["reward"] == pytest.approx(paid), name
    assert found["open/Coding-v0"]["told"][0]["stdout"] == "4\n"
    assert found["open/Git-v0"]["told"][0]["success"]
