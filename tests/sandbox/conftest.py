"""What the tests of the sandbox share."""

import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ludus.sandbox import Sandbox, backend
from ludus.sandbox.containers.api import Api
from tests.patience import PATIENCE_S


class ContainerDaemon:
    """`dockerd` on a socket of its own; it ends with `stop`, or with this process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self.api = Api(f"{folder}/docker.sock")
        command = [
            "dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid",
            "-H", f"unix://{self.api.path}", "--iptables=false", "--bridge=none", "--log-level=error",
        ]  # fmt: skip
        with open(folder / "log", "wb") as log:
            self._shell = subprocess.Popen(
                ["sh", "-c", '"$@" & exec >&-; read -r _; kill "$!"; wait', "sh", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + PATIENCE_S
        while not self.api.answers():
            if select.select([self._shell.stdout], [], [], 0.02)[0] or time.monotonic() > end:
                pytest.fail(f"dockerd did not start (apt-get install docker.io): {(folder / 'log').read_text()}")

    def stop(self) -> None:
        self._shell.stdin.close()
        self._shell.wait(PATIENCE_S)
        self._shell.stdout.close()


@pytest.fixture(scope="session")
def container_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerDaemon]:
    """One Docker daemon for all tests of this process, behind DOCKER_HOST."""
    daemon = ContainerDaemon(tmp_path_factory.mktemp("docker"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", f"unix://{daemon.api.path}")
        yield daemon
        backend("docker").close()
    daemon.stop()


# What needs the daemon shares a worker, so that one daemon is started.
of_docker = pytest.param("docker", marks=pytest.mark.xdist_group("docker"))


@pytest.fixture(scope="session", params=["podman", of_docker, "gvisor"])
def container_backend(request: pytest.FixtureRequest) -> str:
    """Each engine by name; one that does not start here fails the test."""
    if request.param == "docker":
        request.getfixturevalue("container_daemon")
    found = backend(request.param).probe()
    assert found.works, found.detail
    return request.param


@pytest.fixture(scope="session")
def container_box(container_backend: str) -> Sandbox:
    """A sandbox of each engine, with the default policy."""
    return Sandbox(container_backend)
