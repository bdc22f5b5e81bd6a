"""Memory over many sessions, one after the other: of the server, and of the client that opens and closes them.

    python benchmarks/sessions.py [--sessions 20000] [--clients 8] [--json FILE]

The server is a process of its own. Sessions are of all protocols in turn: wire, OpenEnv over HTTP, OpenEnv over
WebSocket, MCP. After a tenth of them the memory, descriptors and threads of both sides are noted; at the end neither
may have grown beyond bounds (GROWTH_MIB, SPARE). The exit code says so.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import connect as websocket

import ludus

ENV = "CartPole-v1"
WARM = 0.1
"""The share of sessions after which caches are full, and memory is noted."""
GROWTH_MIB, SPARE = 8.0, 8
"""What may be more at the end: fragments of the allocator, connections that are kept for a while."""
TIMEOUT_S = 60


def by_wire(url: str, _: httpx.Client) -> None:
    """A session of the wire."""
    with ludus.connect(url, timeout=TIMEOUT_S) as env:
        env.reset(seed=1)
        env.step(1)


def by_http(url: str, http: httpx.Client) -> None:
    """A session of OpenEnv over HTTP."""
    reply = http.post(f"{url}/reset", json={"seed": 1}).raise_for_status()
    session = {"x-session-id": reply.headers["x-session-id"]} if "x-session-id" in reply.headers else {}
    http.post(f"{url}/step", json={"action": {"action": 1}}, headers=session).raise_for_status()
    http.post(f"{url}/close", headers=session).raise_for_status()
    http.cookies.clear()


def by_websocket(url: str, _: httpx.Client) -> None:
    """A session of OpenEnv over a WebSocket."""
    with websocket(f"{url.replace('http', 'ws', 1)}/ws", proxy=None) as connection:
        for message in ({"type": "reset", "data": {"seed": 1}}, {"type": "step", "data": {"action": 1}}):
            connection.send(json.dumps(message))
            reply = json.loads(connection.recv(TIMEOUT_S))
            if reply["type"] != "observation":
                raise SystemExit(f"expected an observation, got {reply}")
        connection.send(json.dumps({"type": "close"}))


def by_mcp(url: str, http: httpx.Client) -> None:
    """A session of MCP."""
    made = _rpc(url, http, "openenv/session/create")["session_id"]
    _rpc(url, http, "openenv/session/close", session_id=made)


def _rpc(url: str, http: httpx.Client, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return http.post(f"{url}/mcp", json=message).raise_for_status().json()["result"]


PROTOCOLS: tuple[Callable[[str, httpx.Client], None], ...] = (by_wire, by_http, by_websocket, by_wire, by_mcp)


def held(pid: int) -> dict[str, float]:
    """What a process holds: MiB, descriptors, threads."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf8")
    numbers = {name: int(value) for name, value in re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE)}
    return {
        "MiB": round(numbers["VmRSS"] / 1024, 1),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": numbers["Threads"],
    }


class Opener:
    """Opens sessions with several threads until there were so many."""

    def __init__(self, url: str) -> None:
        self.url, self.done = url, 0
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def until(self, count: int, clients: int) -> None:
        """Go on to this number of sessions in all."""
        threads = [threading.Thread(target=self._work, args=(count,)) for _ in range(clients)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    def _work(self, count: int) -> None:
        with httpx.Client(timeout=TIMEOUT_S) as http:
            while (number := self._next(count)) is not None:
                try:
                    PROTOCOLS[number % len(PROTOCOLS)](self.url, http)
                except Exception as error:
                    self.wrong.append(f"{PROTOCOLS[number % len(PROTOCOLS)].__name__}: {type(error).__name__}: {error}")

    def _next(self, count: int) -> int | None:
        with self._lock:
            if self.done >= count or len(self.wrong) > 10:
                return None
            self.done += 1
            return self.done


def run(options: argparse.Namespace) -> dict[str, Any]:
    """All sessions; what both sides held after the first, and at the end."""
    command = [sys.executable, "-m", "ludus", "serve", ENV, "--port", "0", "--max-sessions", "64"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        try:
            found = re.search(rb"http://\S+", server.stdout.readline())
            if found is None:
                raise SystemExit("sessions: expected the server to tell its address, got nothing")
            opener, both = Opener(found[0].decode()), {"server": server.pid, "client": os.getpid()}
            begun = time.monotonic()
            opener.until(max(1, int(options.sessions * WARM)), options.clients)
            before = {name: held(pid) for name, pid in both.items()}
            opener.until(options.sessions, options.clients)
            after = {name: held(pid) for name, pid in both.items()}
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(TIMEOUT_S)
            server.kill()
    return {
        "sessions": opener.done, "seconds": round(time.monotonic() - begun, 1), "after a tenth": before,
        "at the end": after, "wrong": [*opener.wrong, *_grown(before, after)],
    }  # fmt: skip


def _grown(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [
        f"{side}: {what} grew from {before[side][what]} to {after[side][what]}"
        for side in before
        for what, most in (("MiB", GROWTH_MIB), ("descriptors", SPARE), ("threads", SPARE))
        if after[side][what] - before[side][what] > most
    ]


def main() -> int:
    """Run it; the exit code tells whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    report = run(options)
    print(json.dumps(report, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf8")
    return int(bool(report["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
