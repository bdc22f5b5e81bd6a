"""Control groups: those of this machine for real, version 2 on a folder that looks like one."""

import contextlib
import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from ludus.errors import SandboxError
from ludus.sandbox import Limits, cgroup, enforcement
from ludus.sandbox.cgroup import Cgroup, CgroupParent, find_places, places
from ludus.sandbox.containers.group import Group
from ludus.sandbox.leftovers import identity

FILES = ("cgroup.procs", "cgroup.kill", "cpu.stat", "memory.max", "memory.swap.max", "memory.oom.group", "pids.max")


@pytest.fixture
def unified(tmp_path, monkeypatch):
    """A hierarchy of version 2, as far as files go: a folder made in it has the files of a group."""
    top = tmp_path / "unified"
    real_mkdir, real_rmdir = os.mkdir, os.rmdir

    def make(path, *mode):
        real_mkdir(path, *mode)
        if str(path).startswith(str(top)):
            for name in FILES:
                Path(path, name).write_text("")

    def remove(path, **options):
        if str(path).startswith(str(top)):
            for file in Path(path).iterdir():
                file.unlink()
        real_rmdir(path, **options)

    monkeypatch.setattr(os, "mkdir", make)
    monkeypatch.setattr(os, "rmdir", remove)
    top.mkdir()
    (top / "cgroup.controllers").write_text("cpu memory pids\n")
    (top / "cgroup.subtree_control").write_text("")
    return top


def version_2(folder):
    return {role: CgroupParent(2, str(folder)) for role in ("memory", "pids", "cpu", "kill")}


def test_places_are_found_by_trying(unified, tmp_path):
    (tmp_path / "mounts").write_text(f"proc /proc proc rw 0 0\ncgroup2 {unified} cgroup2 rw 0 0\n")
    (tmp_path / "own").write_text("0::/\n")
    assert find_places(str(tmp_path / "mounts"), str(tmp_path / "own")) == version_2(unified)
    assert "+pids" in (unified / "cgroup.subtree_control").read_text()  # a real one would keep both
    assert [path for path in unified.iterdir() if path.is_dir()] == []


def test_somebody_looks_above_their_own_group(unified, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (unified / "session").mkdir()
    (unified / "session" / "shell").mkdir()
    (tmp_path / "mounts").write_text(f"cgroup2 {unified} cgroup2 rw 0 0\n")
    (tmp_path / "own").write_text("0::/session/shell\n")
    assert find_places(str(tmp_path / "mounts"), str(tmp_path / "own")) == version_2(unified / "session")


def test_a_service_that_was_handed_its_group_moves_its_processes_down(unified, tmp_path, monkeypatch):
    """`Delegate=` of systemd: the group is the user's, the processes live in it, and nothing above is theirs."""
    service = unified / "trial.service"
    service.mkdir()
    (service / "cgroup.controllers").write_text("cpu memory pids\n")
    (service / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "mounts").write_text(f"cgroup2 {unified} cgroup2 rw 0 0\n")
    (tmp_path / "own").write_text("0::/trial.service\n")
    moved, real_write, real_mkdir = [], cgroup._write, os.mkdir

    def write(path, value):
        if path == f"{service}/cgroup.subtree_control" and (service / "cgroup.procs").read_text():
            raise OSError(errno.EBUSY, "processes live here")
        if path == f"{service}/{cgroup.LEAF}/cgroup.procs":
            moved.append(int(value))
            (service / "cgroup.procs").write_text("")
        real_write(path, value)

    def make(path, *mode):
        if os.path.dirname(path) == str(unified):
            raise PermissionError(path)
        real_mkdir(path, *mode)

    monkeypatch.setattr(os, "geteuid", lambda: service.stat().st_uid or 1000)
    monkeypatch.setattr(cgroup, "_write", write)
    monkeypatch.setattr(os, "mkdir", make)
    os.chown(service, os.geteuid(), -1)
    assert find_places(str(tmp_path / "mounts"), str(tmp_path / "own")) == version_2(service)
    assert moved == [os.getpid()]
    assert [path.name for path in service.iterdir() if path.is_dir()] == [cgroup.LEAF]


def test_a_group_of_somebody_else_is_left_as_it_is(unified, monkeypatch):
    (unified / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr(os, "geteuid", lambda: unified.stat().st_uid + 1)
    assert not cgroup._is_delegated(str(unified))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not cgroup._is_delegated(str(unified)), "root's are all groups"


def test_of_several_parents_the_one_that_can_do_most_is_taken(monkeypatch):
    roles = {"near": ("cpu", "kill"), "far": cgroup.ROLES, "farther": ("cpu",)}
    monkeypatch.setattr(cgroup, "_roles_of", roles.__getitem__)
    assert cgroup._best(list(roles)) == version_2("far")
    assert cgroup._best(["farther", "near"]) == {role: CgroupParent(2, "near") for role in ("cpu", "kill")}


def test_without_a_hierarchy_there_is_none(tmp_path):
    (tmp_path / "mounts").write_text("proc /proc proc rw 0 0\n")
    assert find_places(str(tmp_path / "mounts"), str(tmp_path / "own")) == {}


def test_a_hierarchy_that_cannot_be_written_is_none(tmp_path):
    (tmp_path / "mounts").write_text(
        "cgroup2 /proc/self/fdinfo cgroup2 ro 0 0\ncgroup /proc/self cgroup rw,memory 0 0\n"
    )
    assert find_places(str(tmp_path / "mounts"), str(tmp_path / "own")) == {}


def test_elsewhere_there_is_none(monkeypatch):
    monkeypatch.setattr(cgroup.sys, "platform", "darwin")
    assert places.__wrapped__() == {}


def test_version_2_takes_the_limits(unified):
    group = Cgroup(version_2(unified), Limits(memory=1000000, processes=10), overhead=2)
    [entry] = group.entries
    folder = Path(entry).parent
    assert folder.parent == unified
    assert (folder / "memory.max").read_text() == "1000000"
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "memory.oom.group").read_text() == "1"
    assert (folder / "pids.max").read_text() == "12"
    assert group.oom_descriptor() is None  # the kernel ends the group by itself
    assert group.remove()
    assert not folder.exists()
    assert group.remove()


def test_version_2_is_measured(unified):
    group = Cgroup(version_2(unified), Limits(), overhead=2)
    folder = Path(group.entries[0]).parent
    assert not group.ran_out()
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\n")
    (folder / "memory.peak").write_text("4096\n")
    (folder / "pids.peak").write_text("5\n")
    (folder / "pids.events").write_text("max 0\n")
    assert group.measures(None) == {"cpu": 1.5, "peak_memory": 4096, "processes": 3}
    (folder / "pids.events").write_text("max 3\n")
    assert group.measures(None)["limit"] == "processes"
    assert "limit" not in group.measures("wall")
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert group.measures(None)["oom"]
    assert group.measures(None)["limit"] == "memory"
    assert group.measures("wall")["limit"] == "wall"


def test_version_2_is_killed_at_once(unified):
    group = Cgroup(version_2(unified), Limits())
    folder = Path(group.entries[0]).parent
    group.kill()
    assert (folder / "cgroup.kill").read_text() == ""  # nobody is in it
    (folder / "cgroup.procs").write_text("12345\n")
    group.kill()
    assert (folder / "cgroup.kill").read_text() == "1"


@pytest.mark.parametrize(("number", "known"), [(errno.ENODEV, True), (errno.ENOENT, True), (errno.EACCES, False)])
def test_a_group_that_is_removed_while_it_is_killed_is_no_error(tmp_path, monkeypatch, number, known):
    """By the watcher's thread, which does so as soon as nobody is in it any more."""
    (tmp_path / "cgroup.procs").write_text("1\n")
    (tmp_path / "cgroup.kill").touch()

    def removed(path, value):
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(cgroup, "_write", removed)
    with contextlib.nullcontext() if known else pytest.raises(PermissionError):
        cgroup._kill(str(tmp_path))


def test_a_limit_that_is_refused_leaves_nothing(unified, monkeypatch):
    monkeypatch.setattr(
        enforcement, "places", lambda: {**version_2(unified), "memory": CgroupParent(1, str(unified / "none"))}
    )
    with pytest.raises(SandboxError, match="expected to make a cgroup as before"):
        enforcement.make_cgroup(Limits())
    assert [path for path in unified.iterdir() if path.is_dir()] == []


# This machine's own.


@pytest.fixture
def own():
    found = places()
    assert {"memory", "pids", "cpu"} <= set(found), "expected cgroups that can be made here, as root"
    return found


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="groups are root's to make on this machine")


@needs_root
def test_what_a_dead_process_left_is_removed_with_what_is_in_it(own):
    with subprocess.Popen(["/bin/true"]) as dead:
        dead.wait()
    boot, namespace = identity().split(".")[:2]
    name = f"ludus-{boot}.{namespace}.{dead.pid}.1-0"
    folders = {f"{place.parent}/{name}" for place in own.values()}
    with subprocess.Popen(["/bin/sleep", "1000"]) as left:
        for folder in folders:
            os.mkdir(folder)
            cgroup._write(f"{folder}/cgroup.procs", left.pid)
        while not cgroup.sweep():
            pass
        assert not any(map(os.path.exists, folders))
        assert left.wait() == -9


@needs_root
def test_what_a_living_process_has_is_left_alone(own):
    group = Cgroup(own, Limits())
    for place in own.values():
        cgroup._sweep(place.parent)
    assert all(map(os.path.exists, group.entries))
    assert group.remove()


@needs_root
def test_where_the_kernel_cannot_kill_a_group_its_processes_are_killed(own):
    few = {role: place for role, place in own.items() if place.version == 1}
    group = Cgroup(few, Limits())
    children = [subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & wait"]) for _ in range(3)]
    for child in children:
        for entry in group.entries:
            cgroup._write(entry, child.pid)
    group.kill()
    assert [child.wait() for child in children] == [-9] * 3
    while not group.remove():
        pass


def test_guarantees_name_the_version(monkeypatch):
    monkeypatch.setattr(enforcement, "places", lambda: version_2("/nowhere"))
    found = enforcement.limit_means(Limits(cpu=1))
    assert (found["memory"], found["processes"]) == ("cgroup v2 memory", "cgroup v2 pids")
    assert found["cpu"] == "watcher (cgroup v2 cpu), RLIMIT_CPU"
    assert enforcement.kill_means() == "subreaper, cgroup"
    monkeypatch.setattr(enforcement, "places", dict)
    assert enforcement.kill_means() == "subreaper"
    monkeypatch.setattr(enforcement.sys, "platform", "darwin")
    assert enforcement.kill_means() == "process group"
    assert enforcement.limit_means(Limits())["memory"] == ""


@pytest.mark.parametrize(
    ("made", "name"),
    [(lambda: Cgroup({}, Limits()), "_oom_event"), (lambda: Group(os.getpid(), "no container"), "_alarm")],
    ids=["ours", "an engine's"],
)
def test_what_is_read_is_not_closed_meanwhile(made, name, monkeypatch):
    """Whoever measures and whoever removes are two threads; a closed number may be another file's at once."""
    group, read = made(), os.eventfd_read
    setattr(group, name, (os.eventfd(0, os.EFD_NONBLOCK), os.open(os.devnull, os.O_RDONLY)))
    removing = threading.Thread(target=group.remove)

    def read_slowly(descriptor):
        removing.start()
        removing.join(0.2)
        assert removing.is_alive()
        return read(descriptor)

    monkeypatch.setattr(os, "eventfd_read", read_slowly)
    assert not group.ran_out()
    removing.join()
    assert getattr(group, name) is None
    assert not group.ran_out()
