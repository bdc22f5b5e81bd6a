"""Processes that a signal met while a sandbox began: none of them stays, stopped or not."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from ludus.sandbox import Limits, Sandbox, bubblewrap, launcher_process, leftovers
from ludus.sandbox.leftovers import identity, is_dead
from ludus.sandbox.namespace_process import NamespaceProcess
from ludus.sandbox.strays import SPAWNING, sweep_processes
from ludus.sandbox.tree import below
from tests.patience import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
FOREVER = ["/bin/sh", "-c", "echo begun; exec sleep 1000"]
STOPPED = """
from ludus.sandbox.spawn import spawn
print(spawn(["/bin/sh", "-c", "kill -STOP $$; exec sleep 1000"], {}, {0: 0}), flush=True)
input()
"""
NOT_YET_EXECUTED = f"""
import ctypes, os, signal
ctypes.CDLL(None).prctl(15, {SPAWNING.encode()!r}, 0, 0, 0)
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
print(child, flush=True)
input()
"""


def state(pid):
    """What the kernel says that it does; empty where it has ended."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text(encoding="utf8").rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if found in "ZX" else found


@contextmanager
def owner(program):
    """A program that starts a process which is stopped at once, and that process."""
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            until(lambda: state(child) == "T", "a process that is stopped")
            yield process, child
        finally:
            process.kill()
            if state(child):
                os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("program", [STOPPED, NOT_YET_EXECUTED], ids=["executed", "not yet executed"])
def test_what_was_stopped_before_it_could_ask_to_end_with_its_owner_is_ended_after_it(program):
    with owner(program) as (process, child):
        sweep_processes()
        assert state(child) == "T"  # its owner lives
        process.kill()
        process.wait()
        sweep_processes()
        until(lambda: not state(child), "the end of what was stopped")


@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "process"])
def test_a_sandbox_whose_keeper_is_stopped_can_be_closed(name):
    with Sandbox(name, limits=Limits(wall=600)).start(FOREVER, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: state(process.pid) == "T", "a keeper that is stopped")
    assert process.wait() == -signal.SIGKILL


LAUNCHED = """
import subprocess
from ludus.sandbox import Sandbox
process = Sandbox("process").start(["/bin/sh", "-c", "echo begun; exec sleep 1000"], stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
input()
"""


def test_a_launcher_that_is_stopped_hears_of_the_end_of_its_owner():
    with subprocess.Popen([sys.executable, "-c", LAUNCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        launcher = int(process.stdout.readline())
        os.kill(launcher, signal.SIGSTOP)
        until(lambda: state(launcher) == "T", "a launcher that is stopped")
        process.kill()
        process.wait()
        until(lambda: not state(launcher), "the end of the launcher")


@pytest.mark.parametrize("met", [True, False])
def test_what_bwrap_leaves_that_is_killed_while_it_begins_is_ended(monkeypatch, met):
    """Without a cgroup: inside, `bwrap` asks to be killed with the one outside only when all else is done."""
    command = bubblewrap._bwrap_command
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    monkeypatch.setattr(bubblewrap, "_bwrap_command", lambda: [*command()[:-1], "--block-fd", "0", "--"])
    if not met:
        monkeypatch.setattr(NamespaceProcess, "_meet", lambda *_: None)
    with Sandbox("bubblewrap").start(FOREVER, stdin=subprocess.PIPE) as process:
        until(lambda: b"child-pid" in process._received and process._received.endswith(b"\n"), "a first process inside")
        first = int(process._received.partition(b'"child-pid": ')[2].partition(b",")[0].split()[0])
        assert state(first)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        until(lambda: not state(first), "the end of the first process inside")


def test_what_a_launcher_leaves_that_is_killed_while_it_begins_is_ended(monkeypatch, tmp_path):
    """Its child is about to enter its group, which is a pipe that nobody reads, and has asked for nothing yet."""
    os.mkfifo(tmp_path / "entry")
    group = SimpleNamespace(
        entries=(str(tmp_path / "entry"),),
        counts_memory=True,
        oom_descriptor=lambda: None,
        kill=lambda: None,
        remove=lambda: True,
        measures=lambda limit: {"limit": limit},
    )
    sandbox = Sandbox("landlock")  # which was tried here, with a group of its own
    monkeypatch.setattr(launcher_process, "make_cgroup", lambda *_: group)
    with sandbox.start(FOREVER) as process:
        until(lambda: len([*below(process.pid)]) == 2, "a child of the launcher")
        [_, child] = below(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        until(lambda: not state(child), "the end of the child")


def test_an_owner_that_cannot_be_looked_at_is_taken_to_live():
    """As where no descriptor is left: the sandboxes of others would be killed."""
    with subprocess.Popen(["/bin/sleep", "1000"]) as other:
        owner = ".".join((*identity().split(".")[:2], str(other.pid), leftovers._start_time(other.pid)))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            assert not is_dead(owner)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            other.kill()
        other.wait()
        assert is_dead(owner)
