"""Policies say what they take; a sandbox takes a backend that starts, or says why there is none."""

import pytest

from ludus.errors import InvalidArgument, InvalidType, SandboxUnavailable
from ludus.sandbox import Limits, Mount, Policy, Probe, Sandbox, backend, backends, default_backend
from ludus.sandbox.process import ProcessBackend
from ludus.sandbox.trial_start import try_start


@pytest.mark.parametrize("name", ["wall", "cpu"])
@pytest.mark.parametrize("value", [0, -1.0, float("nan"), True, "1"])
def test_times_are_above_zero(name, value):
    with pytest.raises(InvalidArgument, match=f"limits.{name}: expected seconds above 0"):
        Limits(**{name: value})


@pytest.mark.parametrize("name", ["memory", "processes", "file_size", "disk", "open_files", "output"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_counts_are_whole_and_above_zero(name, value):
    with pytest.raises(InvalidArgument, match=f"limits.{name}: expected a whole number above 0"):
        Limits(**{name: value})


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/a/", "/a\0b", "", 3])
def test_a_mount_is_a_plain_absolute_path(path):
    with pytest.raises(InvalidArgument, match=r"expected an absolute path without '\.\.'"):
        Mount(path)
    with pytest.raises(InvalidArgument, match=r"expected an absolute path without '\.\.'"):
        Mount("/usr", path)


@pytest.mark.parametrize("target", ["/", "/proc", "/proc/self", "/dev", "/dev/shm", "/sys", "/sys/fs"])
def test_the_kernels_folders_are_no_place_for_a_mount(target):
    with pytest.raises(InvalidArgument, match="which is reserved"):
        Mount("/usr", target)


@pytest.mark.parametrize(
    "network", ["all", "example.org:443", (), ("example.org",), ("example.org:0",), ("a b:1",), ("x:99999",), (3,)]
)
def test_a_network_is_none_loopback_or_hosts_with_ports(network):
    with pytest.raises(InvalidArgument, match="network: expected"):
        Policy(network=network)


@pytest.mark.parametrize("environment", [{"A": 1}, {1: "a"}, {"": "a"}, {"A=B": "c"}, {"A": "\0"}, ["A"]])
def test_variables_are_text(environment):
    with pytest.raises(InvalidType, match="environment: expected names and values as text"):
        Policy(environment=environment)


@pytest.mark.parametrize("argv", ["ls", [], ["ls", 3], ["a\0b"], None])
def test_a_command_is_a_list_of_texts(argv):
    with pytest.raises(InvalidType, match="argv: expected"):
        Sandbox("process").run(argv)


def test_an_unknown_backend_is_refused_with_the_known_ones():
    with pytest.raises(InvalidArgument, match=r"expected one of bubblewrap, landlock.*got 'jail'"):
        Sandbox("jail")


def test_a_backend_that_does_not_start_is_refused_with_its_reason(monkeypatch):
    monkeypatch.setattr(ProcessBackend, "probe", lambda self: Probe(False, "out of order"))
    with pytest.raises(SandboxUnavailable, match="expected the backend 'process' to start here, got out of order"):
        Sandbox("process")


def test_without_a_boundary_there_is_no_default(monkeypatch):
    for name in ("bubblewrap", "landlock"):
        monkeypatch.setattr(backend(name), "probe", lambda: Probe(False, "out of order"))
    with pytest.raises(SandboxUnavailable, match="bubblewrap: out of order; landlock: out of order"):
        default_backend()


def test_the_next_boundary_is_taken_by_default_where_the_first_does_not_start(monkeypatch):
    monkeypatch.setattr(backend("bubblewrap"), "probe", lambda: Probe(False, "out of order"))
    assert default_backend().name == "landlock"


def test_ranks_say_which_isolation_is_stronger():
    ranks = {name: backend(name).rank for name in backends()}
    assert ranks["process"] < ranks["landlock"] < ranks["bubblewrap"] < 100
    assert min(ranks[name] for name in ("podman", "docker", "gvisor")) >= 100


def test_a_probe_that_cannot_start_tells_why(monkeypatch):
    def failing(self, *_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(ProcessBackend, "start", failing)
    assert try_start(ProcessBackend(), ["/bin/true"]) == Probe(False, "no more processes")


def test_a_sandbox_shows_what_it_is():
    assert repr(Sandbox("process")).startswith("Sandbox('process', Policy(limits=Limits(wall=60.0")


def test_input_that_nobody_reads_is_no_trouble():
    assert Sandbox("process", limits=Limits(wall=20)).run(["/bin/true"], input=b"x" * 1000000).code == 0
