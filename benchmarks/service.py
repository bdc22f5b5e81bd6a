"""What a service costs beside stock OpenEnv: the same environments, interleaved in one run, medians of rounds.

    python benchmarks/service.py [--rounds N] [--sessions N] [--seconds N] [--json FILE] [--page FILE]

Needs OpenEnv in an environment of its own: `make build/peers/openenv/.installed`. Its steps are those of its own client
within one event loop, which is its quickest way; HTTP is asked by the same plain client on both sides.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus.benchmarks.machine import describe_machine
from ludus.client import aconnect

HERE = Path(__file__).parent
STOCK = HERE / "stock"
PEER = HERE.parent / "build" / "peers" / "openenv" / "bin" / "python"
LANES = 64
BARS = {
    "one step, WebSocket": 3.0,
    f"{LANES} lanes in one frame": 40.0,
    "one step, HTTP": 2.0,
    "210×160×3 observation": 30.0,
    "import of the client": 20.0,
}


INTRODUCTION = """# services, measured

What a service costs beside stock OpenEnv. All figures and verdicts on this page were written by the run that took them:

```sh
make build/peers/openenv/.installed
python benchmarks/service.py --page docs/serve_benchmarks.md
```

Both serve the same environments, in one run, taking turns; a figure is the median of {rounds} rounds, in microseconds
for one step. OpenEnv is asked by its own client within one event loop, which is its quickest way; HTTP by the same
plain client on both sides.
"""


def free_port() -> int:
    """Two in a row that nobody uses now."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            try:
                two.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@contextmanager
def running(argv: list[str], port: int, **options: Any) -> Generator[subprocess.Popen[str]]:
    """A server that answers at its port, until the end of the block."""
    process = subprocess.Popen(argv, text=True, **options)
    try:
        ends = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > ends:
                    raise SystemExit(f"{argv[1]}: it did not start") from None
                time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(30)


class Stock:
    """OpenEnv's own client, in its own interpreter, told what to do."""

    def __init__(self, port: int) -> None:
        argv = [str(PEER), str(STOCK / "openenv_program.py"), "measure", *(url(port + one) for one in (0, 1))]
        self._process = subprocess.Popen(argv, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._read()

    def _read(self) -> str:
        if self._process.stdout is None:
            raise SystemExit("stock client: it has no output")
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("stock client: it ended")
        return line

    def step(self, kind: str, count: int) -> float:
        """Seconds of one step, over `count` of them."""
        if self._process.stdin is None:
            raise SystemExit("stock client: it has no input")
        self._process.stdin.write(f"{kind} {count}\n")
        self._process.stdin.flush()
        return json.loads(self._read()) / count

    def close(self) -> None:
        """Have it end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(30)


def url(port: int) -> str:
    """An address on this machine."""
    return f"http://127.0.0.1:{port}"


def each(do: Callable[[], Any], count: int) -> float:
    """Seconds of one call, over `count` of them."""
    begin = time.perf_counter()
    for _ in range(count):
        do()
    return (time.perf_counter() - begin) / count


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


def race(ours: int, theirs: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds of one step, theirs and ours, for each of the works."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in BARS}
    with ExitStack() as stack:
        stock = Stock(theirs)
        stack.callback(stock.close)
        one = stack.enter_context(ludus.connect(url(ours), env="Count"))
        many = stack.enter_context(ludus.connect(url(ours), LANES, env="Count"))
        frame = stack.enter_context(ludus.connect(url(ours), env="Frame"))
        for env in (one, many, frame):
            env.reset(seed=0)
        plain, stateless = Http(ours, "/env/Count"), Http(theirs)
        plain.post("/reset", {"seed": 0})
        actions, body = np.ones(LANES, np.int64), {"action": {"action": 1}}
        for _ in range(rounds):
            plain.renew()
            stateless.renew()
            enter(times, "one step, WebSocket", stock.step("count", 400), each(lambda: one.step(1), 1000))
            enter(
                times,
                f"{LANES} lanes in one frame",
                stock.step("count", 400),
                each(lambda: many.step(actions), 300) / LANES,
            )
            enter(
                times,
                "one step, HTTP",
                each(lambda: stateless.post("/step", body), 100),
                each(lambda: plain.post("/step", body), 300),
            )
            enter(times, "210×160×3 observation", stock.step("frame", 20), each(lambda: frame.step(1), 300))
            enter(
                times,
                "import of the client",
                imported(str(PEER), "openenv.core"),
                imported(sys.executable, "ludus.client"),
            )
    return {name: (statistics.median(stock), statistics.median(mine)) for name, (stock, mine) in times.items()}


def enter(times: dict[str, tuple[list[float], list[float]]], name: str, stock: float, mine: float) -> None:
    """One measurement of both."""
    times[name][0].append(stock)
    times[name][1].append(mine)


def imported(python: str, module: str) -> float:
    """Seconds that an interpreter takes to import a module, its own start not counted."""
    code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
    return float(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


async def hold(port: int, count: int, seconds: float) -> dict[str, float]:
    """Hold many sessions, each of which steps once a second; how long the steps take."""
    gate = asyncio.Semaphore(64)

    async def opened() -> Any:
        async with gate:
            env = await aconnect(url(port), env="CartPole-v1", timeout=60.0)
            await env.reset(seed=0)
            return env

    begin = time.perf_counter()
    envs = await asyncio.gather(*(opened() for _ in range(count)))
    took = time.perf_counter() - begin
    times: list[float] = []
    ends = time.perf_counter() + seconds

    async def live(place: int, env: Any) -> int:
        await asyncio.sleep(place / count)
        failed = 0
        while time.perf_counter() < ends:
            start = time.perf_counter()
            try:
                step = await env.step(place & 1)
                if step.terminated or step.truncated:
                    await env.reset()
            except ludus.errors.LudusError:
                failed += 1
            times.append(time.perf_counter() - start)
            await asyncio.sleep(max(0.0, 1.0 - (time.perf_counter() - start)))
        return failed

    failures = await asyncio.gather(*(live(place, env) for place, env in enumerate(envs)))
    await asyncio.gather(*(env.close() for env in envs))
    milliseconds = np.array(times) * 1e3
    found = {f"p{level}": float(np.percentile(milliseconds, level)) for level in (50, 95, 99)}
    return {"sessions": count, "opened in": took, "steps": len(times), "lost": sum(failures), **found}


def show(found: dict[str, tuple[float, float]], held: dict[str, float]) -> None:
    """As tables."""
    table = Table(title="beside stock OpenEnv 0.10.0", title_justify="left")
    for name in ("work", "OpenEnv, µs", "Ludus, µs", "ratio", "bar"):
        table.add_column(name, justify="left" if name == "work" else "right")
    for name, (stock, mine) in found.items():
        ratio = stock / mine
        style = "green" if ratio >= BARS[name] else "red"
        table.add_row(
            name, f"{stock * 1e6:,.1f}", f"{mine * 1e6:,.2f}", f"{ratio:.1f}×", f"{BARS[name]:g}×", style=style
        )
    console = Console(width=110)
    console.print(table)
    if held:
        spread = ", ".join(f"p{level} {held[f'p{level}']:.1f} ms" for level in (50, 95, 99))
        console.print(
            f"{held['sessions']:.0f} sessions, opened in {held['opened in']:.1f} s, each stepping once a second:"
        )
        console.print(f"{held['steps']:.0f} steps, {held['lost']:.0f} lost, {spread} (bar 50)")


def page(found: dict[str, tuple[float, float]], held: dict[str, float], rounds: int) -> str:
    """The same as a page of the docs."""
    rows = ["| work | OpenEnv 0.10.0, µs | Ludus, µs | ratio | bar | met |", "| --- | --: | --: | --: | --: | --- |"]
    for name, (stock, mine) in found.items():
        ratio, bar = stock / mine, BARS[name]
        met = "yes" if ratio >= bar else "**no**"
        rows.append(f"| {name} | {stock * 1e6:,.1f} | {mine * 1e6:,.2f} | {ratio:.1f}× | {bar:g}× | {met} |")
    machine = describe_machine()
    lines = [INTRODUCTION.format(rounds=rounds), *rows, ""]
    if held:
        met = "met" if held["p99"] <= 50 and not held["lost"] else "**not met**"
        lines += [
            f"{held['sessions']:,.0f} sessions of CartPole in one server process, each of which steps once a second, "
            f"over {held['steps']:,.0f} steps: {held['lost']:.0f} lost, median {held['p50']:.1f} ms, 95 % within "
            f"{held['p95']:.1f} ms, 99 % within {held['p99']:.1f} ms (bar: 2,000, none lost, 50 ms: {met}). "
            f"They were opened in {held['opened in']:.1f} s; whoever asks shares the machine's cores with the server.",
            "",
        ]
    told = ", ".join(f"{name} {machine[name]}" for name in ("cores", "load", "python", "numpy", "ludus"))
    return "\n".join([*lines, f"Measured on {machine['processor']}, {machine['system']}: {told}.", ""])


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=2000, help="0: leave this part out")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="write it as a page of the docs")
    given = parser.parse_args()
    if not PEER.exists():
        print("service: OpenEnv is not installed; run `make build/peers/openenv/.installed`")
        return
    ours, theirs = free_port(), free_port()
    quiet = {**os.environ, "LUDUS_QUIET": "1", "PYTHONPATH": str(STOCK)}
    serve = [
        sys.executable,
        "-m",
        "ludus",
        "serve",
        "environments:Count",
        "environments:Frame",
        "CartPole-v1",
        "--port",
        str(ours),
    ]
    stock = [str(PEER), str(STOCK / "openenv_program.py"), "serve", str(theirs)]
    with running(serve, ours, env=quiet, stdout=subprocess.DEVNULL), running(stock, theirs):
        found = race(ours, theirs, given.rounds)
        held = asyncio.run(hold(ours, given.sessions, given.seconds)) if given.sessions else {}
    show(found, held)
    if given.page:
        given.page.write_text(page(found, held, given.rounds), encoding="utf8")
    if given.json:
        ratios = {name: {"openenv": one, "ludus": two, "ratio": one / two} for name, (one, two) in found.items()}
        given.json.write_text(json.dumps({"race": ratios, "held": held}, indent=1))


if __name__ == "__main__":
    main()
