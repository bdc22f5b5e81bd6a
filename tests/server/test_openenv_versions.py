"""Every version of OpenEnv that can be had plays an episode on our server, with the client class that it has."""

import json
import subprocess
import sys

import pytest

from ludus.server.run import serve
from tests.server.openenv_peers import ROOT, python_of, quiet
from tests.server.openenv_worlds import Riddle

pytestmark = [pytest.mark.full, pytest.mark.no_cover, pytest.mark.xdist_group("openenv")]

CORE = ("0.1.0", "0.1.1", "0.2.0", "0.2.1", "0.2.2", "0.2.3", "0.3.0")
LIVE = ("0.2.0", "0.2.1", "0.2.2", "0.2.3", "0.3.0", "0.3.1", "0.4.0", "0.4.1", "0.4.2")
LATER = ("0.5.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.10.0")
VERSIONS = [*(f"openenv-core=={one}" for one in CORE), *(f"openenv=={one}" for one in (*LIVE, *LATER))]
PROGRAM = ROOT / "tests" / "server" / "openenv_peers" / "any_version.py"


def package(version):
    """The package alone, beside what the newest version requires."""
    folder = ROOT / "build" / "peers" / "versions" / version.replace("==", "-")
    if not folder.is_dir():
        words = ["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", folder, version]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=600, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def running():
    with serve(Riddle, port=0, block=False) as one:
        yield one


@pytest.mark.parametrize("version", VERSIONS)
def test_its_client_plays_an_episode(running, version):
    done = subprocess.run(
        [python_of("0.10.0"), PROGRAM, running.url],
        env={**quiet(), "PYTHONPATH": str(package(version))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    met = json.loads(done.stdout)
    assert met["begun"][3] is False
    assert (met["wrong"][2], met["wrong"][3]) == (pytest.approx(-0.1), False)
    assert (met["right"][2], met["right"][3]) == (pytest.approx(0.8), True)
    assert met["steps"] == 2
