"""`process`: no wall, and it says so; its keeper can be lost without losing the command."""

import os
import signal
import subprocess

import pytest

from ludus.errors import SandboxUnavailable
from ludus.sandbox import Limits, Mount, Policy, Sandbox, backend, default_backend
from ludus.sandbox.process import Process

QUICK = Limits(wall=20)


def test_it_is_no_boundary_and_never_the_default():
    assert not backend("process").boundary
    assert default_backend().name != "process"
    found = Sandbox("process").guarantees
    assert not found.boundary
    assert (found.user, found.files, found.network, found.syscalls, found.other_processes) == ("",) * 5


def test_it_sees_the_hosts_files_and_its_network(tmp_path):
    (tmp_path / "file").write_text("seen")
    box = Sandbox("process", limits=QUICK, network=["localhost:80"], mounts=[Mount(str(tmp_path))])
    done = box.run(["/bin/sh", "-c", f"cat {tmp_path}/file; echo $HTTP_PROXY; [ -d /proc/{os.getpid()} ]"])
    assert (done.stdout, done.code) == (b"seen\n", 0)  # and it is told of no proxy, for there is none
    assert box.guarantees.network == ""


def test_it_cannot_move_mounts():
    with pytest.raises(SandboxUnavailable, match="expected mounts at their own path, got /elsewhere"):
        Process().guarantees(Policy(mounts=(Mount("/usr/share", "/elsewhere"),)))


def test_a_keeper_that_is_killed_takes_the_command_along():
    box = Sandbox("process", limits=QUICK)
    with box.start(["/bin/sh", "-c", "echo $PPID $HOME; exec sleep 1000"], stdout=subprocess.PIPE) as confined:
        keeper, home = confined.stdout.readline().split()
        assert int(keeper) == confined.pid
        os.kill(confined.pid, signal.SIGKILL)
        assert confined.wait() == -signal.SIGKILL
        assert confined.stdout.read() == b""
    assert not os.path.exists(home)


def test_orphans_are_buried_while_it_runs():
    # Each orphan that ended would take the place of a process.
    script = "i=0; while [ $i -lt 60 ]; do (true &) ; i=$((i+1)); sleep 0.01; done; echo done"
    done = Sandbox("process", limits=Limits(wall=30, processes=30)).run(["/bin/sh", "-c", script])
    assert done.stdout == b"done\n", done.stderr


def test_signals_that_python_ignores_are_not_ignored_inside():
    done = Sandbox("process", limits=QUICK).run(["/bin/grep", "SigIgn", "/proc/self/status"])
    ignored = int(done.stdout.split()[1], 16)
    assert ignored & ~(1 << 31 | 1 << 32) == 0  # those two are the C library's own


def test_where_the_system_cannot_tell_of_an_end_it_is_looked_for(monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    done = Sandbox("process", limits=QUICK).run(["/bin/sh", "-c", "echo x; exit 3"])
    assert (done.code, done.stdout) == (3, b"x\n")
    assert Sandbox("process", limits=Limits(wall=0.1)).run(["/bin/sleep", "100"]).usage.limit == "wall"
