"""The agent of a session outside of any sandbox, as a plain process: each of its parts, one by one and together."""

import errno
import os
import select
import signal
import socket
import subprocess
import sys

import pytest

from ludus.errors import InvalidArgument, SandboxError
from ludus.sandbox import Guarantees, Limits, Policy, Usage
from ludus.sandbox.backend import SandboxedProcess
from ludus.sandbox.session import ShellSession
from ludus.sandbox.session.inside import files, supervisor, tree
from ludus.sandbox.session.inside.capture import SLACK, Capture
from ludus.sandbox.session.inside.job import ShellJob
from ludus.sandbox.session.inside.shell import MAX_REPORT, Shell, find_shell

PROGRAM = """
import os, sys
os.dup2(int(sys.argv[2]), 3, inheritable=False)
size = int.from_bytes(os.read(3, 4), "big")
while size:
    size -= len(os.read(3, size))
from ludus.sandbox.session.inside.agent import main
main(sys.argv[1])
"""


class Plain(SandboxedProcess):
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
            self.process.wait(60)

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
    with ShellSession(Launcher()) as session:
        yield session


@pytest.fixture
def supervisors():
    found = supervisor.Supervisors()
    yield found
    found.close()


def begun(command, supervisors, monkeypatch, held=None):
    """A job that runs a command; its shell waits, before it is one, until `held` can be read."""
    if held is not None:
        monkeypatch.setattr(supervisor, "_prefer", lambda *_: os.read(held, 1))
        keep_only = supervisor._keep_only
        monkeypatch.setattr(supervisor, "_keep_only", lambda wanted: keep_only({*wanted, held}))
    shell = Shell(find_shell("sh"), command, b"", 0)
    return ShellJob(1, shell, b"/", supervisors, merge=False, limit=100, timeout=None, feed=b"", grace=600)


def heard(job):
    """All that the supervisor of a job says, in the order of it."""
    said = []
    while not job.gone:
        select.select([job.pipes.status], [], [])
        before = job.pid, job.status
        job.read_status()
        after = job.pid, job.status
        said += [name for name, old, new in zip(("pid", "status"), before, after, strict=True) if old != new]
    return said


def stopped(job):
    """Interrupt it from when it is told of until all of it is gone: on a busy machine its preamble may take longer."""
    while job.pid is None:
        select.select([job.pipes.status], [], [])
        job.read_status()
    while not job.gone:
        job.interrupt()
        job.tend(job.interrupt_at)
        if select.select([job.pipes.status], [], [], 0.1)[0]:
            job.read_status()


def test_a_shell_is_told_of_when_it_can_be_interrupted(supervisors, monkeypatch):
    """Before, an interrupt would reach no group yet, or somebody who ignores it, and the command would run on."""
    held, holding = os.pipe()
    job = begun(b"sleep 1000", supervisors, monkeypatch, held)
    try:
        job.interrupt()
        job.interrupted = True
        assert not select.select([job.pipes.status], [], [], 0.2)[0]
        os.close(holding)
        stopped(job)
        assert (job.status, job.killed) == (signal.SIGINT, False)
    finally:
        job.kill()
        job.shell.close()


def test_a_shell_is_not_interrupted_before_all_of_its_variables_are_there(supervisors, tmp_path):
    """Before, bash would give up restoring them, not the command, which ran with what was there by then."""
    os.mkfifo(tmp_path / "held")
    state = b"\0read -r _ <%b\nX=here\n" % os.fsencode(tmp_path / "held")
    shell = Shell(find_shell("bash"), b"echo $X; sleep 1000", state, 0)
    job = ShellJob(1, shell, b"/", supervisors, merge=False, limit=100, timeout=None, feed=b"", grace=600)
    try:
        with open(tmp_path / "held", "wb"):
            job.interrupted = True
            job.interrupt()
            assert not select.select([job.pipes.status], [], [], 0.2)[0]
        stopped(job)
        assert (job.status, job.killed) == (signal.SIGINT, False)
    finally:
        job.kill()
        shell.close()


def test_a_command_of_which_nothing_is_left_is_no_job_however_slow_its_supervisor_is(supervisors, monkeypatch):
    job = begun(b"true", supervisors, monkeypatch)
    said = heard(job)
    assert (said, job.status, job.is_last) == (["pid", "status"], 0, True)
    job.gone = False  # as before the end of its supervisor was heard of
    assert not job.is_complete(job.ended + 1000)
    job.gone = True
    assert job.is_complete(job.ended + 1000)
    job.shell.close()


def test_what_is_left_of_a_command_is_told_with_its_end(supervisors, monkeypatch):
    job = begun(b"sleep 1000 & exit 3", supervisors, monkeypatch)
    while job.status is None:
        select.select([job.pipes.status], [], [])
        job.read_status()
    assert (os.waitstatus_to_exitcode(job.status), job.is_last, job.gone) == (3, False, False)
    assert job.is_complete(job.ended + 1000)
    job.kill()
    heard(job)
    job.shell.close()


def test_one_supervisor_takes_one_command_after_the_other_and_another_what_runs_beside(supervisors, monkeypatch):
    first = begun(b"exit 3", supervisors, monkeypatch)
    heard(first)
    left = begun(b"sleep 1000 & exit 4", supervisors, monkeypatch)
    assert (left.pipes.pid, supervisors.idle) == (first.pipes.pid, [])
    beside = begun(b"exit 5", supervisors, monkeypatch)
    heard(beside)
    assert beside.pipes.pid != first.pipes.pid
    assert [one.pid for one in supervisors.idle] == [beside.pipes.pid]
    left.kill()
    heard(left)
    assert [os.waitstatus_to_exitcode(one.status) for one in (first, left, beside)] == [3, 4, 5]
    assert [one.pid for one in supervisors.idle] == [beside.pipes.pid], "one that is free is enough"
    for job in (first, left, beside):
        job.shell.close()


def test_a_free_supervisor_that_was_killed_is_replaced(supervisors, monkeypatch):
    first = begun(b"true", supervisors, monkeypatch)
    heard(first)
    os.kill(first.pipes.pid, signal.SIGKILL)
    os.waitpid(first.pipes.pid, 0)
    second = begun(b"exit 3", supervisors, monkeypatch)
    heard(second)
    assert (second.pipes.pid != first.pipes.pid, os.waitstatus_to_exitcode(second.status)) == (True, 3)
    for job in (first, second):
        job.shell.close()


def test_a_command_that_cannot_be_started_leaves_its_supervisor_free(supervisors, tmp_path):
    shell = Shell(("sh", str(tmp_path / "no shell")), b"true", b"", 0)
    job = ShellJob(1, shell, b"/", supervisors, merge=False, limit=100, timeout=None, feed=b"", grace=600)
    heard(job)
    assert (job.failure, len(supervisors.idle)) == (errno.ENOENT, 1)
    shell.close()


def test_where_no_program_can_be_started_in_a_session_it_has_a_group_to_interrupt(supervisors, monkeypatch):
    spawn = os.posix_spawn

    def old(*arguments, setsid=False, **options):
        if setsid:
            raise NotImplementedError
        return spawn(*arguments, **options)

    monkeypatch.setattr(os, "posix_spawn", old)
    job = begun(b"sleep 1000", supervisors, monkeypatch)
    try:
        stopped(job)
        assert (job.status, job.killed) == (signal.SIGINT, False)
    finally:
        job.kill()
        job.shell.close()


# All together.


def test_commands_and_their_state(session):
    session.run("cd /usr; X=1; false")
    result = session.run("echo $? $X $PWD; echo err >&2", limit=20)
    assert (result.stdout, result.stderr, result.cwd) == (b"1 1 /usr\n", b"err\n", "/usr")
    assert session.run("cat", input=b"x" * 300_000, limit=400_000).stdout == b"x" * 300_000
    assert session.run("seq 100000", limit=10, merge=True).stdout.endswith(b"0000\n")
    assert session.run("true", input=b"x" * 300_000).ok
    assert not session.run("exec true").remembered


def test_each_command_that_is_interrupted_has_its_grace_to_leave_its_state():
    with ShellSession(Launcher(), grace=600) as session:
        for count in range(3):
            result = session.run(f"X={count}; sleep 600", timeout=5)
            assert (result.code, result.timed_out, result.remembered) == (130, True, True)
            assert session.run("echo $X").stdout == b"%d\n" % count


@pytest.mark.parametrize("grace", [0, -1, float("inf"), float("nan"), True, "1"])
def test_a_grace_that_is_none_is_told(grace):
    with pytest.raises(InvalidArgument, match="grace: expected seconds above 0, at most 3600, got"):
        ShellSession(Launcher(), grace=grace)


def test_timeouts_and_kills(session):
    stubborn = session.run("trap '' INT; sleep 600 & while :; do :; done", timeout=5)
    assert (stubborn.code, stubborn.timed_out) == (137, True)
    left = session.run("trap '' INT; sleep 600 & trap - INT; sleep 600", timeout=5)
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
    with ShellSession(Launcher(), shell="sh") as plain:
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
    assert session._link.process.wait(0) == 0
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
        (b"WORD\0/usr\n\0a\0" + b"b" * (MAX_REPORT + 1) + b"\0WORD\n", None),
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
