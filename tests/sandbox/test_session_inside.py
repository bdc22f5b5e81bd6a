"""The agent of a session outside of any sandbox, as a plain process: each of its parts, one by one and together."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from ludus.errors import SandboxError
from ludus.sandbox import Guarantees, Limits, Policy, Usage
from ludus.sandbox.backend import Confined
from ludus.sandbox.session import Session
from ludus.sandbox.session.inside import files, tree
from ludus.sandbox.session.inside.capture import SLACK, Capture
from ludus.sandbox.session.inside.shell import MOST_REPORT, Shell, find_shell

PROGRAM = """
import os, sys
os.dup2(int(sys.argv[2]), 3, inheritable=False)
size = int.from_bytes(os.read(3, 4), "big")
while size:
    size -= len(os.read(3, size))
from ludus.sandbox.session.inside.agent import main
main(sys.argv[1])
"""


class Plain(Confined):
    """A process that ends when its channel does."""

    guarantees = Guarantees(backend="plain", boundary=False)

    def __init__(self, shell: str, channel: int, stderr: int) -> None:
        self.channel = socket.socket(fileno=os.dup(channel))
        command = [sys.executable, "-c", PROGRAM, shell, str(channel)]
        self.process = subprocess.Popen(command, pass_fds=[channel], stdin=subprocess.DEVNULL, stderr=stderr)
        self.pid, self.stderr = self.process.pid, self.process.stderr

    def wait(self, timeout=None):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        if self.process.poll() is None:
            self.channel.shutdown(socket.SHUT_RDWR)
            self.process.wait(30)

    def usage(self):
        return Usage()

    def close(self):
        self.kill()
        self.channel.close()
        self.stderr.close()


class Launcher:
    policy = Policy(limits=Limits(output=None))

    def start(self, argv, *, stderr, channel):
        return Plain(argv[-1], channel, stderr)


@pytest.fixture
def session():
    with Session(Launcher()) as session:
        yield session


# All together.


def test_commands_and_their_state(session):
    session.run("cd /usr; X=1; false")
    result = session.run("echo $? $X $PWD; echo err >&2", limit=20)
    assert (result.stdout, result.stderr, result.cwd) == (b"1 1 /usr\n", b"err\n", "/usr")
    assert session.run("cat", input=b"x" * 300_000, limit=400_000).stdout == b"x" * 300_000
    assert session.run("seq 100000", limit=10, merge=True).stdout.endswith(b"0000\n")
    assert session.run("true", input=b"x" * 300_000).ok
    assert not session.run("exec true").remembered


def test_timeouts_and_kills(session):
    assert session.run("sleep 600", timeout=0.1).code == 130
    stubborn = session.run("trap '' INT; sleep 600 & while :; do :; done", timeout=0.1)
    assert (stubborn.code, stubborn.timed_out) == (137, True)
    left = session.run("trap '' INT; sleep 600 & trap - INT; sleep 600", timeout=0.1)
    assert (left.timed_out, left.job) == (True, None)
    orphan = session.run("sleep 600 & kill -9 $PPID; sleep 600")
    assert (orphan.code, "killed the process" in orphan.note) == (137, True)


def test_jobs(session, tmp_path):
    session.run(f"cd {tmp_path}; mkfifo gate")
    job = session.start("read x < gate; echo $x; exit 3")
    assert job.wait(0.05).running
    session.run("echo go > gate")
    assert job.wait().code == 3
    assert job.tail() == b"go\n"
    left = session.run("sleep 600 & echo on")
    assert session.job(left.job).kill().code == 0
    assert [one.running for one in session.jobs()] == [False] * 4
    with pytest.raises(SandboxError, match="no job"):
        session.job(1)._ask("kill", job=77)
    for number in range(70):
        session.start(f": {number}").wait()
    assert len(session.jobs()) <= 66


def test_files(session, tmp_path):
    session.write_file(f"{tmp_path}/a/b", b"x" * 1_500_000, mode=0o600)
    assert session.read_file(f"{tmp_path}/a/b", 2_000_000) == b"x" * 1_500_000
    assert [entry.name for entry in session.list_files(f"{tmp_path}/a")] == ["b"]
    with pytest.raises(FileNotFoundError):
        session.read_file(f"{tmp_path}/c")


def test_the_plain_shell(session):
    with Session(Launcher(), shell="sh") as plain:
        plain.run("cd /usr; X=1")
        assert plain.run("echo $X $PWD; exit 4").stdout == b"1 /usr\n"


def test_a_shell_that_is_not_there_is_told(monkeypatch):
    with pytest.raises(FileNotFoundError, match="no shell fish"):
        find_shell("fish")
    assert find_shell("sh")[0] == "sh"


def test_an_agent_whose_session_is_gone_kills_everything_and_ends(session, tmp_path):
    session.run(f"cd {tmp_path}; mkfifo gate")
    session.start("echo $$ > pid; echo > gate; exec sleep 600")
    session.run("read x < gate")
    pid = int((tmp_path / "pid").read_text())
    session.close()
    assert session._link.confined.wait(0) == 0
    while pid in tree.parents():
        pass


# The parts.


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
@pytest.mark.parametrize("size", [0, 1, 5, 100, 3 * SLACK])
@pytest.mark.parametrize("step", [1, 1000, SLACK])
def test_a_capture_keeps_both_ends(limit, size, step):
    data = os.urandom(size)
    if size > 1000 and step == 1:
        step = 997
    capture = Capture(limit)
    begin = b"".join(capture.feed(data[place : place + step]) for place in range(0, size, step))
    kept = begin + capture.end()
    assert begin == data[: limit - limit // 2]
    assert len(kept) == min(size, limit)
    assert capture.dropped == size - len(kept)
    assert data.endswith(capture.end())
    whole = capture.end() if capture.dropped else data
    assert capture.recent(3) == whole[max(0, len(whole) - 3) :]


def report(content: bytes) -> "tuple[bytes, bytes] | None":
    shell = Shell(("bash", "/bin/bash"), b"true", b"", 0)
    os.write(shell.files[2], content.replace(b"WORD", shell.word))
    try:
        return shell.report()
    finally:
        shell.close()
        shell.close()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"WORD\0/usr\n\0set -e\n\0X=1\n\0WORD\n", (b"/usr", b"set -e\n\0X=1\n")),
        (b"noise WORD\0/old\n\0a\0b\0WORD\nWORD\0/new\n\0c\0d\0WORD\nnoise", (b"/new", b"c\0d")),
        (b"WORD\0/with\nnewline\n\0a\0b\0WORD\n", (b"/with\nnewline", b"a\0b")),
        (b"", None),
        (b"WORD\0/usr\n\0set -e\n\0X=1\n", None),
        (b"WORD\0/usr\n\0no variables\0WORD\n", None),
        (b"WORD\0/usr\n\0a\0b\0c\0WORD\n", None),
        (b"WORD\0relative\n\0a\0b\0WORD\n", None),
        (b"word\0/usr\n\0a\0b\0word\n", None),
        (b"WORD\0/usr\n\0a\0" + b"b" * (MOST_REPORT + 1) + b"\0WORD\n", None),
    ],
)
def test_only_a_whole_report_counts(content, found):
    assert report(content) == found


def test_a_file_without_memory_files_is_a_nameless_one(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert report(b"WORD\0/usr\n\0a\0b\0WORD\n") == (b"/usr", b"a\0b")
    assert list(tmp_path.iterdir()) == []


def test_a_tree_is_found_and_killed_whatever_sessions_it_made():
    script = "setsid sh -c 'setsid sleep 600 & wait' & echo on; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as top:
        top.stdout.readline()
        while len(found := tree.descendants(top.pid)) < 2:
            pass
        assert os.getpid() not in found
        spared = min(found)
        assert tree.kill_tree(top.pid, spare=[spared]) >= 1
        tree.send(spared, signal.SIGKILL)
        top.kill()
        while found & tree.parents().keys():
            pass
    tree.send(top.pid, signal.SIGKILL)


def test_files_that_are_no_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, error in ((b"/dev/zero", OSError), (os.fsencode(tmp_path), IsADirectoryError)):
        with pytest.raises(error):
            list(files.read(path, 0, 10))
    with pytest.raises(OSError, match="Invalid argument"):
        list(files.read(os.fsencode(tmp_path / "pipe"), 0, 10))
