"""A server of several processes: what dies is started again, what lives loses nothing, and nothing is left behind."""

import gc
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import ludus
from ludus.errors import InvalidArgument, ServiceError
from ludus.sandbox.spawn import spawn
from ludus.server import ServerConfig
from ludus.server.listen_config import ListenConfig
from ludus.server.peers import worker_of
from ludus.server.session_counts import SessionCounts
from ludus.server.supervisor import WorkerSupervisor
from ludus.wire import FrameLimits
from ludus.wire.messages import (
    FailedReply,
    HelloRequest,
    NumberedRequest,
    ResetReply,
    ResetRequest,
    StepReply,
    StepRequest,
    WelcomeReply,
    read_answered,
    write_message,
)
from tests.patience import PATIENCE_S as PATIENCE
from tests.patience import until

pytestmark = pytest.mark.no_cover


class Client:
    """One session; `step` continues its episode, on whichever connection it has."""

    def __init__(self, url):
        self.url, self.number, self.session, self.name = url, 0, "", secrets.token_hex(8)
        self.connect()
        assert isinstance(self.ask(ResetRequest(0, None)), ResetReply)

    def connect(self):
        self._held = connect(f"{self.url.replace('http', 'ws')}/v1/ws", compression=None)
        self.socket = self._held.__enter__()
        self.welcome = self._ask(0, HelloRequest(session=self.session, client=self.name))
        if isinstance(self.welcome, WelcomeReply):
            self.session = self.welcome.session
        return self.welcome

    def _ask(self, number, request):
        self.socket.send(write_message(NumberedRequest(number, request)))
        return read_answered(self.socket.recv(timeout=PATIENCE), FrameLimits()).reply

    def ask(self, request):
        self.number += 1
        return self._ask(self.number, request)

    def step(self):
        return self.ask(StepRequest(self.number % 2))

    def close(self):
        self._held.__exit__(None, None, None)

    @property
    def worker(self):
        return worker_of(self.session)


def children(pid):
    """The processes that a process started."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            found += map(int, path.read_text().split())
    return found


def sockets(pid):
    """What a process has open, sockets by their numbers."""
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(os.readlink(path))
    return found


def descendants(pid):
    return [one for child in children(pid) for one in (child, *descendants(child))]


@contextmanager
def watched(pids):
    """Descriptors of processes, to wait for their end by."""
    with ExitStack() as held:
        descriptors = []
        for pid in pids:
            with suppress(ProcessLookupError):
                descriptors.append(os.pidfd_open(pid))
                held.callback(os.close, descriptors[-1])
        yield descriptors


def have_ended(descriptors):
    waiting = set(descriptors)
    while waiting:
        ended, _, _ = select.select(list(waiting), [], [], PATIENCE)
        if not ended:
            return False
        waiting -= set(ended)
    return True


def of_both_workers(url, each=2):
    """Clients of which at least `each` are held by either worker."""
    clients = []
    while min([one.worker for one in clients].count(number) for number in (0, 1)) < each:
        assert len(clients) < 400, "every connection came to the same worker"
        clients.append(Client(url))
    return clients


@contextmanager
def program(*options):
    """`ludus serve` with two workers: the process, and its address."""
    command = [Path(sys.executable).with_name("ludus"), "serve", "--workers", "2", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().split()[0]
        finally:
            process.kill()


def test_sessions_go_on_through_every_connection():
    with ludus.serve("CartPole-v1", port=0, block=False, config=ServerConfig(workers=2)) as running:
        one = Client(running.url)
        for _ in range(12):
            one.close()
            assert isinstance(one.connect(), WelcomeReply)
            assert isinstance(one.step(), StepReply)
        with httpx.Client() as http:
            assert [row["steps"] for row in http.get(f"{running.url}/v1/sessions").json()["sessions"]] == [12]
        one.close()


def test_a_worker_that_is_killed_is_started_again_and_only_its_sessions_are_lost():
    with program("CartPole-v1") as (process, url):
        clients = of_both_workers(url)
        before = set(children(process.pid))
        assert len(before) == 2
        victim = next(pid for pid in before if serves(pid, url, 0, clients))
        os.kill(victim, signal.SIGKILL)
        for one in (one for one in clients if one.worker == 1):
            assert all(isinstance(one.step(), StepReply) for _ in range(5))
        for one in (one for one in clients if one.worker == 0):
            with pytest.raises(ConnectionClosed):
                one.step()
            reply = one.connect()
            assert isinstance(reply, FailedReply)
            assert (reply.kind, reply.infrastructure) == ("SessionLost", True)
        again = of_both_workers(url, each=1)
        with httpx.Client(base_url=url) as http:
            held = {row["id"] for row in http.get("/v1/sessions").json()["sessions"]}
            assert held == {one.session for one in [*clients, *again] if one.worker == 1 or one in again}
        assert len(set(children(process.pid))) == 2
        assert victim not in children(process.pid)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "worker died" in errors
        assert "status=-9" in errors


def serves(pid, url, number, clients):
    """Whether a process is worker `number`: it is the one that holds the connections of its sessions."""
    ports = {one.socket.socket.getsockname()[1] for one in clients if one.worker == number}
    own = sockets(pid)
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if int(row[2].rpartition(":")[2], 16) in ports}
    return any(f"socket:[{inode}]" in own for inode in inodes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_stops_all_of_it(number, tmp_path):
    with program("CartPole-v1", "--isolation", "process") as (process, url):
        clients = [Client(url) for _ in range(3)]
        started = descendants(process.pid)
        assert len(started) > 2 + len(clients) - 1
        with watched(started) as descriptors:
            process.send_signal(number)
            _, errors = process.communicate(timeout=PATIENCE)
            assert have_ended(descriptors)
        assert process.returncode == 0
        assert "Traceback" not in errors
        for one in clients:
            one.close()


@pytest.mark.parametrize("stopped", [False, True], ids=["awake", "stopped"])
def test_the_workers_end_with_a_supervisor_that_is_killed(stopped):
    """What is stopped gets no signal before it goes on: stopped workers, and all their sessions, stayed for ever."""
    with program("CartPole-v1", "--isolation", "process") as (process, url):
        clients = [Client(url) for _ in range(2)]
        started = descendants(process.pid)
        folders = set(Path(os.environ.get("TMPDIR", "/tmp")).glob("ludus-serve-*"))
        own = {one for one in folders if any(str(one) in listening(pid) for pid in children(process.pid))}
        assert len(own) == 1
        for pid in children(process.pid) if stopped else ():
            os.kill(pid, signal.SIGSTOP)
            until(lambda pid=pid: " (stopped)" in Path(f"/proc/{pid}/status").read_text(), "a stopped worker")
        with watched(started) as descriptors:
            process.kill()
            assert have_ended(descriptors)
        assert not own.pop().exists()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")
        for one in clients:
            one.close()


def listening(pid):
    """The Unix sockets of a process, by their paths."""
    own = sockets(pid)
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return " ".join(row[7] for row in rows if len(row) > 7 and f"socket:[{row[6]}]" in own)


def test_the_handle_ends_with_its_program():
    source = (
        "import ludus, os\nfrom ludus.server import ServerConfig\n"
        "running = ludus.serve('CartPole-v1', port=0, block=False, config=ServerConfig(workers=2))\n"
        "print(running.url, flush=True)\nimport time; time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/health").status_code == 200
        with watched(descendants(process.pid)) as descriptors:
            process.kill()
            assert have_ended(descriptors)


def test_a_worker_that_cannot_begin_is_a_failure_of_all(capfd):
    def work(place, number, told):
        raise RuntimeError("no")

    with pytest.raises(ServiceError, match="expected 2 workers to begin, got 0"):
        WorkerSupervisor(work, SessionCounts([1, 1]), ListenConfig(port=0)).run()
    assert "RuntimeError: no" in capfd.readouterr().err


def test_what_a_program_keeps_from_the_garbage_collector_stays_kept_from_it():
    gc.freeze()
    kept = gc.get_freeze_count()
    with pytest.raises(ServiceError):
        WorkerSupervisor(lambda *_: os._exit(1), SessionCounts([1]), ListenConfig(port=0)).run()
    assert gc.get_freeze_count() > kept // 2 > 0  # a few of them have ended meanwhile


def test_what_a_worker_was_starting_when_it_died_is_ended(tmp_path):
    """As where a signal stops a launcher before it has asked to end with whoever started it."""
    note = tmp_path / "child"

    def work(place, number, told):
        os.write(told, b"x")
        if note.exists():
            os.read(place.supervisor_pipe, 1)
            return
        child = spawn(["/bin/sh", "-c", "kill -STOP $$; exec sleep 1000"], {}, {0: 0})
        until(lambda: Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "T", "a stopped child")
        note.write_text(str(child))
        os.kill(os.getpid(), signal.SIGKILL)

    supervisor = WorkerSupervisor(work, SessionCounts([1]), ListenConfig(port=0))
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        until(note.exists, "a child")
        until(lambda: not Path(f"/proc/{note.read_text()}").exists(), "the end of the child")
    finally:
        supervisor.stop()
        thread.join()


def test_what_workers_cannot_import_is_refused():
    with pytest.raises(InvalidArgument, match="expected targets that a worker can import"):
        ludus.serve(lambda: None, port=0, block=False, config=ServerConfig(workers=2))


def test_what_goes_wrong_apart_is_told_here():
    with closing(ListenConfig(port=0).bind()) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match="expected an address to be free"):
            ludus.serve("CartPole-v1", port=port, block=False, config=ServerConfig(workers=2))
    with pytest.raises(ServiceError, match="no environment"):
        ludus.serve("CartPool-v1", port=0, block=False, config=ServerConfig(workers=2))
