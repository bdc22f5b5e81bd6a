"""Containers that serve: an image is started, reached, and removed with the environment that it was started for.

Nothing is pulled. With `network="none"`, the default, no port is opened on this machine either: the sockets that lead
to the server are made inside the container's own network, which leads nowhere else.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping

from ludus.client.access import ServerAccess, prompt
from ludus.client.address import Address
from ludus.client.image_policy import ImagePolicy
from ludus.client.inside import link_inside
from ludus.errors import SandboxError, SandboxUnavailable, listing, shorten
from ludus.sandbox.containers import Docker, Podman
from ludus.sandbox.containers.api import Api, EngineError
from ludus.sandbox.containers.description import LABEL
from ludus.sandbox.containers.engine import remove_leftovers
from ludus.sandbox.leftovers import identity

__all__ = ["RunningImage", "start_image"]

LOOPBACK = "127.0.0.1"
POLL_INTERVAL_S = 0.05
ENGINES = {"podman": Podman, "docker": Docker}
WATCH = 'read -r _ && exit 0; exec "$@"'
"""A shell that waits for a word from us; where our end comes without one, it removes the container."""
REMOVE = """
import http.client, socket, sys
connection = http.client.HTTPConnection("localhost", timeout=60)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request("DELETE", f"/containers/{sys.argv[2]}?force=true&v=true")
connection.getresponse().read()
"""


class RunningImage:
    """A container that serves, until `close`; it ends with this process too, however that ends."""

    def __init__(self, api: Api, container: str, policy: ImagePolicy, watcher: "subprocess.Popen[bytes]") -> None:
        self.api, self.id, self.policy = api, container, policy
        self._watcher: subprocess.Popen[bytes] | None = watcher
        details = api.details(container)
        self.pid = int(details["State"]["Pid"])
        inside = policy.network == "none"
        port = policy.port if inside else self._port(details["NetworkSettings"].get("Ports") or {})
        self._address = Address("web", LOOPBACK, port)

    def _port(self, ports: Mapping[str, list[dict[str, str]] | None]) -> int:
        bound = ports.get(f"{self.policy.port}/tcp") or [{}]
        port = str(bound[0].get("HostPort", ""))
        if not port.isdigit():
            raise SandboxError(f"container: expected a port on {LOOPBACK}, got {shorten(bound)}")
        return int(port)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return bool(self.api.state(self.id)["Running"])

    def access(self, token: str | None = None) -> ServerAccess:
        """How its server is reached."""
        if self.policy.network == "none":
            return InsideAccess(self._address, token, pid=self.pid)
        return ServerAccess(self._address, token)

    def await_health(self, image: str, ends: float) -> None:
        """Wait until the server answers; SandboxError where it does not in time, or ends before."""
        access = self.access()
        while True:
            try:
                if access.fetch("GET", "/health", None, 5.0)[0] == 200:
                    return
            except OSError:
                pass  # it is not up yet
            state = self.api.state(self.id)
            if not state["Running"]:
                raise SandboxError(
                    f"image {image}: expected a server, got exit code {state['ExitCode']}; see what it says by "
                    "starting it by hand"
                )
            if time.monotonic() > ends:
                raise SandboxError(
                    f"image {image}: expected GET /health on port {self.policy.port} to answer in time, got nothing"
                )
            time.sleep(POLL_INTERVAL_S)

    def close(self) -> None:
        """Stop and remove the container; harmless twice."""
        watcher, self._watcher = self._watcher, None
        if watcher is None or watcher.stdin is None:
            return
        try:
            self.api.remove(self.id)
            watcher.stdin.write(b"done\n")
        finally:
            watcher.stdin.close()
            watcher.wait()


class InsideAccess(ServerAccess):
    """The way to a server in a network of its own."""

    def __init__(self, address: Address, token: str | None = None, *, pid: int) -> None:
        super().__init__(address, token)
        self._pid = pid

    def link(self, seconds: float) -> socket.socket:
        """A socket that is connected inside."""
        link = link_inside(self._pid, self.address.port, seconds)
        prompt(link)
        return link


def start_image(image: str, policy: ImagePolicy | None = None, seconds: float = 60.0) -> RunningImage:
    """Start a container from an image that is here, and wait until its server is healthy."""
    policy = ImagePolicy() if policy is None else policy
    ends = time.monotonic() + seconds
    engine, api = _engine(image, policy)
    try:
        container = api.create(_description(image, policy))
    except EngineError as error:
        raise SandboxError(f"image {image}: expected the engine to create a container, got: {error}") from error
    watcher = _watched(engine, api, container)
    try:
        api.start(container)
        running = RunningImage(api, container, policy, watcher)
    except BaseException as error:
        api.remove(container)
        watcher.communicate(b"done\n")
        if isinstance(error, EngineError):
            raise SandboxError(f"image {image}: expected the container to start, got: {error}") from error
        raise
    try:
        running.await_health(image, ends)
    except BaseException:
        running.close()
        raise
    return running


def _engine(image: str, policy: ImagePolicy) -> tuple[str, Api]:
    """The engine that has the image; leftovers of processes that were killed are removed on the way."""
    causes: list[str] = []
    for name, kind in ENGINES.items():
        if policy.engine not in (None, name):
            continue
        try:
            api = kind().connect()
            if api.image(image) is not None:
                remove_leftovers(api)
                return name, api
            causes.append(f"{name} does not have it")
        except SandboxError as error:
            causes.append(str(error))
    raise SandboxUnavailable(
        f"image {shorten(image)}: expected one that is on this machine, got: {listing(causes)}; build, load or pull it "
        "first, for nothing is pulled"
    )


def _description(image: str, policy: ImagePolicy) -> dict[str, object]:
    port = f"{policy.port}/tcp"
    opened = policy.network == "open"
    small = f"size={policy.disk},mode=1777,nosuid,nodev"
    host: dict[str, object] = {
        "NetworkMode": "bridge" if opened else "none",
        "PortBindings": {port: [{"HostIp": LOOPBACK, "HostPort": ""}]} if opened else {},
        "IpcMode": "private",
        "ReadonlyRootfs": not policy.writable,
        "Privileged": False,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Init": False,  # podman has no such program where catatonit is not installed
        "LogConfig": {"Type": "none"},
        "RestartPolicy": {"Name": "no"},
        "Tmpfs": {"/tmp": small, "/run": small},  # noqa: S108  (its own)
        "Memory": policy.memory,
        "MemorySwap": policy.memory,
        "NanoCpus": int(policy.cpus * 1e9),
        "PidsLimit": policy.processes,
    }
    return {
        "Image": image,
        "Env": [f"{name}={value}" for name, value in policy.variables.items()],
        "Labels": {LABEL: identity()},
        "ExposedPorts": {port: {}} if opened else {},
        "HostConfig": host,
    }


def _watched(engine: str, api: Api, container: str) -> "subprocess.Popen[bytes]":
    """Whoever removes the container where we end without a word, by podman's command or by the engine's socket."""
    if engine == "podman" and not os.environ.get("CONTAINER_HOST"):
        options = ["--cgroup-manager=cgroupfs"] if os.geteuid() == 0 else []
        options += ["--runtime=runc"] if shutil.which("runc") else []
        removal = ["podman", "--events-backend=none", *options, "rm", "--force", "--volumes", "--time=0", container]
    else:
        removal = [sys.executable, "-I", "-S", "-c", REMOVE, api.path, container]
    return subprocess.Popen(
        ["sh", "-c", WATCH, "sh", *removal],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
