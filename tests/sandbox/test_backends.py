"""What every backend of one machine keeps, tried for real on each: `bubblewrap`, `landlock`, `process`."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import InvalidArgument, SandboxError, SandboxUnavailable
from ludus.sandbox import Limits, Mount, Sandbox, backend, give, python_mounts
from ludus.sandbox.cgroup import places
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.user import USER

NAMES = ["bubblewrap", "landlock", "process"]
ISOLATING = ["bubblewrap", "landlock"]
PYTHON = [interpreter(), "-I", "-S", "-c"]
QUICK = Limits(wall=20)
FOREVER = ["/bin/sleep", "1000"]
# A daemon as they are made: forked twice, in a session of its own. It holds the channel, and says so.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(3, b"here")
        while True: time.sleep(1000)
    os._exit(0)
while True: time.sleep(1000)
"""


@pytest.fixture(params=NAMES)
def name(request):
    """Each backend; one that does not start here fails the test, with what to install."""
    found = backend(request.param).probe()
    assert found.works, found.detail
    return request.param


isolating = pytest.mark.parametrize("name", ISOLATING, indirect=True)
# Root has them; others where a session hands them some. Without: see the tests that say so.
grouped = pytest.mark.skipif(os.geteuid() != 0 and not places(), reason="no cgroup is this user's to make")


def run(name, *argv, **policy):
    return Sandbox(name, **{"limits": QUICK, **policy}).run(argv)


def shell(name, script, **policy):
    return run(name, "/bin/sh", "-c", script, **policy)


def python(name, script, **policy):
    return run(name, *PYTHON, script, **policy)


def gone(channel):
    """Whether nobody holds the other end, now or soon: it does not come to an end before."""
    channel.settimeout(60)
    while True:
        if not channel.recv(100):
            return True


def opened(box, *argv, **streams):
    """A sandboxed process with a channel, and this side's end of it."""
    ours, theirs = socket.socketpair()
    with theirs:
        return box.start(argv, channel=theirs.fileno(), **streams), ours


# Running.


def test_a_probe_says_what_works_and_is_kept(name):
    found = backend(name).probe()
    assert found.works
    assert found.milliseconds > 0
    assert backend(name).probe() is found


def test_the_three_streams_are_those_of_the_command(name):
    done = Sandbox(name, limits=QUICK).run(["/bin/sh", "-c", "cat; echo no >&2"], input=b"yes")
    assert (done.stdout, done.stderr, done.code) == (b"yes", b"no\n", 0)


@pytest.mark.parametrize("code", [0, 3, 128, 255])
def test_the_code_is_that_of_the_command(name, code):
    assert shell(name, f"exit {code}").code == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_a_negative_code(name, number):
    done = shell(name, f"kill -{number} $$")
    assert done.code == -number
    assert done.usage.limit is None


def test_a_command_that_is_not_there_ends_with_127(name):
    done = run(name, "no-such-command")
    assert done.code == 127
    assert b"no-such-command" in done.stderr


def test_a_command_that_is_no_program_ends_with_126(name):
    assert run(name, "/usr/share").code == 126


def test_output_beyond_the_limit_is_read_and_dropped(name):
    done = run(name, "/usr/bin/head", "-c", "300000", "/dev/zero", limits=Limits(wall=20, output=1000))
    assert (len(done.stdout), done.dropped, done.code) == (1000, 299000, 0)


def test_streams_may_be_descriptors_or_joined(name, tmp_path):
    with open(tmp_path / "out", "wb") as file:
        box = Sandbox(name, limits=QUICK)
        with box.start(
            ["/bin/sh", "-c", "echo one; echo two >&2"], stdout=file.fileno(), stderr=subprocess.STDOUT
        ) as process:
            assert process.wait() == 0
            assert (process.stdin, process.stdout, process.stderr) == (None, None, None)
    assert (tmp_path / "out").read_bytes() == b"one\ntwo\n"


def test_an_unknown_stream_is_refused(name):
    with pytest.raises(InvalidArgument, match="stream 0: expected PIPE"):
        Sandbox(name).start(["/bin/true"], stdin=-7)


def test_it_can_be_waited_for_with_a_patience(name):
    with Sandbox(name, limits=QUICK).start(FOREVER) as process:
        assert process.wait(0.01) is None
        process.kill()
        process.kill()
        assert process.wait() == -signal.SIGKILL
    process.close()


def test_many_run_at_once(name):
    box = Sandbox(name, limits=QUICK)
    process = [box.start(["/bin/sh", "-c", f"exit {code}"]) for code in range(8)]
    assert [one.wait() for one in process] == list(range(8))
    for one in process:
        one.close()


def test_it_outlives_the_thread_that_started_it(name):
    # The kernel's "die with your parent" is about threads: a careless start would end with this one.
    started = []
    box = Sandbox(name, limits=QUICK)
    pipe = subprocess.PIPE
    thread = threading.Thread(target=lambda: started.append(box.start(["/bin/cat"], stdin=pipe, stdout=pipe)))
    thread.start()
    thread.join()
    with started[0] as process:
        process.stdin.write(b"still here")
        process.stdin.close()
        assert process.stdout.read() == b"still here"
        assert process.wait() == 0


IGNORING = """
import signal, sys
from ludus.sandbox import Limits, Sandbox
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
box = Sandbox({name!r}, limits=Limits(wall=20))
print([box.run(["/bin/sh", "-c", command]).code for command in ("exit 0", "exit 3", "kill -15 $$")])
"""


def test_the_code_is_known_where_children_are_buried_by_the_kernel(name):
    # A process that ignores SIGCHLD cannot wait for anybody.
    done = subprocess.run(
        [sys.executable, "-c", IGNORING.format(name=name)], capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b"[0, 3, -15]\n"


# What it sees.


def test_the_environment_is_cleared(name, monkeypatch):
    monkeypatch.setenv("SECRET", "of the parent")
    done = run(name, "/usr/bin/env", environment={"GIVEN": "a b\nc"})
    lines = done.stdout.decode()
    names = {line.partition("=")[0] for line in lines.replace("\nc\n", "\n").splitlines()}
    assert names - {"PWD"} == {"PATH", "HOME", "LANG", "TMPDIR", "GIVEN"}
    assert "GIVEN=a b\nc\n" in lines


def test_it_begins_in_an_empty_home_that_it_may_write(name):
    done = shell(name, '[ "$PWD" = "$HOME" ] && [ -z "$(ls -A)" ] && echo x >file && cat file && echo y >$TMPDIR/file')
    assert (done.code, done.stdout) == (0, b"x\n")


def test_no_home_is_left_behind(name):
    home = shell(name, "mkdir -p a/b; echo x >a/b/c; ln -s / a/root; chmod 000 a; echo $HOME").stdout.decode().strip()
    assert home.startswith("/")
    assert not os.path.exists(home)


def test_it_begins_in_the_folder_it_is_told(name):
    assert run(name, "/bin/pwd", folder="/usr/share").stdout == b"/usr/share\n"


def test_a_folder_that_is_not_there_is_an_error(name):
    with pytest.raises(SandboxError, match="no/such/folder"):
        run(name, "/bin/true", folder="/no/such/folder")


def test_the_channel_is_descriptor_3_and_no_other_is_inherited(name):
    script = """
import os, socket
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
os.write(3, repr([number for number in range(200) if is_open(number)]).encode())
"""
    extra = os.open("/usr/share", os.O_RDONLY)
    os.set_inheritable(extra, True)
    try:
        process, ours = opened(Sandbox(name, limits=QUICK), *PYTHON, script)
        with process, ours:
            assert process.wait() == 0
            assert ours.recv(1000) == b"[0, 1, 2, 3]"
    finally:
        os.close(extra)


def test_without_a_channel_descriptor_3_is_closed(name):
    script = "import os\ntry: os.fstat(3)\nexcept OSError: print('closed')"
    assert python(name, script).stdout == b"closed\n"


@isolating
def test_the_hosts_files_are_out_of_reach(name, tmp_path):
    (tmp_path / "secret").write_text("x")
    os.chmod(tmp_path, 0o777)
    for path in (tmp_path / "secret", Path(__file__), "/etc/shadow", "/root/.bashrc"):
        assert shell(name, f"cat {path}").code != 0
    assert shell(name, f"echo x >{tmp_path}/file").code != 0
    assert not (tmp_path / "file").exists()


@isolating
def test_the_kernels_settings_cannot_be_opened_for_writing(name):
    script = """
import os
for folder, _, files in os.walk("/proc/sys"):
    for name in files:
        try: os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
        except OSError: continue
        print(folder, name)
try: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)
except OSError as error: print(error.errno)
"""
    assert python(name, script).stdout == b"13\n"


@isolating
def test_the_system_is_read_only(name):
    for place in ("/usr/file", "/etc/file", "/file", "/dev/file", sys.base_prefix + "/file"):
        assert shell(name, f"echo x >{place}").code != 0


@isolating
def test_it_is_nobody_in_particular(name):
    script = "import os; print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups())"
    found = python(name, script).stdout.decode().split()
    wanted = USER if os.geteuid() == 0 or name == "bubblewrap" else os.getuid()
    assert found[:2] == [str(wanted)] * 2


@isolating
def test_a_mount_is_read_only(name, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("seen")
    done = shell(name, f"cd {folder}; cat file; echo x >file; echo x >new; rm file; mkdir d",
                 mounts=[Mount(str(folder))])  # fmt: skip
    assert done.stdout == b"seen"
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert (folder / "file").read_text() == "seen"


@isolating
def test_a_mount_may_be_a_file(name, tmp_path):
    (tmp_path / "file").write_text("seen")
    done = shell(name, f"cat {tmp_path}/file; echo x >{tmp_path}/file", mounts=[Mount(str(tmp_path / "file"))])
    assert done.stdout == b"seen"
    assert done.code != 0


@isolating
def test_a_writable_mount_keeps_what_is_written(name, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").write_text("old")
    give(folder)
    done = shell(name, f"cd {folder} && echo new >new && echo newer >old && mkdir d && mv new d/", mounts=[
        Mount(str(folder), writable=True)
    ])  # fmt: skip
    assert done.code == 0, done.stderr
    assert (folder / "old").read_text() == "newer\n"
    assert (folder / "d" / "new").read_text() == "new\n"


@isolating
def test_it_may_begin_in_a_private_folder_of_its_own(name, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    give(folder)
    done = shell(name, "echo x >file && pwd", mounts=[Mount(str(folder), writable=True)], folder=str(folder))
    assert done.stdout.decode().strip() == str(folder)
    assert (folder / "file").exists()


@isolating
@pytest.mark.skipif(os.geteuid() != 0, reason="anybody else is the owner inside too")
def test_a_writable_mount_that_it_could_not_write_is_refused(name, tmp_path):
    with pytest.raises(InvalidArgument, match=r"expected a path that user 71000 may write.*give\(path\)"):
        run(name, "/bin/true", mounts=[Mount(str(tmp_path), writable=True)])


@isolating
@pytest.mark.parametrize("kind", ["the source", "above it"])
def test_a_source_behind_a_symbolic_link_is_refused(name, tmp_path, kind):
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    source = tmp_path / "link" if kind == "the source" else tmp_path / "link" / "inner"
    with pytest.raises(InvalidArgument, match=r"without symbolic links, got one that leads to .*/real"):
        run(name, "/bin/true", mounts=[Mount(str(source))])


@isolating
def test_a_source_that_is_not_there_is_refused(name, tmp_path):
    with pytest.raises(InvalidArgument, match="expected a folder or file, got nothing there"):
        run(name, "/bin/true", mounts=[Mount(str(tmp_path / "none"))])


@isolating
def test_a_symbolic_link_in_a_mount_is_no_way_out(name, tmp_path):
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to("../secret")
    done = shell(name, f"cat {folder}/out {folder}/up", mounts=[Mount(str(folder))])
    assert done.stdout == b""
    assert done.code != 0


def test_this_interpreter_runs_inside_with_its_packages(name):
    script = "import sys, numpy, ludus; print(sys.version_info[:3], numpy.__version__, ludus.__file__)"
    done = run(name, sys.executable, "-c", script, mounts=python_mounts())
    assert done.stdout.decode().strip() == f"{sys.version_info[:3]} {np.__version__} {ludus.__file__}", done.stderr


@pytest.mark.no_cover
@isolating
def test_threads_subprocesses_and_compiled_code_work_inside(name):
    script = """
import subprocess, threading, numba, numpy
said = []
thread = threading.Thread(target=lambda: said.append(1)); thread.start(); thread.join()
assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\\n"
assert numba.njit(lambda x: x + len(x))(numpy.ones(2)).sum() == 6
print(said)
"""
    done = run(name, sys.executable, "-c", script, mounts=python_mounts(), limits=Limits(wall=60, memory=1 << 30))
    assert done.stdout == b"[1]\n", done.stderr


@isolating
def test_doors_of_the_kernel_are_shut(name):
    script = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def tried(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(one) for one in arguments))
    return errno.errorcode.get(ctypes.get_errno())
NEWUSER = 0x10000000
print(tried(272, NEWUSER), tried(56, NEWUSER | 17, 0, 0, 0, 0), tried(435, 0, 0), tried(165, 0, 0, 0, 0, 0),
      tried(425, 1, 0), tried(321, 0, 0, 0), tried(101, 0, 0, 0, 0), tried(250, 0, 0, 0), tried(308, 0, 0),
      tried(16, 0, 0x5412, 0), tried(1000), tried(0x40000000 + 39))
"""
    wanted = "EPERM EPERM ENOSYS EPERM EPERM EPERM EPERM EPERM EPERM EPERM ENOSYS ENOSYS"
    assert python(name, script).stdout.decode().split() == wanted.split()


# Limits.


def test_wall_time_ends_it(name):
    done = run(name, *FOREVER, limits=Limits(wall=0.3))
    assert (done.code, done.usage.limit) == (-signal.SIGKILL, "wall")
    assert done.usage.wall >= 0.3


def test_processor_time_of_the_whole_tree_ends_it(name):
    done = shell(name, "(while :; do :; done) & while :; do :; done", limits=Limits(wall=20, cpu=0.4))
    assert (done.code, done.usage.limit) == (-signal.SIGKILL, "cpu")
    assert done.usage.cpu >= 0.4


def test_processor_time_of_the_dead_counts(name):
    script = "while :; do i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done & wait; done"
    assert shell(name, script, limits=Limits(wall=20, cpu=0.3)).usage.limit == "cpu"


@grouped
def test_running_out_of_memory_ends_the_whole_tree(name):
    # The shell would go on after its child was killed.
    script = f"{interpreter()} -I -S -c 'bytearray(200 << 20)'; sleep 1000"
    done = shell(name, script, limits=Limits(wall=20, memory=48 << 20))
    assert (done.code, done.usage.limit, done.usage.oom) == (-signal.SIGKILL, "memory", True)
    assert done.usage.peak_memory < 49 << 20  # a few pages beyond the limit are the kernel's own


@grouped
def test_processes_and_threads_are_bounded(name):
    script = """
import os, time
made = 0
try:
    while made < 50:
        if os.fork() == 0: time.sleep(1000)
        made += 1
except BlockingIOError: print(made, flush=True)
os._exit(0)
"""
    done = python(name, script, limits=Limits(wall=20, processes=8))
    assert done.stdout == b"7\n"
    assert done.usage.limit == "processes"
    assert done.usage.processes == 8


def test_a_file_is_bounded(name):
    done = shell(name, "exec head -c 200000 /dev/zero >file", limits=Limits(wall=20, file_size=100000))
    assert (done.code, done.usage.limit) == (-signal.SIGXFSZ, "file_size")


def test_open_files_are_bounded(name):
    script = """
import os
held = []
try:
    while True: held.append(os.dup(0))
except OSError as error: print(max(held), error.errno)
"""
    assert python(name, script, limits=Limits(wall=20, open_files=20)).stdout == b"19 24\n"


def test_its_own_folders_are_bounded(name):
    done = shell(name, "head -c 3000000 /dev/zero >file || exit 5; sleep 1000", limits=Limits(wall=20, disk=1 << 20))
    if done.guarantees.disk.startswith("tmpfs size"):  # the file system is full; else it is watched
        assert (done.code, b"No space left" in done.stderr) == (5, True)
    else:
        assert (done.code, done.usage.limit) == (-signal.SIGKILL, "disk")


def test_no_core_is_dumped(name):
    assert shell(name, "ulimit -c").stdout == b"0\n"


def test_limits_can_be_lifted(name):
    free = Limits(wall=None, memory=None, processes=None, file_size=None, disk=None, open_files=None, output=None)
    done = run(name, "/bin/echo", "free", limits=free)
    assert (done.code, done.stdout) == (0, b"free\n")
    limited = {"memory", "processes", "cpu", "wall", "file_size", "disk", "open_files", "output"}
    assert limited.isdisjoint(done.guarantees.enforced)


# Its end.


def test_a_daemon_is_killed_with_the_rest(name):
    process, ours = opened(Sandbox(name, limits=QUICK), *PYTHON, DAEMON)
    with process, ours:
        assert ours.recv(100) == b"here"
        process.kill()
        assert gone(ours)


def test_a_daemon_does_not_outlive_the_command(name):
    script = DAEMON.rpartition("while True")[0]
    process, ours = opened(Sandbox(name, limits=QUICK), *PYTHON, f"{script}os.read(0, 1)", stdin=subprocess.PIPE)
    with process, ours:
        assert ours.recv(100) == b"here"
        process.stdin.close()
        assert process.wait() == 0
        assert gone(ours)


def test_a_daemon_is_killed_at_a_limit(name):
    process, ours = opened(Sandbox(name, limits=Limits(wall=1.0)), *PYTHON, DAEMON)
    with process, ours:
        assert gone(ours)
        assert process.wait() == -signal.SIGKILL
        assert process.usage().limit == "wall"


@pytest.mark.parametrize("grouped", [True, False])
def test_it_can_be_killed_at_any_moment_of_its_start(name, grouped, monkeypatch):
    if not grouped:
        monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    box = Sandbox(name, limits=QUICK)
    for number in range(20):
        process, ours = opened(box, *FOREVER)
        with ours:
            process.wait(number / 1000)
            process.close()
            assert gone(ours)
            assert process.wait() == -signal.SIGKILL


def test_a_fork_bomb_is_cleared(name):
    script = "import os, time\nos.write(3, b'x')\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    process, ours = opened(Sandbox(name, limits=Limits(wall=20, processes=30)), *PYTHON, script)
    with process, ours:
        assert ours.recv(1) == b"x"
        process.kill()
        assert gone(ours)
        assert process.usage().processes <= 30


CRASH = """
import os, sys
from ludus.sandbox import Limits, Sandbox
sandboxed = Sandbox({name!r}, limits=Limits(wall=100)).start({argv!r}, channel=int(sys.argv[1]))
print(*(sandboxed.cgroup.entries if sandboxed.cgroup else ()), flush=True)
sys.stdin.read()
"""


def crashing(name, *argv):
    """A process with a sandboxed daemon: the process, what it printed, and our end of the daemon's channel."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", CRASH.format(name=name, argv=[*argv]), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    return process, process.stdout.readline().decode().split(), ours


def test_nothing_survives_the_death_of_the_parent(name):
    process, entries, ours = crashing(name, *PYTHON, DAEMON)
    with process, ours:
        assert ours.recv(100) == b"here"
        process.kill()
        assert gone(ours)
    # Its cgroups are removed by the next process that starts something.
    subprocess.run([sys.executable, "-c", "from ludus.sandbox.cgroup import places; places()"], check=True)
    assert [entry for entry in entries if os.path.exists(entry)] == []


def test_a_parent_that_ends_in_order_leaves_nothing(name):
    process, entries, ours = crashing(name, *PYTHON, DAEMON)
    with process, ours:
        assert ours.recv(100) == b"here"
        process.stdin.close()
        assert process.wait() == 0
        assert gone(ours)
    assert [entry for entry in entries if os.path.exists(entry)] == []


def test_nothing_is_left_of_a_run(name):
    box = Sandbox(name, limits=QUICK)
    with box.start(FOREVER) as process:
        pid, entries = process.pid, process.cgroup.entries if process.cgroup else ()
        mounts = Path("/proc/mounts").read_text()
    assert not os.path.exists(f"/proc/{pid}")
    assert [entry for entry in entries if os.path.exists(entry)] == []
    assert "ludus" not in mounts


# What it says about itself.


def test_usage_can_be_asked_during_the_run_and_after(name):
    script = "import os\nsum(range(3000000))\nos.write(3, b'x')\nos.read(3, 1)"
    process, ours = opened(Sandbox(name, limits=QUICK), *PYTHON, script)
    with process, ours:
        assert ours.recv(1) == b"x"
        during = process.usage()
        ours.send(b"x")
        assert process.wait() == 0
        after = process.usage()
    assert 0 < during.cpu <= after.cpu
    assert 0 < during.wall <= after.wall
    assert during.processes == after.processes == 1
    assert after.peak_memory > 1 << 20
    assert (after.limit, after.oom) == (None, False)
    assert after.read_bytes >= 0
    assert after.written_bytes >= 0
    assert process.usage() == after


def test_guarantees_name_the_means_and_no_more(name):
    found = Sandbox(name, limits=Limits(cpu=5)).guarantees
    assert found.backend == name
    assert found.boundary == (name != "process")
    parts = {"files", "network", "syscalls", "other_processes"}
    parts |= {"user"} if os.geteuid() == 0 or name == "bubblewrap" else set()
    open_to_all = set() if found.boundary else {"files", "network", "syscalls"}
    assert parts & set(found.enforced) == parts - open_to_all
    limits = {"memory", "cpu", "wall", "file_size", "disk", "open_files", "output", "kill"}
    limits |= {"processes"} if places() or name != "process" else set()
    assert limits <= set(found.enforced)
    by_this_process = {field for field, linux in found.since.items() if not linux}
    assert {"wall", "output"} <= by_this_process <= {"wall", "output", "disk"}


def test_without_cgroups_resource_limits_hold_and_guarantees_say_so(name, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    box = Sandbox(name, limits=Limits(wall=20, cpu=0.3, memory=200 << 20, processes=8))
    assert box.guarantees.memory == "RLIMIT_AS of each process, watcher (/proc)"
    assert box.guarantees.since["memory"] == "Linux 2.4"
    assert box.run([*PYTHON, "bytearray(300 << 20)"]).stderr.endswith(b"MemoryError\n")
    done = box.run(["/bin/sh", "-c", "while :; do :; done"])
    assert (done.code, done.usage.limit) == (-signal.SIGKILL, "cpu")
    forks = (
        "import os, time\ntry:\n while True:\n  if os.fork() == 0: time.sleep(100)\nexcept BlockingIOError: os._exit(7)"
    )
    if box.guarantees.processes:
        assert box.run([*PYTHON, forks]).code == 7
    else:
        assert name == "process"


def test_without_cgroups_daemons_are_killed_and_measured(name, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    process, ours = opened(Sandbox(name, limits=QUICK), *PYTHON, DAEMON)
    with process, ours:
        assert ours.recv(100) == b"here"
        assert 2 <= process.usage().processes <= 3  # the middle one may be waited for yet
        assert process.usage().peak_memory > 1 << 20
        process.kill()
        assert gone(ours)
    assert process.usage().processes >= 2


@isolating
def test_what_it_cannot_enforce_it_refuses(name):
    if name == "landlock":
        for network in ("loopback", ("localhost:80",)):
            with pytest.raises(SandboxUnavailable, match="expected network 'none'"):
                run(name, "/bin/true", network=network)
        with pytest.raises(SandboxUnavailable, match="expected mounts at their own path"):
            run(name, "/bin/true", mounts=[Mount("/usr/share", "/elsewhere")])
