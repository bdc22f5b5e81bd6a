"""`landlock`: what it must shut besides files, because it shares everything else with the host."""

import os
import socket
import subprocess
import tempfile

import pytest

from ludus.errors import InvalidArgument, SandboxError, SandboxUnavailable
from ludus.sandbox import Limits, Mount, Policy, Sandbox, backend, landlock, python_mounts
from ludus.sandbox.landlock import EXECUTE, LIST, READ, Landlock
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.mounts import HOST_SETTINGS

PYTHON = [interpreter(), "-I", "-S", "-c"]
QUICK = Limits(wall=20)


@pytest.fixture(autouse=True)
def working():
    found = backend("landlock").probe()
    assert found.works, found.detail


@pytest.fixture
def own_user(monkeypatch):
    """As somebody who starts it and stays themselves: files and processes of the host are theirs."""
    monkeypatch.setattr(landlock, "drops_user", lambda: False)
    monkeypatch.setattr("ludus.sandbox.user.drops_user", lambda: False)


def python(script, **policy):
    return Sandbox("landlock", **{"limits": QUICK, **policy}).run([*PYTHON, script])


def test_no_socket_can_be_made_of_any_family():
    script = """
import socket
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: socket.socket(family, kind)
        except PermissionError: continue
        print(family, kind)
print("none")
"""
    assert python(script).stdout == b"none\n"


def test_datagrams_do_not_leave():
    # Landlock itself knows TCP only: a datagram to the host's loopback would arrive.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.2)
        script = f"""
import socket
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {server.getsockname()[1]}))
except OSError as error: print(error.errno)
"""
        assert python(script).stdout == b"1\n"
        with pytest.raises(TimeoutError):
            server.recv(1)


def test_pairs_of_sockets_are_streams():
    script = """
import socket
one, other = socket.socketpair(); one.sendall(b"x"); print(other.recv(1))
socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError as error: print(error.errno)
try: one.connect("/run/somebody")
except OSError as error: print(error.errno)
try: one.sendto(b"x", "/run/somebody")
except OSError as error: print(error.errno)
"""
    assert python(script).stdout.split() == [b"b'x'", b"1", b"1", b"1"]


def test_named_sockets_of_the_host_are_out_of_reach(tmp_path):
    # Landlock does not guard them, and behind one may be whoever runs commands for its user.
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(path)
        os.chmod(path, 0o777)
        server.settimeout(0.2)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = f"""
import socket
channel = socket.socket(fileno=3)
for way in (lambda: channel.sendto(b"x", {path!r}), lambda: channel.sendmsg([b"x"], [], 0, {path!r}),
            lambda: channel.connect({path!r})):
    try: way()
    except OSError: pass
"""
        box = Sandbox("landlock", limits=QUICK)
        with ours, theirs, box.start([*PYTHON, script], channel=theirs.fileno()) as process:
            assert process.wait() == 0
        with pytest.raises(TimeoutError):
            server.recv(1)


def test_a_channel_of_datagrams_is_refused():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs, pytest.raises(InvalidArgument, match="expected a stream, got SOCK_DGRAM"):
        Sandbox("landlock").start(["/bin/true"], channel=theirs.fileno())


@pytest.mark.usefixtures("own_user")
def test_processes_of_the_same_user_get_no_signal():
    with subprocess.Popen(["/bin/sleep", "100"]) as other:
        script = f"""
import os, resource
for way in (lambda: os.kill({other.pid}, 9), lambda: os.kill({os.getpid()}, 0),
            lambda: resource.prlimit({other.pid}, resource.RLIMIT_NOFILE, (1, 1)),
            lambda: os.setpriority(os.PRIO_PROCESS, {other.pid}, 19), lambda: os.sched_setaffinity({other.pid}, [0])):
    try: way(); print("reached")
    except PermissionError: pass
print("done")
"""
        assert python(script).stdout == b"done\n"
        assert other.poll() is None
        other.kill()


@pytest.mark.usefixtures("own_user")
def test_attributes_of_the_users_own_files_cannot_be_changed(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    before = file.stat()
    script = f"""
import os
it = {str(file)!r}
for way in (lambda: os.chmod(it, 0), lambda: os.utime(it, (1, 1)), lambda: os.truncate(it, 0), lambda: os.unlink(it),
            lambda: os.chown(it, 1, 1), lambda: os.setxattr(it, "user.x", b"y"), lambda: os.rename(it, "moved"),
            lambda: os.link(it, "linked")):
    try: way(); print("reached")
    except OSError: pass
print("done")
"""
    assert python(script).stdout == b"done\n"
    after = file.stat()
    assert (after.st_mode, after.st_mtime, after.st_size, after.st_nlink) == (
        before.st_mode, before.st_mtime, before.st_size, before.st_nlink
    )  # fmt: skip


@pytest.mark.usefixtures("own_user")
def test_a_kernel_without_signal_scopes_gets_a_filter(monkeypatch):
    monkeypatch.setattr(landlock, "_version", lambda: 4)
    assert Landlock().guarantees(Policy()).other_processes == "seccomp: no signals"
    with Landlock().start([*PYTHON, "import os; os.kill(os.getppid(), 15)"], Policy(limits=QUICK)) as process:
        assert process.wait() == 1


def test_shared_memory_and_queues_of_the_host_are_out_of_reach():
    script = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600)], ctypes.get_errno())
"""
    assert python(script).stdout == b"[-1, -1, -1] 1\n"


def test_the_processes_of_the_host_are_unseen():
    script = f"""
import os
here = "/proc/{os.getpid()}"
for path in ("/proc", "/proc/1/cmdline", here, here + "/environ", "/proc/self/environ", "/sys", "/dev/mem", "/dev/tty"):
    try: os.open(path, os.O_RDONLY)
    except OSError: continue
    print(path)
print("done")
"""
    assert python(script).stdout == b"done\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
def test_it_keeps_no_capability_even_where_root_alone_may_read_the_interpreter():
    box = Sandbox("landlock", limits=QUICK, mounts=python_mounts())
    script = """
import ctypes
found = (ctypes.c_uint32 * 6)()
ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(0x20080522, 0), found)
print(*found)
"""
    assert box.run([*PYTHON, script]).stdout.split() == [b"0"] * 6
    assert box.guarantees.user == "user 71000, no capabilities, no new privileges"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders that others may not enter, and shows them")
def test_of_a_private_folder_only_what_is_mounted_is_there(tmp_path):
    private, shown = tmp_path / "private", tmp_path / "private" / "shown"
    shown.mkdir(parents=True)
    (shown / "file").write_text("seen")
    (private / "secret").write_text("unseen")
    for path, mode in ((tmp_path.parent, 0o755), (tmp_path, 0o755), (private, 0o700), (shown, 0o755)):
        path.chmod(mode)
    box = Sandbox("landlock", limits=QUICK, mounts=[Mount(str(shown))])
    assert box.run(["/bin/cat", str(shown / "file")]).stdout == b"seen"
    assert box.run(["/bin/cat", str(private / "secret")]).stdout == b""
    assert (private / "secret").read_text() == "unseen"


def test_setup_that_fails_ends_before_the_command(monkeypatch):
    # Isolation that cannot be set up: nothing is executed, and the reason is told.
    monkeypatch.setattr(landlock, "_allowed", lambda *_: {"/no/such/path": 4})
    with Landlock().start(["/bin/echo", "executed"], Policy(limits=QUICK), stdout=subprocess.PIPE) as process:
        with pytest.raises(SandboxError, match=r"expected the command to be started.*no/such/path"):
            process.wait()
        assert process.stdout.read() == b""


def test_isolation_that_leaks_is_no_working_backend(monkeypatch):
    monkeypatch.setattr(landlock, "_restrictions", lambda *_, **__: [("privileges",)])
    found = Landlock().probe()
    assert not found.works


@pytest.mark.parametrize(("answer", "known"), [(-1, "got -1"), (2, "got 2")])
def test_a_kernel_without_it_is_refused_with_the_reason(monkeypatch, answer, known):
    class Libc:
        def syscall(self, *_):
            return answer

    landlock._version.cache_clear()
    monkeypatch.setattr(landlock.ctypes, "CDLL", lambda *_, **__: Libc())
    try:
        found = Landlock().probe()
        assert not found.works
        assert "expected ABI 3 or later (Linux 6.2" in found.detail
        assert known in found.detail
        with pytest.raises(SandboxUnavailable):
            Landlock().guarantees(Policy())
    finally:
        landlock._version.cache_clear()


def test_elsewhere_it_is_refused(monkeypatch):
    landlock._version.cache_clear()
    monkeypatch.setattr(landlock.sys, "platform", "darwin")
    try:
        assert Landlock().probe().detail == "landlock: expected Linux, got darwin"
    finally:
        landlock._version.cache_clear()


def test_what_is_executed_later_is_in_isolation_too(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    os.chmod(tmp_path, 0o755)
    script = "sh -c 'sh -c \"cat $SECRET\"'; setsid cat $SECRET; (sh -c 'cat <$SECRET') & wait"
    done = Sandbox("landlock", limits=QUICK, environment={"SECRET": str(secret)}).run(["/bin/sh", "-c", script])
    assert done.stdout == b""
    assert done.stderr.count(b"Permission denied") == 3


def test_the_launcher_cannot_be_killed_from_inside():
    done = python("import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError: print(1)")
    assert (done.stdout, done.code) == (b"1\n", 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_the_home_of_one_that_root_starts_has_a_size_that_the_kernel_keeps():
    box = Sandbox("landlock", limits=Limits(wall=20, disk=1 << 20))
    assert box.guarantees.disk == "tmpfs size"
    full = box.run(["/bin/sh", "-c", "pwd -P; exec head -c 3000000 /dev/zero >file"])
    assert b"No space left" in full.stderr
    assert not os.path.exists(full.stdout.decode().strip())
    names = "import os\nfor number in range(10000): os.close(os.open(str(number), os.O_CREAT))"
    assert b"No space left" in box.run([*PYTHON, names]).stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_where_root_may_not_mount_the_home_is_watched(monkeypatch):
    real = landlock._mounted

    def refused(policy, home, *, sized):
        return [("no such step",)] if sized else real(policy, home, sized=False)

    monkeypatch.setattr(landlock, "_mounted", refused)
    found = Landlock()
    assert found.probe().works
    assert found.guarantees(Policy()).disk == "watched"


@pytest.mark.usefixtures("own_user")
def test_nobody_hides_from_whoever_watches_over_the_home():
    script = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.prctl(4, 0, 0, 0, 0), ctypes.get_errno(), libc.prctl(4, 1, 0, 0, 0), libc.prctl(3, 0, 0, 0, 0))
"""
    assert python(script).stdout.split()[:3] == [b"-1", b"1", b"0"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root shows what lies in private folders")
def test_a_private_folder_that_somebody_inside_may_replace_is_not_shown():
    with tempfile.TemporaryDirectory() as given:
        private = f"{given}/private"
        os.makedirs(f"{private}/shown")
        os.chmod(given, 0o755)
        os.chmod(private, 0o700)
        os.chown(given, 71000, 71000)
        box = Sandbox("landlock", limits=QUICK, mounts=[Mount(f"{private}/shown")])
        with pytest.raises(SandboxUnavailable, match=f"got a private folder above it, {private}, in whose place"):
            box.run(["/bin/true"])


def test_settings_of_the_host_are_not_read_though_they_lie_in_what_every_sandbox_sees():
    """Landlock's rules hold for all that lies below: no folder above them may be read as a whole."""
    rights = landlock._allowed(Policy(), "/home", {})
    above = [path for path in rights if f"{HOST_SETTINGS}/".startswith(f"{path}/")]
    assert above == ["/usr", "/usr/local"]
    assert all(rights[path] == LIST for path in above)
    assert rights["/usr/lib"] == EXECUTE | READ | LIST


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_the_interpreter_of_the_system_is_not_mounted_again(prefix, monkeypatch):
    monkeypatch.setattr("sys.base_prefix", prefix)
    monkeypatch.setattr("sys.base_exec_prefix", prefix)
    assert prefix not in [mount.where for mount in python_mounts()]
