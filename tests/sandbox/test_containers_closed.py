"""Containers fail closed: missing isolation is seen before anything runs, and nobody's end leaves anything."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ludus.errors import SandboxError, SandboxUnavailable
from ludus.sandbox import Limits, Policy
from ludus.sandbox.containers import Docker, Gvisor, Podman
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.description import LABEL
from ludus.sandbox.containers.engine import remove_leftovers
from ludus.sandbox.containers.images import host_image
from ludus.sandbox.containers.service import PodmanService
from ludus.sandbox.leftovers import identity, is_dead, is_of_today, private_folder, sweep_folders
from ludus.sandbox.streams import Streams

POLICY = Policy(limits=Limits(cpu=5.0))


class Careless(Api):
    """An engine that does not do all it is asked for."""

    instead: dict = {}

    def create(self, description):
        for name, value in self.instead.items():
            (description if name in description else description["HostConfig"])[name] = value
        return super().create(description)


@pytest.fixture(scope="module")
def podman():
    """Podman; one that does not start here fails the test."""
    engine = Podman()
    assert engine.probe().works, engine.probe().detail
    yield engine
    engine.close()


@pytest.fixture
def careless(podman, monkeypatch):
    """Podman, as if it did otherwise than it was told, though it has shown that it can."""

    def careless(instead):
        api = Careless(podman.connect().path)
        api.instead = instead
        monkeypatch.setattr(podman, "connect", lambda: api)
        return podman

    return careless


def own_containers(api):
    return [container for container, (owner, _) in api.labelled(LABEL).items() if owner == identity()]


MISSING = {
    "limits.memory": {"Memory": 0, "MemorySwap": 0},
    "limits.memory ": {"MemorySwap": -1},
    "no capabilities": {"CapDrop": ["NET_RAW"]},
    "two seccomp filters": {"SecurityOpt": ["no-new-privileges", "seccomp=unconfined"]},
    "a read-only root": {"ReadonlyRootfs": False},
    "user 71000 (it is 0)": {"User": "0:0"},
    "own net namespace": {"NetworkMode": "host"},
    "own pid namespace": {"PidMode": "host"},
    "own ipc namespace": {"IpcMode": "host", "ShmSize": 0},
}


@pytest.mark.parametrize("part", MISSING)
def test_isolation_that_is_missing_is_seen_before_anything_runs(careless, part):
    engine = careless(MISSING[part])
    before = own_containers(engine.connect())
    with pytest.raises(SandboxUnavailable, match=r"podman: expected .*, got a container without") as error:
        engine.start(["true"], POLICY)
    assert part.strip() in str(error.value)
    assert own_containers(engine.connect()) == before


def test_without_the_ban_on_new_privileges_the_first_process_does_not_come(careless):
    with pytest.raises(SandboxError, match="expected its first process to begin, got exit code 1"):
        careless({"SecurityOpt": []}).start(["true"], POLICY)


def test_limits_of_each_process_that_were_not_set_are_seen(podman, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.containers.engine.own_limits", lambda policy, place: [])
    with pytest.raises(SandboxUnavailable, match=r"expected limits.open_files, limits.file_size, got a container"):
        podman.start(["true"], POLICY)


def test_what_the_engine_lets_open_is_tightened(careless):
    with careless({"PidsLimit": -1}).start(["true"], POLICY) as process:
        assert process.wait(60) == 0


def test_an_engine_without_control_groups_says_so_and_refuses_limits(careless, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.containers.group._places", lambda pid, container: {})
    engine = careless({})
    engine._probe = None
    assert engine.probe().detail.endswith("without limits.memory, processes, cpu")
    with pytest.raises(SandboxUnavailable, match=r"expected to enforce limits.memory, processes, got an engine that"):
        engine.guarantees(Policy())
    lifted = Policy(limits=Limits(memory=None, processes=None))
    assert engine.guarantees(lifted).memory == ""
    with engine.start(["true"], lifted) as process:
        assert process.wait(60) == 0
    engine._probe = None


# What is said where an engine is not there.


def test_a_missing_program_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CONTAINER_HOST", raising=False)
    assert (
        Podman()
        .probe()
        .detail.endswith("expected the program 'podman', got nothing of that name; apt-get install podman runc")
    )
    with pytest.raises(SandboxUnavailable, match="podman: expected an engine that starts containers, got podman"):
        Podman().start(["true"], POLICY)


def test_gvisor_needs_its_runtime(monkeypatch, tmp_path):
    (tmp_path / "podman").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "expected the program 'runsc'" in Gvisor().probe().detail


def test_a_daemon_that_is_not_there_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    found = Docker().probe()
    assert not found.works
    assert (
        f"expected a daemon that answers on {tmp_path}/none.sock, got none; apt-get install docker.io" in found.detail
    )


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:2375", "ssh://host", "unix://relative"])
def test_an_engine_elsewhere_is_refused(monkeypatch, address):
    monkeypatch.setenv("DOCKER_HOST", address)
    monkeypatch.setenv("CONTAINER_HOST", address)
    assert "DOCKER_HOST: expected unix:///path of a socket on this machine" in Docker().probe().detail
    assert "CONTAINER_HOST: expected unix:///path of a socket on this machine" in Podman().probe().detail


def test_a_service_that_is_named_is_used(podman, monkeypatch):
    monkeypatch.setenv("CONTAINER_HOST", f"unix://{podman.connect().path}")
    other = Podman()
    assert other.probe().works
    assert other.connect().path == podman.connect().path


def test_a_service_that_cannot_start_says_why():
    with pytest.raises(SandboxUnavailable, match=r"podman: expected its service to start, got: .*no-such-runtime"):
        PodmanService("--runtime=no-such-runtime")


def test_an_image_that_is_not_there_is_never_pulled(podman):
    with pytest.raises(SandboxUnavailable, match="got 'localhost/no-such-image', which it does not have"):
        Podman(image="localhost/no-such-image").start(["true"], POLICY)


def test_what_the_engine_refuses_is_said_in_its_words(podman):
    before = own_containers(podman.connect())
    with pytest.raises(SandboxError, match=r"podman: expected the container to start, got: .*"):
        podman.start(["true"], Policy(limits=Limits(memory=1 << 18)))
    other = Podman(image=host_image(podman.connect()), python="/no/such/python")
    detail = other.probe().detail
    assert detail.startswith("podman: expected the container to start, got: ")
    assert "/no/such/python" in detail
    assert own_containers(podman.connect()) == before


def test_work_that_cannot_be_handed_over_is_an_error(podman):
    with podman._open(POLICY, podman.guarantees(POLICY), Streams(None, None, None)) as process:
        process.kill()
        with pytest.raises(SandboxError, match="expected its first process to take its work, got"):
            process.hand_over({"argv": ["true"]}, None)


def test_the_engine_is_asked_why_where_all_ended_at_once(podman):
    with podman.start(["sleep", "600"], POLICY) as process:
        os.kill(process.pid, signal.SIGKILL)  # as the kernel would, where the first process is the largest
        assert process.wait(60) == -9
        usage = process.usage()
    assert (usage.limit, usage.oom) == (None, False)


def test_its_own_loopback_is_there(podman):
    program = (
        "import socket as s; a = s.create_server(('127.0.0.1', 0))\ns.create_connection(a.getsockname())\nprint(1)"
    )
    with podman.start([sys.executable, "-c", program], Policy(network="loopback"), stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b"1\n"


# Nobody's end leaves anything.

STARTS = """
import sys, subprocess
from ludus.sandbox import Sandbox, backend
box = Sandbox(sys.argv[1])
sandboxed = box.start(["sleep", "600"])
print(sandboxed.pid, sandboxed.container, backend(sys.argv[1]).connect().path, flush=True)
input()
"""


@pytest.mark.in_turns("name")
@pytest.mark.parametrize("name", ["podman", pytest.param("docker", marks=pytest.mark.xdist_group("docker")), "gvisor"])
def test_a_parent_that_is_killed_takes_its_containers_with_it(name, podman, request):
    if name == "docker":
        request.getfixturevalue("container_daemon")
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        pid, container, path = parent.stdout.readline().split()
        services = [one for one in os.listdir("/proc") if one.isdigit() and serves(one, path)]
        assert len(services) == (0 if name == "docker" else 1)
        ending = [os.pidfd_open(int(one)) for one in (pid, *services)]
        parent.kill()
    for one in ending:
        assert select.select([one], [], [], 20)[0] == [one]
        os.close(one)
    engine = {"podman": Podman, "docker": Docker, "gvisor": Gvisor}[name]()
    api = engine._api()  # the next start
    assert container not in api.labelled(LABEL)
    if name != "docker":
        assert not Path(path).parent.exists()


def test_a_parent_that_ends_leaves_nothing(podman):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, "podman"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        _, container, path = parent.stdout.readline().split()
        assert container in podman.connect().labelled(LABEL)
        parent.communicate("\n")
    assert parent.returncode == 0
    assert container not in podman.connect().labelled(LABEL)
    assert not Path(path).parent.exists()


def test_containers_of_the_living_are_left_alone(podman):
    with podman.start(["sleep", "600"], POLICY) as process:
        other = Podman()
        other._api()
        assert process.container in own_containers(other.connect())
        assert process.wait(0) is None


def test_an_owner_is_dead_when_no_process_has_its_number_and_time():
    boot, namespace, pid, started = identity().split(".")
    assert not is_dead(identity())
    assert is_dead(".".join((boot, namespace, pid, str(int(started) + 1))))
    assert not is_dead(".".join(("00000000", namespace, pid, started)))  # another machine, or this one before
    assert not is_of_today(".".join(("00000000", namespace, pid, started)))
    assert is_of_today(identity())
    assert not is_dead(".".join((boot, "1", "999999", "1")))  # another namespace: who knows
    assert not is_dead("nonsense")


def test_folders_of_dead_processes_are_swept_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.leftovers.tempfile.tempdir", "/tmp")
    boot, namespace, pid, started = identity().split(".")
    dead = ".".join((boot, namespace, pid, str(int(started) + 1)))
    left = [f"ludus-serve-{dead}-abc", f"ludus-home-{dead}-a_b", "ludus-box-00000000.1.2.3-old"]
    kept = [f"ludus-home-{identity()}-x", "ludus-home-abc", f"other-home-{dead}-x", "ludus-notes"]
    for name in (*left, *kept):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").write_text("")
    sweep_folders(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
    made = private_folder("home")
    assert os.path.basename(made).startswith(f"ludus-home-{identity()}-")
    os.rmdir(made)


def test_of_another_day_only_what_does_not_run_is_removed(podman, monkeypatch):
    api, removed = podman.connect(), []
    known = {"old": ("00000000.1.2.3", False), "elsewhere": ("00000000.1.2.3", True), "ours": (identity(), True)}
    monkeypatch.setattr(api, "labelled", lambda label: known)
    monkeypatch.setattr(api, "remove", removed.append)
    remove_leftovers(api)
    assert removed == ["old"]


def test_a_service_that_died_is_started_again():
    engine = Gvisor()
    with engine.start(["sleep", "600"], POLICY) as process:
        first = engine.connect()
        [service] = [one for one in os.listdir("/proc") if one.isdigit() and serves(one, first.path)]
        descriptor = os.pidfd_open(int(service))
        os.kill(int(service), signal.SIGKILL)
        assert select.select([descriptor], [], [], 20)[0] == [descriptor]
        os.close(descriptor)
    assert process.container not in own_containers(engine.connect())
    assert engine.connect().path != first.path


def serves(pid, path):
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0] == b"podman" and f"unix://{path}".encode() in words
