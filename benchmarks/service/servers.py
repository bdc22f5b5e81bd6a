"""The servers, each started as its users start it, and programs of clients that are told what to do."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).parents[2]
STRANGERS = ROOT / "benchmarks" / "strangers"
INSTALLS = [ROOT / "build" / "peers" / name / "bin" / "python" for name in ("openenv", "openenv-0.10.0")]
"""As `pip install openenv` has it; as `make peers` has it, without the web pages (gradio) that it asks for."""
PEER = next((one for one in INSTALLS if one.exists()), INSTALLS[0])
IS_WHOLE = INSTALLS[0] == PEER
PATIENCE = 60.0
"""Seconds for a server to start."""


class Place(NamedTuple):
    """Where a server listens."""

    port: int
    unix: str = ""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Services:
    """The servers under comparison."""

    ours: Place
    count: Place
    frame: Place


def free_port() -> int:
    """One that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def surroundings(python: str) -> dict[str, str]:
    """The environment of a program: Ludus, where it is ours, found from every folder, and compiled files kept."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "LUDUS_QUIET": "1", "PYTHONPATH": str(ROOT) if python == sys.executable else ""}


@contextmanager
def running(argv: list[str], port: int) -> Generator[float]:
    """A server that answers at its port until the end of the block; gives the seconds that it took to start."""
    begin = time.perf_counter()
    environment = surroundings(argv[0])
    with TemporaryFile() as log:
        process = subprocess.Popen(argv, cwd=STRANGERS, env=environment, stdout=log, stderr=log)
        try:
            while not answers(port):
                if process.poll() is not None or time.perf_counter() - begin > PATIENCE:
                    log.seek(0)
                    raise SystemExit(f"{' '.join(argv)}: it did not start\n{log.read().decode()}")
                time.sleep(0.005)
            yield time.perf_counter() - begin
        finally:
            process.terminate()
            process.wait(30)


def answers(port: int) -> bool:
    """Whether a request for its health is answered."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as link:
            link.sendall(f"GET /health HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode())
            return b" 200 " in link.recv(4096)
    except OSError:
        return False


def ludus_server(place: Place) -> list[str]:
    """What a user types, from the folder of his module."""
    argv = [sys.executable, "-m", "ludus", "serve", "mine:Count", "mine:Frame", "--port", str(place.port)]
    return [*argv, "--unix", place.unix] if place.unix else argv


def openenv_server(name: str, place: Place) -> list[str]:
    """What OpenEnv's guide has its users type; it serves one environment."""
    where = ["--host", "127.0.0.1", "--port", str(place.port), "--log-level", "warning"]
    return [str(PEER), "-m", "uvicorn", f"theirs:{name}", *where]


@contextmanager
def services(folder: Path) -> Generator[Services]:
    """All of them."""
    found = Services(Place(free_port(), str(folder / "ludus.sock")), Place(free_port()), Place(free_port()))
    with (
        running(ludus_server(found.ours), found.ours.port),
        running(openenv_server("count", found.count), found.count.port),
        running(openenv_server("frame", found.frame), found.frame.port),
    ):
        yield found


class Client:
    """A program of clients, in an interpreter of its own: each line that it is given, it answers with a number."""

    def __init__(self, python: str, program: str, *arguments: str) -> None:
        self.name = program
        self._process = subprocess.Popen(
            [python, str(STRANGERS / program), *arguments],
            text=True,
            env=surroundings(python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._read()

    @classmethod
    def ludus(cls, found: Services, sessions: int = 0) -> Self:
        """Ours: those that block, or so many sessions for asyncio."""
        return cls(sys.executable, "ludus_client.py", found.ours.url, f"unix://{found.ours.unix}", str(sessions))

    @classmethod
    def openenv(cls, found: Services, sessions: int = 1) -> Self:
        """OpenEnv's own."""
        return cls(str(PEER), "openenv_client.py", found.count.url, found.frame.url, str(sessions))

    def _read(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit(f"{self.name}: it ended")
        return line

    def begin(self, work: str, amount: float) -> None:
        """Have it do something."""
        if self._process.stdin is None:
            raise SystemExit(f"{self.name}: it has no input")
        self._process.stdin.write(f"{work} {amount}\n")
        self._process.stdin.flush()

    def end(self) -> float:
        """What came of it."""
        return float(json.loads(self._read()))

    def seconds(self, work: str, count: int) -> float:
        """Seconds of one step, over `count` of them."""
        self.begin(work, count)
        return self.end() / count

    def close(self) -> None:
        """Have it end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Http:
    """A plain client that keeps its connection and its cookie: one write and one read for a request."""

    def __init__(self, port: int, path: str = "") -> None:
        self._port, self._path, self._cookie = port, path, b""
        self._socket: socket.socket | None = None

    def renew(self) -> None:
        """Connect anew with the next request: servers end connections that are left alone."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def post(self, what: str, body: dict[str, Any]) -> Any:
        """What a request gives."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), 30)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = json.dumps(body).encode()
        head = f"POST {self._path}{what} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\ncontent-type: application/json\r\n"
        self._socket.sendall(head.encode() + self._cookie + b"content-length: %d\r\n\r\n" % len(data) + data)
        top, rest = self._read(self._socket)
        if not top.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{what}: {top[:60]!r} {rest[:200]!r}")
        place = top.lower().find(b"set-cookie: ")
        if place >= 0:
            self._cookie = b"cookie: " + top[place + 12 :].partition(b";")[0] + b"\r\n"
        return json.loads(rest)

    @staticmethod
    def _read(link: socket.socket) -> tuple[bytes, bytes]:
        top, end, rest = link.recv(65536).partition(b"\r\n\r\n")
        while not end:
            top, end, rest = (top + link.recv(65536)).partition(b"\r\n\r\n")
        place = top.lower().index(b"content-length: ") + 16
        size = int(top[place:].partition(b"\r\n")[0])
        while len(rest) < size:
            rest += link.recv(65536)
        return top, rest
