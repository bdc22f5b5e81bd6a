"""Containers and registries for tests: started, reached, and gone at the end."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ludus.packaging.engines import EngineProgram
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.service import most_files, most_processes
from tests.patience import PATIENCE_S
from tests.ports import own_port

TICK = 0.05
ENDS_WITH_US = '"$@" & exec >&-; read -r _; kill "$!"; wait'


@contextmanager
def program(*words: object, log: Path) -> Iterator[subprocess.Popen]:
    """A program that ends with this process, however that ends."""
    with log.open("wb") as file:
        shell = subprocess.Popen(
            ["sh", "-c", ENDS_WITH_US, "sh", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield shell
    finally:
        shell.stdin.close()
        shell.wait(PATIENCE_S)
        shell.stdout.close()


def until(there: Callable[[], object], shell: subprocess.Popen | None = None, log: Path | None = None) -> None:
    """Wait for something; what a program that ended before said is the failure."""
    end = time.monotonic() + PATIENCE_S
    while not there():
        ended = shell is not None and select.select([shell.stdout], [], [], TICK)[0]
        if ended or time.monotonic() > end:
            raise AssertionError(f"it did not come: {log.read_text() if log else ''}")
        if shell is None:
            time.sleep(TICK)


def answer(url: str, token: str = "") -> tuple[int, dict]:
    """Status and JSON; 0 where nobody listens yet."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as found:
            return found.status, json.loads(found.read() or b"{}")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {}
    except OSError:
        return 0, {}


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Debian's registry of containers on a port of its own; its `host:port`."""
    with own_port() as port:
        yield from _registry(folder, f"127.0.0.1:{port}")


def _registry(folder: Path, address: str) -> Iterator[str]:
    config = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": address, "secret": "of this test"},
    }
    (folder / "registry.yml").write_text(json.dumps(config))
    log = folder / "registry.log"
    with program(shutil.which("docker-registry"), "serve", folder / "registry.yml", log=log) as shell:
        until(lambda: answer(f"http://{address}/v2/")[0] == 200, shell, log)
        yield address


@contextmanager
def docker(folder: Path) -> Iterator[str]:
    """A Docker daemon that publishes ports on loopback; its address. Its bridge is its own: others may run one, too."""
    log, short = folder / "docker.log", tempfile.mkdtemp(prefix="dock-")  # names of sockets are to be short
    api = Api(f"{short}/docker.sock")
    words = [
        "dockerd", "--data-root", folder / "data", "--exec-root", short, "--pidfile", folder / "pid",
        "-H", f"unix://{api.path}", "--iptables=false", "--ip6tables=false",
        "--log-level=error",
    ]  # fmt: skip
    with bridge() as name, program(*words, "--bridge", name, log=log) as shell:
        until(api.answers, shell, log)
        yield f"unix://{api.path}"
    shutil.rmtree(short, ignore_errors=True)


@contextmanager
def bridge() -> Iterator[str]:
    """A bridge of this process's own, for as long as it takes."""
    name = f"ludus{os.getpid()}"
    ip("link", "add", name, "type", "bridge")
    try:
        ip("address", "add", f"172.31.{os.getpid() % 256}.1/24", "dev", name)
        ip("link", "set", name, "up")
        yield name
    finally:
        ip("link", "delete", name)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def container(engine: EngineProgram, image: str, **variables: str) -> Iterator[tuple[str, str]]:
    """A container of an image, with nothing that it can write: its id, and its URL on loopback."""
    limits = [f"--ulimit=nofile={most_files()}", f"--ulimit=nproc={most_processes()}"]
    given = [f"--env={name}={value}" for name, value in variables.items()]
    hardening = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    own = limits if engine.name == "podman" else []
    running = engine.run("run", "--detach", "--publish=127.0.0.1::8000", *own, *hardening, *given, image).split()[-1]
    try:
        url = f"http://{engine.run('port', running).split()[-1]}"
        until(lambda: answer(f"{url}/health")[0] == 200)
        yield running, url
    finally:
        engine.run("rm", "--force", running)
