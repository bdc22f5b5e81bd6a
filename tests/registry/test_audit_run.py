"""Probe runs: what an environment opens, contacts and starts is seen, and held against what it declares."""

import sys

import pytest

from ludus.core import EnvSpec
from ludus.registry.audit import Declared, audit
from ludus.registry.audit.permission import undeclared
from ludus.registry.audit.probe import probe
from ludus.sandbox import default_backend
from tests.registry.conftest import Site

pytestmark = pytest.mark.no_cover

MODULE = '''
import os, socket, subprocess, sys, time
import ludus
from ludus.spaces import Discrete


class Quiet(ludus.Env):
    """Touches nothing but what is its own."""

    def __init__(self):
        self.observation_space, self.action_space = Discrete(3), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        with open(os.path.join(os.path.dirname(__file__), "map.txt")) as file:
            file.read()
        self.touch()
        return 0, {}

    def step(self, action):
        return ludus.Step.termination(1)

    def touch(self):
        pass


def attempt(call, *args, **kwargs):
    """In the sandbox it may fail: that it was tried is what counts."""
    try:
        return call(*args, **kwargs)
    except Exception:
        return None


class Reader(Quiet):
    def touch(self):
        attempt(open, "/etc/passwd")
        attempt(open, os.path.expanduser("~/.netrc"))
        attempt(os.listdir, "/home")


class Writer(Quiet):
    def touch(self):
        with open("/tmp/scratch.txt", "w") as file:
            file.write("x")
        with open("/tmp/scratch.txt") as file:
            file.read()
        attempt(os.open, "/srv/flags", os.O_RDWR | os.O_CREAT)
        attempt(os.remove, os.path.expanduser("~/old.txt"))
        attempt(os.rename, "/tmp/scratch.txt", "/tmp/other.txt")


class Placer(Quiet):
    def touch(self):
        folder = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
        attempt(os.mkdir, "here", dir_fd=folder)
        attempt(os.rename, "hosts", "host", src_dir_fd=folder, dst_dir_fd=folder)
        attempt(os.symlink, "/usr/bin/env", "/srv/link")
        attempt(os.listdir, sys.path[-1])


class Keeper(Quiet):
    def touch(self):
        from ludus.sandbox import Limits, Sandbox
        attempt(Sandbox(limits=Limits(wall=10)).run, ["/bin/true"])


class Caller(Quiet):
    def touch(self):
        attempt(socket.create_connection, ("example.org", 443), 0.1)
        attempt(socket.create_connection, ("192.0.2.7", 25), 0.1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            attempt(udp.sendto, b"x", ("192.0.2.8", 53))
        with socket.socket(socket.AF_UNIX) as local:
            attempt(local.connect, "/run/docker.sock")


class Starter(Quiet):
    def touch(self):
        attempt(subprocess.run, ["git", "--version"])
        attempt(os.system, "true")
        pid = os.fork()
        if pid == 0:
            attempt(open, "/etc/hostname")
            os._exit(0)
        os.waitpid(pid, 0)


class Early(Quiet):
    def __init__(self):
        super().__init__()
        attempt(open, "/etc/group")


class Failing(Quiet):
    def touch(self):
        attempt(open, "/etc/shadow")
        raise RuntimeError("no \\x1b[31mway")


class Slow(Quiet):
    def touch(self):
        time.sleep(60)


class Dying(Quiet):
    def touch(self):
        os._exit(3)


class Leaving(Quiet):
    def touch(self):
        os._exit(0)


class Chatty(Quiet):
    def touch(self):
        print("[0, \\"done\\", \\"\\"]")
        for number in range(5000):
            attempt(open, f"/srv/{number}")


class Loud(Quiet):
    def touch(self):
        for descriptor in range(3, 20):
            attempt(os.write, descriptor, b"nonsense\\n[99, \\"read\\", \\"/x\\"]\\n" * 10)
'''
CATALOG = """
[envs."watched/{name}-v0"]
entry_point = "watched:{name}"
[envs."watched/{name}-v0".security]
{security}
"""
DECLARED = {
    "Reader": 'files = ["read:/etc/passwd", "read:~/.netrc", "read:/home"]',
    "Writer": 'files = ["write:/tmp", "write:/srv/flags", "write:~"]',
    "Caller": 'network = ["example.org:443", "192.0.2.7:*", "192.0.2.8:53"]\nfiles = ["write:/run/docker.sock"]',
    "Starter": 'subprocesses = ["git", "sh", "fork"]\nfiles = ["read:/etc"]',
}
NAMES = (
    "Quiet", "Reader", "Writer", "Placer", "Keeper", "Caller", "Starter", "Early", "Failing", "Dying", "Leaving",
    "Chatty", "Loud",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A package whose environments do all that is to be seen, once declared and once not."""
    with pytest.MonkeyPatch.context() as patch:
        site = Site(tmp_path_factory.mktemp("site"))
        patch.syspath_prepend(str(site.folder))
        patch.setenv("PATH", "/usr/bin:/bin")
        honest = "".join(
            CATALOG.format(name=name, security=security).replace(f"watched/{name}", f"watched/Honest{name}")
            for name, security in DECLARED.items()
        )
        catalog = "".join(CATALOG.format(name=name, security="") for name in NAMES) + honest
        files = {"watched/__init__.py": MODULE, "watched/map.txt": "##", "watched/ludus.toml": catalog}
        site.install("watched", {"envs": "watched:ludus.toml"}, files)
        site.record("watched")
        yield site


@pytest.fixture(scope="module")
def report(site):
    return audit(["watched"], registry=site.registry())


@pytest.fixture(scope="module")
def runs(report):
    return {run.id.removeprefix("watched/").removesuffix("-v0"): run for run in report.packages[0].environments}


def findings(report, name):
    return [one.message for one in report.findings if f"watched/{name}-v0 " in one.message]


def test_code_that_keeps_to_itself_was_seen_to_use_nothing(report, runs):
    assert (runs["Quiet"].seen, runs["Quiet"].ended) == (Declared(), "")
    assert findings(report, "Quiet") == []


def test_files_are_seen_read_and_written(report, runs):
    assert runs["Reader"].seen == Declared(files=("read:/etc/passwd", "read:/home", "read:~/.netrc"))
    assert runs["Writer"].seen == Declared(
        files=("write:/srv/flags", "write:/tmp/other.txt", "write:/tmp/scratch.txt", "write:~/old.txt")
    )
    assert findings(report, "Reader") == [
        "watched/Reader-v0 uses files that it does not declare: read:/etc/passwd, read:/home, read:~/.netrc"
    ]


def test_a_name_in_a_folder_that_is_open_is_told_as_the_path_that_it_is(runs):
    assert runs["Placer"].seen == Declared(
        files=("read:/etc", "write:/etc/here", "write:/etc/host", "write:/etc/hosts", "write:/srv/link")
    )


def test_of_a_sandbox_it_is_told_that_one_was_started_and_not_how_it_is_kept(runs):
    assert runs["Keeper"].seen.files == ()
    assert runs["Keeper"].seen.subprocesses


def test_hosts_and_sockets_are_seen(runs):
    assert runs["Caller"].seen == Declared(
        network=("192.0.2.7:25", "192.0.2.8:53", "example.org:443"), files=("write:/run/docker.sock",)
    )


def test_programs_are_seen_and_what_forked_children_do(runs):
    assert set(runs["Starter"].seen.subprocesses) == {"git", "sh", "fork"}
    assert runs["Starter"].seen.files == ("read:/etc/hostname",)


def test_making_is_watched_too(report):
    assert findings(report, "Early") == ["watched/Early-v0 uses files that it does not declare: read:/etc/group"]


@pytest.mark.parametrize("name", DECLARED)
def test_what_is_declared_is_no_finding(report, runs, name):
    assert len(findings(report, name)) >= 1
    assert findings(report, f"Honest{name}") == []
    assert runs[f"Honest{name}"].seen == runs[name].seen


@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("Failing", "RuntimeError: no \ufffd[31mway"),
        ("Dying", "it ended with code 3"),
        ("Leaving", "its record breaks off"),
    ],
)
def test_a_run_that_does_not_come_to_its_end_is_not_called_good(report, runs, name, ended):
    assert runs[name].ended == ended
    assert f"watched/{name}-v0: its run did not come to the end: {ended}" in [one.reason for one in report.unchecked]


def test_what_was_seen_before_the_end_counts(report):
    assert findings(report, "Failing") == ["watched/Failing-v0 uses files that it does not declare: read:/etc/shadow"]


def test_a_flood_is_bounded(runs):
    assert 500 < len(runs["Chatty"].seen.files) <= 1000


def test_nonsense_in_the_record_harms_nobody(runs):
    assert runs["Loud"].seen is not None
    assert all(run.id.startswith("watched/") for run in runs.values())


def test_the_package_itself_is_as_installed(report):
    assert [one for one in report.findings if one.kind == "files"] == []
    assert report.backend == default_backend().name


def test_a_run_that_takes_too_long_is_ended(site, monkeypatch):
    lines = [
        "import time",
        "from watched import Quiet",
        "class Slow(Quiet):",
        "    touch = lambda self: time.sleep(60)",
    ]
    site.write("slow_one.py", "\n".join(lines))
    monkeypatch.setattr(sys.modules[probe.__module__], "EPISODE_TIMEOUT_S", 1.0)
    [run] = probe([EnvSpec("Slow-v0", "watched:Slow")], default_backend().name)
    assert run.ended == "it took longer than 1 seconds"


def test_a_run_that_hits_a_limit_takes_nothing_from_the_others(site):
    """Of 275 environments none counted as run, since one among them had asked for more processes than there may be."""
    lines = [
        "import threading, time",
        "from watched import Quiet",
        "class Crowd(Quiet):",
        "    touch = lambda self: [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(500)]",
    ]
    site.write("crowd_one.py", "\n".join(lines))
    named = {"Before-v0": "watched:Quiet", "Crowd-v0": "crowd_one:Crowd", "After-v0": "watched:Quiet"}
    before, crowd, after = probe([EnvSpec(*one) for one in named.items()], default_backend().name)
    assert (before.ended, after.ended) == ("", "")
    assert crowd.ended == "RuntimeError: can't start new thread"


def test_a_spec_that_cannot_travel_is_not_run(site):
    [run] = probe([EnvSpec("Own-v0", lambda: None)], default_backend().name)
    assert (run.seen, run.ended) == (None, "its spec names code that has no name")


# --- what covers what ---


@pytest.mark.parametrize(
    ("said", "seen", "covered"),
    [
        ({"files": ("write:/tmp",)}, {"files": ("read:/tmp/a",)}, True),
        ({"files": ("read:/tmp",)}, {"files": ("write:/tmp/a",)}, False),
        ({"files": ("read:/tmp",)}, {"files": ("read:/tmpest",)}, False),
        ({"files": ("read:/tmp/../etc",)}, {"files": ("read:/etc/passwd",)}, True),
        ({"files": ("read:*",)}, {"files": ("read:/x",)}, True),
        ({"files": ("/tmp",)}, {"files": ("read:/tmp",)}, False),
        ({"network": ("*",)}, {"network": ("a:1",)}, True),
        ({"network": ("a:1",)}, {"network": ("a:2",)}, False),
        ({"network": ("A.org:1",)}, {"network": ("a.org:1",)}, True),
        ({"network": ("a.org:1",)}, {"network": ("b.a.org:1",)}, False),
        ({"network": ("localhost:8000",)}, {"network": ("127.0.0.1:8000",)}, True),
        ({"network": ("a:80",)}, {"network": ("a:None",)}, True),
        ({"subprocesses": ("git",)}, {"subprocesses": ("/usr/bin/git",)}, True),
        ({"subprocesses": ("/usr/bin/git",)}, {"subprocesses": ("/tmp/git",)}, False),
        ({"subprocesses": ("git",)}, {"subprocesses": ("git-evil",)}, False),
        ({"subprocesses": ("*",)}, {"subprocesses": ("fork",)}, True),
    ],
)
def test_a_declaration_covers_what_it_says(said, seen, covered):
    assert (undeclared(Declared(**seen), Declared(**said)) == Declared()) is covered
