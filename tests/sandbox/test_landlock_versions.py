"""`landlock` as older kernels keep it: each version of its interface is forced; the filter shuts what it lacks."""

import subprocess

import pytest

from ludus.sandbox import Deadlines, Limits, Policy, Sandbox, landlock
from ludus.sandbox.environment import ForkServer
from ludus.sandbox.landlock import MIN_ABI, Landlock
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.user import USER
from tests.sandbox.neighbours import DWELLER, FOLDER

NEWEST = landlock._version()
VERSIONS = range(MIN_ABI, NEWEST + 1)
WITH_DEVICES, WITH_TCP, WITH_SCOPES = 5, 4, 6
ATTACKS = """
import ctypes, fcntl, os, signal, socket, struct, sys
victim, file = int(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)

def armed(own):
    # News of a pair of sockets are a signal to whoever owns it: refused, or without effect.
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETSIG, signal.SIGKILL)
    own(one)
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC)
    other.send(b"x")
    raise OSError("whether it is alive, its parent sees")

def by_name():
    socket.socketpair()[0].bind("\\0ludus-taken")

def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")

WAYS = {
    "a signal": lambda: os.kill(victim, 9),
    "a signal by descriptor": lambda: checked(libc.syscall(424, os.pidfd_open(victim), 9, None, 0)),
    "a signal to a thread": lambda: checked(libc.syscall(200, victim, 9)),
    "a file that signals": lambda: armed(lambda one: fcntl.fcntl(one, fcntl.F_SETOWN, victim)),
    "an owner that is a thread": lambda: armed(lambda one: fcntl.fcntl(one, 15, struct.pack("ii", 1, victim))),
    "an owner by ioctl": lambda: armed(lambda one: fcntl.ioctl(one, 0x8901, struct.pack("i", victim))),
    "an abstract name": by_name,
    "a connection": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "a watch": lambda: checked(libc.inotify_add_watch(libc.inotify_init(), b"/usr/bin", 0xFFF)),
    "a file emptied": lambda: os.truncate(file, 0),
    "a file opened to be emptied": lambda: os.open(file, os.O_WRONLY | os.O_TRUNC),
    "a file read": lambda: open(file).read(),
    "a file moved here": lambda: os.rename(file, "moved"),
    "a file linked here": lambda: os.link(file, "linked"),
    "a file removed": lambda: os.unlink(file),
    "a device made": lambda: os.mknod("device", 0o20666, os.makedev(1, 1)),
    "typing into a terminal": lambda: fcntl.ioctl(0, 0x5412, b"x"),
}
for name, way in WAYS.items():
    try:
        way()
        print("reached:", name)
    except OSError:
        pass
print("tried", len(WAYS))
"""


def as_themselves(patch):
    """Somebody who starts it and stays themselves: files and processes of the host are theirs."""
    patch.setattr(landlock, "drops_user", lambda: False)
    patch.setattr("ludus.sandbox.user.drops_user", lambda: False)


@pytest.fixture(params=["dropped", "themselves"])
def user(request, monkeypatch):
    if request.param == "themselves":
        as_themselves(monkeypatch)
    return request.param


@pytest.mark.parametrize("version", VERSIONS)
def test_no_version_leaves_a_way_out(version, user, monkeypatch, tmp_path):
    monkeypatch.setattr(landlock, "_version", lambda: version)
    file = tmp_path / "file"
    file.write_text("kept")
    if user == "dropped":
        file.chmod(0o666)
    with subprocess.Popen(["/bin/sleep", "100"], user=None if user == "themselves" else USER) as victim:
        box = Sandbox(Landlock(), limits=Limits(wall=20))
        done = box.run([interpreter(), "-I", "-S", "-c", ATTACKS, str(victim.pid), str(file)])
        alive = victim.poll() is None
        victim.kill()
    assert done.stdout.decode() == "tried 17\n", (done.stdout, done.stderr)
    assert alive
    assert file.read_text() == "kept"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_promised_names_who_keeps_it(version, monkeypatch):
    monkeypatch.setattr(landlock, "_version", lambda: version)
    kept = Landlock().guarantees(Policy())
    assert kept.version == f"Landlock ABI {version}"
    assert kept.other_processes == ("Landlock: no signals" if version >= WITH_SCOPES else "seccomp: no signals")
    assert kept.network == "seccomp: no sockets"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ruleset_asks_for_no_more_than_a_kernel_knows(version, monkeypatch, tmp_path):
    monkeypatch.setattr(landlock, "_version", lambda: version)
    [ruleset] = [step for step in steps(tmp_path) if step[0] == "ruleset"]
    _, size, rights, tcp, scopes = ruleset
    assert rights.bit_length() == (16 if version >= WITH_DEVICES else 15)
    assert bool(tcp) == (version >= WITH_TCP)
    assert bool(scopes) == (version >= WITH_SCOPES)
    assert size == 8 + 8 * bool(tcp) + 8 * bool(scopes)


def steps(folder):
    return landlock._restrictions(Policy(), str(folder), {}, sized=False)


@pytest.mark.parametrize("version", [WITH_SCOPES - 1, NEWEST])
def test_children_of_a_fork_server_end_where_nobody_may_send_signals(version, monkeypatch):
    """The server could end none there, and whoever closed one was told a PermissionError of the other side."""
    monkeypatch.setattr(landlock, "_version", lambda: version)
    box = Sandbox(Landlock(), limits=Limits(wall=600))
    given = {"deed": "hang"}
    with ForkServer(DWELLER, given, box, paths=[FOLDER], deadline=Deadlines(step=2.0)) as server:
        stuck, other = server.spawn(), server.spawn()
        for env in (stuck, other):
            env.reset(seed=0)
        with server.spawn() as third:
            third.reset(seed=0)
        assert other.step(0).reward == 1.0  # that one was closed is nothing to its neighbours
        assert stuck.step(2).info["sandbox"]["limit"] == "deadline"
        step = other.step(0)
        assert step.truncated == (version < WITH_SCOPES)  # it went with the server, where there is no other way
        for env in (stuck, other):
            env.reset(seed=0)
            assert env.step(0).reward == 1.0
            env.close()


def test_it_is_said_since_which_kernel_it_holds_as_it_is_used_here(monkeypatch):
    """Before 6.2 there was Landlock, and it is refused: any file could be emptied."""
    for version, signals in ((MIN_ABI, "Linux 3.5"), (WITH_SCOPES, "Linux 6.12")):
        monkeypatch.setattr(landlock, "_version", lambda version=version: version)
        kept = Landlock().guarantees(Policy())
        assert kept.since["files"] == "Linux 6.2"
        assert kept.since["other_processes"] == signals
