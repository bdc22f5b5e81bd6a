"""A folder that OpenEnv's own `init` made: checked and served by us, and the other way round."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ludus.packaging import scaffold
from ludus.packaging.containerfile import containerfile
from ludus.packaging.manifest import read_manifest
from ludus.packaging.openenv_yaml import openenv_text
from tests.server.openenv_peers import ROOT, VERSIONS, python_of

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("openenv")]
SECONDS = 600
"""A bound for what hangs: `openenv init` alone takes 7 s of a core, which are minutes on a busy machine."""


@pytest.fixture(scope="module", params=VERSIONS[:1])
def theirs(request, tmp_path_factory):
    """The folder, and where the package that it needs is."""
    python = Path(python_of(request.param))
    folder = tmp_path_factory.mktemp("theirs")
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    words = [python.parent / "openenv", "init", "their_game", "-o", folder]
    done = subprocess.run(
        words, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (folder / "their_game" / "openenv.yaml").is_file(), done.stdout + done.stderr
    [packages] = python.parent.parent.glob("lib/python3*/site-packages")
    return folder / "their_game", packages


def test_it_is_read_as_an_application(theirs):
    manifest = read_manifest(theirs[0])
    assert (manifest.kind, manifest.name, manifest.app) == ("asgi", "their_game", "server.app:app")
    text = containerfile(manifest)
    assert '"openenv' in text
    assert 'ludus serve /app --host 0.0.0.0 --port 8000 \\"$@\\"' in text


@pytest.mark.full  # each session imports OpenEnv anew; tests/interop/test_openenv.py serves a folder in each run
def test_with_its_package_it_is_served_as_it_is_and_meets_its_own_criteria(theirs):
    folder, packages = theirs
    done = subprocess.run(
        [sys.executable, "-m", "ludus", "check", folder, "--json", "--steps", "3"],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["errors"]) == (0, 0), done.stdout
    assert len(report["parts"]["openenv"]["rules"]) == 6
    assert report["parts"]["openenv"]["findings"] == []
    assert "handshake-works" in report["parts"]["service"]["rules"]


PLAYED = """
import json, sys
from openenv.core.generic_client import GenericEnvClient
with GenericEnvClient(base_url=sys.argv[1]).sync() as client:
    seen = [client.reset(seed=1), client.step({"message": "hello"}), client.step({"message": "x" * 20})]
    print(json.dumps([[[one.observation, one.reward, one.done] for one in seen], client.state()["step_count"]]))
"""


@contextmanager
def listening(words, folder, **variables):
    """The address of a server that a command starts in a folder; the first word of its first line is it."""
    with subprocess.Popen(words, cwd=folder, env=os.environ | variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split(" ")[0].strip()
        finally:
            process.kill()


@pytest.mark.full  # as above
def test_served_by_us_it_is_played_as_at_its_own_server(theirs):
    folder, packages = theirs
    python = python_of(VERSIONS[0])
    own = (
        "import socket, uvicorn; from their_game.server.app import app; s = socket.create_server(('127.0.0.1', 0)); "
        "print(f'http://127.0.0.1:{s.getsockname()[1]}', flush=True); "
        "uvicorn.Server(uvicorn.Config(app, log_level='error')).run([s])"
    )
    ours = [sys.executable, "-m", "ludus", "serve", folder, "--port", "0"]
    histories = []
    with (
        listening([python, "-c", own], folder.parent) as stock_url,
        listening(ours, folder, PYTHONPATH=f"{ROOT}{os.pathsep}{packages}") as our_url,
    ):
        for url in (stock_url, our_url):
            words = [python, "-c", PLAYED, url]
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert done.returncode == 0, done.stderr
            histories.append(json.loads(done.stdout))
    assert histories[0] == histories[1]
    (_, hello, _), count = histories[0]
    assert (hello[0]["echoed_message"], hello[1], count) == ("hello", 0.5, 2)


def test_their_own_validator_takes_our_manifest(tmp_path):
    manifest = read_manifest(scaffold("our_game", tmp_path)[0].parent)
    (manifest.folder / "openenv.yaml").write_text(openenv_text(manifest))
    words = [Path(python_of(VERSIONS[0])).parent / "openenv", "validate", manifest.folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert "PASS  static.manifest" in done.stdout, done.stdout + done.stderr
