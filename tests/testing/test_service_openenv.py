"""A folder that OpenEnv's own `init` made: checked and served by us, and the other way round."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ludus.packaging import scaffold
from ludus.packaging.containerfile import containerfile
from ludus.packaging.manifest import read_manifest
from ludus.packaging.openenv_yaml import openenv_text
from tests.server.openenv_peers import VERSIONS, python_of

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


def test_their_own_validator_takes_our_manifest(tmp_path):
    manifest = read_manifest(scaffold("our_game", tmp_path)[0].parent)
    (manifest.folder / "openenv.yaml").write_text(openenv_text(manifest))
    words = [Path(python_of(VERSIONS[0])).parent / "openenv", "validate", manifest.folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert "PASS  static.manifest" in done.stdout, done.stdout + done.stderr
