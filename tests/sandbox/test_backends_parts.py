"""The parts that backends are made of: starting, watching, streams, measuring, mounts."""

import os
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from ludus.errors import InvalidArgument
from ludus.sandbox import Limits, Mount, Policy, enforcement, mounts, spawn, tree, user
from ludus.sandbox.mounts import python_mounts, system_mounts
from ludus.sandbox.pins import pinned
from ludus.sandbox.rlimits import rlimits
from ludus.sandbox.streams import Streams
from ludus.sandbox.watch import Watcher, watcher

LIST = "import os\nfor n in range(100):\n try: os.fstat(n)\n except OSError: continue\n print(n)"


def spawned(way, monkeypatch, descriptors):
    monkeypatch.setattr(spawn, "_closes_the_rest", lambda: way == "exactly")
    pid = spawn.spawn([sys.executable, "-I", "-S", "-c", LIST], {}, descriptors)
    return os.waitpid(pid, 0)[1]


@pytest.mark.parametrize("way", ["exactly", "closing"])
def test_a_program_gets_the_descriptors_it_is_given_and_no_other(way, monkeypatch):
    reading, writing = os.pipe()
    extra = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(extra, True)
    try:
        assert spawned(way, monkeypatch, {0: extra, 1: writing, 2: 2, 7: reading, 5: extra}) == 0
        os.close(writing)
        with open(reading, closefd=False) as file:
            assert file.read().split() == ["0", "1", "2", "5", "7"]
    finally:
        os.close(reading)
        os.close(extra)


@pytest.mark.parametrize("way", ["exactly", "closing"])
def test_a_program_that_is_not_there_is_an_error_here(way, monkeypatch):
    monkeypatch.setattr(spawn, "_closes_the_rest", lambda: way == "exactly")
    with pytest.raises(FileNotFoundError):
        spawn.spawn(["/no/such/program"], {}, {0: 0})


def test_programs_are_started_by_one_thread_that_stays():
    assert spawn._long_lived() is spawn._long_lived()
    assert spawn._long_lived().call(threading.get_ident) == spawn._long_lived().ident


FORKED = """
import os
from ludus.sandbox import Limits, Sandbox
box = Sandbox("process", limits=Limits(wall=20))
assert box.run(["/bin/true"]).code == 0
pid = os.fork()
if pid == 0:
    os._exit(box.run(["/bin/sh", "-c", "exit 7"]).code)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
assert box.run(["/bin/true"]).code == 0
"""


def test_a_fork_starts_threads_of_its_own():
    subprocess.run([sys.executable, "-W", "error", "-c", FORKED], check=True, timeout=60)


def test_the_watcher_calls_at_its_time_and_in_order():
    heard, done = [], threading.Event()

    def begin():
        now = time.monotonic()
        cancelled = watcher().at(now, lambda: heard.append("never"))
        watcher().at(now + 0.02, lambda: (heard.append("second"), done.set()))
        watcher().at(now + 0.01, lambda: heard.append("first"))
        cancelled.cancel()

    watcher().call(begin)
    assert done.wait(60)
    assert heard == ["first", "second"]


def test_the_watcher_survives_what_it_calls(caplog):
    def failing():
        raise ValueError("on purpose")

    done = threading.Event()
    one = Watcher()
    one.call(failing)
    one.call(done.set)
    assert done.wait(60)
    assert "watching failed" in caplog.text


def test_the_watcher_calls_nobody_for_what_was_dropped_meanwhile():
    """Both can be read at once: who comes first drops the other, whose call would read a closed descriptor."""
    one, heard, done = Watcher(), [], threading.Event()
    pipes = [os.pipe() for _ in range(2)]

    def dropping(mine, other):
        heard.append(mine)
        one.drop(other)
        one.drop(mine)
        done.set()

    def begin():
        for (mine, _), (other, _) in (pipes, pipes[::-1]):
            one.add(mine, partial(dropping, mine, other))
        for _, writing in pipes:
            os.write(writing, b"!")

    one.call(begin)
    assert done.wait(60)
    over = threading.Event()
    one.call(over.set)
    assert over.wait(60)
    assert len(heard) == 1
    for end in (end for pipe in pipes for end in pipe):
        os.close(end)


def test_streams_close_what_they_opened():
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(InvalidArgument):
        Streams(subprocess.PIPE, subprocess.PIPE, -9)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_tree_is_measured_with_the_dead_in_it():
    script = "(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); sleep 100 & sleep 100 & echo ready; wait"
    with subprocess.Popen(["/bin/sh", "-c", f"{script}"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        while not (found := tree.sample(process.pid)).memory:
            pass  # they are about to be executed
        assert found.processes == 2
        assert found.cpu > 0
        assert next(tree.below(process.pid)) == process.pid
        for pid in list(tree.below(process.pid)):
            os.kill(pid, 9)
    assert tree.sample(process.pid) == tree.TreeSample()


def test_resource_limits_never_rise_above_what_there_is(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10, 10))
    found = rlimits(Limits(open_files=5, file_size=50, cpu=1.5), memory=True, processes=True)
    assert {one.name: (one.soft, one.hard) for one in found} == {
        "CORE": (0, 0), "FSIZE": (10, 10), "NOFILE": (5, 5), "CPU": (3, 4), "AS": (10, 10), "NPROC": (10, 10)
    }  # fmt: skip


def test_processes_of_a_user_are_counted_from_those_there_are(monkeypatch):
    monkeypatch.setattr(enforcement, "places", dict)
    [alone] = [
        one
        for one in enforcement.process_limits(Limits(processes=5), user=os.getuid(), alone=True)
        if one.name == "NPROC"
    ]
    [beside] = [one for one in enforcement.process_limits(Limits(processes=5), user=os.getuid()) if one.name == "NPROC"]
    assert alone.soft == 5
    assert beside.soft > 5
    assert "NPROC" not in [one.name for one in enforcement.process_limits(Limits(processes=5))]


def test_python_is_mounted_at_its_own_path_without_the_rest_of_the_repository():
    found = {mount.where: mount.source for mount in python_mounts()}
    assert all(os.path.realpath(source) == source for source in found.values())
    package = str(mounts.PACKAGE)
    assert any(package == where or package.startswith(f"{where}/") for where in found)
    if not package.startswith(sys.prefix):  # an editable installation
        assert os.path.dirname(package) not in found


def test_a_prefix_behind_a_link_is_seen_at_both_paths(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "known").symlink_to(tmp_path / "real")
    monkeypatch.setattr(mounts.sys, "prefix", str(tmp_path / "known"))
    found = [mount for mount in python_mounts() if mount.source == str(tmp_path / "real")]
    assert {mount.where for mount in found} == {str(tmp_path / "real"), str(tmp_path / "known")}


def test_certificates_are_shown_to_those_who_may_reach_somebody():
    assert "/etc/ssl/certs" not in [mount.where for mount in system_mounts(Policy())]
    if os.path.exists("/etc/ssl/certs"):
        assert "/etc/ssl/certs" in [mount.where for mount in system_mounts(Policy(network=("example.org:443",)))]


def test_only_root_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(user, "drops_user", lambda: False)
    before = os.stat(tmp_path).st_uid
    user.give(tmp_path)
    assert os.stat(tmp_path).st_uid == before
    with pinned(Policy(mounts=(Mount(str(tmp_path), writable=True),))) as pins:
        assert [mount.writable for mount in pins] == [True]


def test_the_uppermost_closed_folder_on_the_way_is_found(tmp_path):
    assert user.closed_above("/usr/bin/env") is None
    below = tmp_path / "closed" / "open"
    below.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    found = user.closed_above(str(below / "file"))
    assert found is not None
    assert str(below).startswith(found)
    assert not os.stat(found).st_mode & 0o001
