"""Random kills: many sessions over several workers while processes are killed or stopped and connections are cut.

    python benchmarks/faults.py [--seconds 120] [--sessions 50] [--workers 3] [--seed N] [--json FILE]

Everything runs in namespaces of its own (processes, mounts, network, System V), so that what is left afterwards is
known exactly: any process, file, socket, segment of shared memory or control group fails the run; so does a client that
waits for longer than any limit allows, or that is told something else than an error of Ludus. The seed of the faults is
printed first. It takes root, for the namespaces.
"""

import argparse
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import ludus
from ludus.errors import LudusError

INSIDE = "LUDUS_FAULTS_INSIDE"
ENV = "GridWorld-v0"
DEADLINE_S, IDLE_S, TIMEOUT_S = 4.0, 10.0, 45.0
HUNG_S = 120.0
"""What a call of a client may take at most: several timeouts and the start of a worker, on a busy machine."""
GONE_S = 60.0
FAULTS = {"cut": 40, "kill environment": 25, "stop environment": 15, "stop worker": 8, "vanish": 8, "kill worker": 4}
"""Kinds, and how often each comes among a hundred."""


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="utf8").split())
    return found


def below(pid: int) -> list[int]:
    """All processes below one."""
    return [one for child in children(pid) for one in (child, *below(child))]


def inherited(pid: int) -> int:
    """The one process of a chain that has several children: who supervises."""
    found = children(pid)
    return pid if len(found) != 1 else inherited(found[0])


class Client(threading.Thread):
    """Plays episodes, and begins anew whenever it is told that a session is lost; it never waits for ever."""

    def __init__(self, url: str, number: int, over: threading.Event) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.url, self.number, self.over = url, number, over
        self.random = Random(number)
        self.since = time.monotonic()
        self.longest = 0.0
        self.steps = 0
        self.vanishes = False
        self.reports: Counter[str] = Counter()
        self.foreign: list[str] = []

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self._session()
            except LudusError as error:
                self.reports[type(error).__name__] += 1
            except Exception as error:  # nobody should have to expect it
                self.foreign.append(f"{type(error).__name__}: {error}")
                return

    def _session(self) -> None:
        env = self._timed(lambda: ludus.connect(self.url, timeout=TIMEOUT_S))
        try:
            while not self.over.is_set() and not self.vanishes:
                self._episode(env)
        finally:
            if self.vanishes:
                self.vanishes = False
                _shut(env)
            self._timed(env.close)

    def _episode(self, env: Any) -> None:
        _, info = self._timed(lambda: env.reset(seed=self.random.randrange(1 << 30)))
        self.reports["reset after a loss"] += "session_reopened" in info
        for _ in range(40):
            step = self._timed(lambda: env.step(self.random.randrange(4)))
            self.steps += 1
            self.reports["step cut short"] += "sandbox" in step.info
            if step.done or self.over.is_set() or self.vanishes:
                return
            self.over.wait(self.random.random() * 0.1)

    def _timed(self, call: Callable[[], Any]) -> Any:
        self.since = time.monotonic()
        try:
            return call()
        finally:
            self.longest = max(self.longest, time.monotonic() - self.since)


def _shut(env: Any) -> None:
    """As a client that is gone: its connections end without a word."""
    del env
    cut(Random(), 1)


def connections() -> list[int]:
    """Descriptors of this process that are connected by TCP."""
    found: list[int] = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                with socket.socket(fileno=os.dup(int(name))) as one:
                    found += [int(name)] if one.family == socket.AF_INET and one.getpeername() else []
    return found


def cut(random: Random, count: int) -> int:
    """Shut some connections of clients down, wherever they are in a frame; how many."""
    chosen = random.sample(there, min(count, len(there))) if (there := connections()) else []
    done = 0
    for number in chosen:
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as one:
            one.shutdown(socket.SHUT_RDWR)
            done += 1
    return done


class Faults:
    """What goes wrong, by a seed."""

    def __init__(self, seed: int, supervisor: int, clients: list[Client]) -> None:
        self.random, self.supervisor, self.clients = Random(seed), supervisor, clients
        self.done: Counter[str] = Counter()
        self._stopped: list[tuple[float, int]] = []

    def one(self) -> None:
        """Do the next."""
        kind = self.random.choices(list(FAULTS), list(FAULTS.values()))[0]
        if self._do(kind):
            self.done[kind] += 1

    def go_on(self, now: float = float("inf")) -> None:
        """Workers that were stopped go on when it is time."""
        for when, pid in [one for one in self._stopped if one[0] <= now]:
            self._stopped.remove((when, pid))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _do(self, kind: str) -> bool:
        if kind == "cut":
            return cut(self.random, self.random.randint(1, 4)) > 0
        if kind == "vanish":
            self.random.choice(self.clients).vanishes = True
            return True
        workers = children(self.supervisor)
        if not workers:
            return False
        worker = self.random.choice(workers)
        if kind == "kill worker":
            return _send(worker, signal.SIGKILL)
        if kind == "stop worker":
            self._stopped.append((time.monotonic() + self.random.uniform(0.5, 6.0), worker))
            return _send(worker, signal.SIGSTOP)
        inside = below(worker)
        if not inside:
            return False
        return _send(self.random.choice(inside), signal.SIGKILL if kind == "kill environment" else signal.SIGSTOP)


def _send(pid: int, number: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


@contextmanager
def server(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """The address of a server of sandboxed environments, and the process that supervises it."""
    command = [sys.executable, "-m", "ludus", "serve", ENV, "--port", "0", "--workers", str(options.workers),
               "--isolation", "sandbox", "--max-sessions", str(2 * options.sessions), "--deadline", str(DEADLINE_S),
               "--idle", str(IDLE_S)]  # fmt: skip
    with open("/tmp/server.log", "wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process:
        assert process.stdout is not None
        try:
            found = re.search(rb"http://\S+", process.stdout.readline())
            if found is None:
                raise SystemExit(f"the server did not start: {Path('/tmp/server.log').read_text(encoding='utf8')}")
            yield found[0].decode(), inherited(process.pid)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(GONE_S)
            process.kill()


def storm(options: argparse.Namespace) -> dict[str, Any]:
    """The whole run: what was done, what clients were told, what was left, and what is wrong."""
    over = threading.Event()
    with server(options) as (url, supervisor):
        clients = [Client(url, number, over) for number in range(options.sessions)]
        for one in clients:
            one.start()
        faults = Faults(options.seed, supervisor, clients)
        ends = time.monotonic() + options.seconds
        while (now := time.monotonic()) < ends:
            over.wait(faults.random.uniform(0.05, 0.5))
            faults.one()
            faults.go_on(now)
        faults.go_on()
        over.set()
        hung = _hung(clients)
        descriptors = len(os.listdir(f"/proc/{supervisor}/fd"))
    report = {
        "seed": options.seed, "seconds": options.seconds, "sessions": options.sessions, "workers": options.workers,
        "faults": dict(faults.done), "steps": sum(one.steps for one in clients),
        "told": dict(sum((one.reports for one in clients), Counter[str]())),
        "longest call, seconds": round(max(one.longest for one in clients), 1),
        "descriptors of the supervisor at the end": descriptors,
    }  # fmt: skip
    wrong = {
        "hung": hung,
        "foreign errors": [text for one in clients for text in one.foreign],
        **{name: left for name, left in remains().items() if left},
    }
    return {**report, "wrong": {name: found for name, found in wrong.items() if found}}


def _hung(clients: list[Client]) -> list[str]:
    """Clients that do not end."""
    for one in clients:
        one.join(HUNG_S)
    return [f"{one.name} for {time.monotonic() - one.since:.0f} s" for one in clients if one.is_alive()]


def remains() -> dict[str, list[str]]:
    """What is left in these namespaces, once it had a moment to go."""
    ends = time.monotonic() + GONE_S
    while any(found := _remains_now().values()) and time.monotonic() < ends:
        time.sleep(0.2)
    del found
    return _remains_now()


def _remains_now() -> dict[str, list[str]]:
    with suppress(ChildProcessError):  # as the first process of this namespace: orphans are ours to bury
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    own = {os.getpid(), os.getppid()}
    processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf8").splitlines()[1:]]
    return {
        "processes": [_command(pid) for pid in processes if pid not in own],
        "files": [name for name in os.listdir("/tmp") if name != "server.log"],
        "shared memory": os.listdir("/dev/shm"),
        "sockets that listen": [row[1] for row in rows if row[3] == "0A"],
        "control groups": _groups(),
    }


def _command(pid: int) -> str:
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf8").rpartition(")")[2].split()[0]
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf8", "replace")
        return f"{pid} {state} {command[:120]}"
    return ""


def _groups() -> list[str]:
    """Control groups of processes of this namespace, dead or alive."""
    namespace = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    return [str(one) for one in Path("/sys/fs/cgroup").glob(f"*/ludus-*.{namespace}.*")]


def enclosed(result: Path | None) -> None:
    """The same command again, in namespaces of its own, where `/tmp` is another: the result is open already."""
    if Path(ludus.__file__).resolve().is_relative_to("/tmp"):
        raise SystemExit(f"faults: expected a copy outside of /tmp, which the run covers, got {ludus.__file__}")
    kept = -1 if result is None else os.open(result, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    if kept >= 0:
        os.set_inheritable(kept, True)
    mounts = "mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && ip link set lo up"
    command = f'{mounts} && exec "$@"'
    with suppress(OSError):
        os.execvpe(
            "unshare",
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--ipc",
             "sh", "-c", command, "sh", sys.executable, *sys.argv],
            {**os.environ, INSIDE: str(kept)},
        )  # fmt: skip
    raise SystemExit("faults: expected root and util-linux's `unshare`, got neither namespaces nor a run")


def main() -> int:
    """Run it; the exit code tells whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    if INSIDE not in os.environ:
        if options.seed is None:
            sys.argv += ["--seed", str(secrets.randbelow(1 << 30))]
        enclosed(options.json)
    print(f"seed {options.seed}", flush=True)
    report = storm(options)
    print(json.dumps(report, indent=1))
    if (kept := int(os.environ[INSIDE])) >= 0:
        os.write(kept, json.dumps(report, indent=1).encode() + b"\n")
    if report["wrong"]:
        print(Path("/tmp/server.log").read_text(encoding="utf8")[-5000:], file=sys.stderr)
    return int(bool(report["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
