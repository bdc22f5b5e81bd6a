"""Containers of podman, Docker and gVisor: what runs in them, what they show, what they stop."""

import http.server
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ludus.errors import InvalidArgument, SandboxError
from ludus.sandbox import Limits, Mount, Policy, Sandbox, backend
from ludus.sandbox.user import USER, give

# Engines share the code; what each of them has to hold by itself, attacks ask of all of them in every run.
pytestmark = pytest.mark.in_turns("container_backend")
PYTHON = sys.executable
MIB = 1 << 20


def python(box, program, *, name=None, **options):
    if name is not None:
        box = Sandbox(name, limits=Limits(**options))
    done = box.run([PYTHON, "-c", program])
    assert done.stderr == b""
    return done


@pytest.fixture(scope="session")
def podman_box():
    """Podman alone, where all engines share the code."""
    return Sandbox("podman")


LOOK_AROUND = """
import json, os, socket, sqlite3, ssl, sys
import ctypes, numpy, ludus

def status():
    return dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))

def writable():
    found = set()
    for folder, folders, files in os.walk("/"):
        folders[:] = [one for one in folders if not os.path.islink(os.path.join(folder, one))]
        if folder in ("/proc", "/sys") or folder.startswith(sys.prefix):
            folders[:] = []
        elif os.access(folder, os.W_OK):
            found.add(folder)
    return sorted(found)

def open_doors():
    libc = ctypes.CDLL(None)
    doors = {
        "namespace": lambda: libc.unshare(0x10000000),
        "hypervisor": lambda: libc.socket(40, 1, 0),
        "keyring": lambda: libc.syscall(248, b"user", b"name", b"x", 1, -3),
        "packets": lambda: libc.socket(17, 3, 0),
        "debugger": lambda: libc.ptrace(0, 0, 0, 0),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
    }
    return sorted(name for name, door in doors.items() if door() >= 0)

print(json.dumps({
    "user": os.getresuid(), "groups": os.getgroups(), "status": status(), "variables": dict(os.environ),
    "folder": os.getcwd(), "home": os.listdir(), "root": sorted(os.listdir("/")), "writable": writable(),
    "descriptors": [n for n in range(256) if os.path.exists(f"/proc/self/fd/{n}")],
    "processes": [int(n) for n in os.listdir("/proc") if n.isdigit()], "me": os.getpid(),
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
    "host": socket.gethostname(),
    "doors": open_doors(), "ludus": ludus.__file__, "version": sys.version, "shadow": os.path.exists("/etc/shadow"),
    "names": open("/etc/hosts").read() if os.path.exists("/etc/hosts") else "",
    "servers": open("/etc/resolv.conf").read() if os.path.exists("/etc/resolv.conf") else "",
}))
"""


@pytest.fixture(scope="session")
def container_sight(container_box):
    """What a program sees that looks around."""
    return json.loads(python(container_box, LOOK_AROUND).stdout)


def test_it_runs_this_interpreter_with_this_ludus(container_sight):
    import ludus

    assert (container_sight["version"], container_sight["ludus"]) == (sys.version, ludus.__file__)


def test_it_is_another_user_without_rights(container_sight):
    status = container_sight["status"]
    assert container_sight["user"] == [USER, USER, USER]
    assert set(container_sight["groups"]) <= {USER}
    assert [name for name in status if name.startswith("Cap") and int(status[name], 16)] == []


def test_its_environment_holds_nothing_of_the_host(container_sight):
    assert container_sight["variables"] == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/box",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
    }
    assert container_sight["host"] == "sandbox"


def test_it_begins_in_an_empty_home(container_sight):
    assert (container_sight["folder"], container_sight["home"]) == ("/home/box", [])


def test_it_inherits_three_streams_and_nothing_else(container_sight):
    assert container_sight["descriptors"] == [0, 1, 2]


def test_it_sees_only_its_own_processes(container_sight):
    assert set(container_sight["processes"]) == {1, container_sight["me"]}


def test_it_has_no_network_but_its_own_loopback(container_sight):
    assert container_sight["interfaces"] == ["lo"]
    assert "nameserver" not in container_sight["servers"]
    assert container_sight["names"].split()[:2] == ["127.0.0.1", "localhost"]
    assert os.uname().nodename not in container_sight["names"]


def test_it_sees_no_file_of_the_host_that_is_not_mounted(container_sight):
    assert not container_sight["shadow"]
    assert set(container_sight["root"]) <= {
        "bin", "dev", "etc", "home", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var",
        ".dockerenv", __file__.split("/")[1], sys.prefix.split("/")[1],
    }  # fmt: skip
    assert not any(path.startswith(os.path.dirname(__file__)) for path in container_sight["writable"])


def test_it_may_write_to_its_own_folders_only(container_sight):
    """Where Ludus lies below `/tmp`, gVisor leaves open the folders that it makes there for its mounts."""
    package = os.path.dirname(container_sight["ludus"])
    leading = {str(above) for above in Path(package).parents if str(above).startswith("/tmp/")}
    assert set(container_sight["writable"]) - {"/dev/mqueue"} - leading == {"/tmp", "/home/box", "/dev/shm"}


def test_the_rarely_used_doors_of_the_kernel_are_shut(container_sight):
    assert container_sight["doors"] == []


def test_the_host_confirms_the_isolation(container_backend):
    with Sandbox(container_backend).start(["cat"], stdin=subprocess.PIPE) as process:
        with open(f"/proc/{process.pid}/status") as file:
            status = {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
        program = os.path.basename(os.readlink(f"/proc/{process.pid}/exe"))
    filters = "1" if container_backend == "gvisor" else "2"
    assert [status[name] for name in ("NoNewPrivs", "Seccomp", "Seccomp_filters")] == ["1", "2", filters]
    assert (program == "runsc") == (container_backend == "gvisor")


# How it ends, and what goes in and out.


def test_exit_codes_and_signals_are_told_apart(container_box):
    assert container_box.run(["sh", "-c", "exit 143"]).code == 143
    assert container_box.run(["sh", "-c", "kill -TERM $$"]).code == -signal.SIGTERM


def test_a_program_that_is_not_there_is_told_as_in_a_shell(podman_box):
    done = podman_box.run(["no-such-program"])
    assert (done.code, done.stderr) == (127, b"cannot start 'no-such-program': No such file or directory\n")


def test_a_working_folder_that_is_not_there_is_an_error(podman_box):
    with pytest.raises(SandboxError, match="No such file or directory: '/nowhere'"):
        Sandbox("podman", folder="/nowhere").run(["true"])


def test_streams_are_apart_and_input_reaches_it(podman_box):
    done = podman_box.run(["sh", "-c", "cat; echo wrong >&2"], input=b"x" * 100_000)
    assert (done.stdout, done.stderr) == (b"x" * 100_000, b"wrong\n")


def test_streams_may_be_joined_or_nothing(podman_box):
    argv = ["sh", "-c", "cat; echo one; echo two >&2; echo three"]
    with podman_box.start(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout.read() == b"one\ntwo\nthree\n"
        assert process.wait() == 0


def test_a_stream_may_be_a_file_where_its_position_is_shared(container_backend, container_box, tmp_path):
    with open(tmp_path / "out", "wb", buffering=0) as file:
        file.write(b"zero\n")
        if container_backend == "gvisor":
            with pytest.raises(InvalidArgument, match="stdout: expected a pipe"):
                container_box.start(["true"], stdout=file.fileno())
            return
        with container_box.start(["echo", "one"], stdout=file.fileno()) as process:
            assert process.wait() == 0
        file.write(b"two\n")
    assert (tmp_path / "out").read_bytes() == b"zero\none\ntwo\n"


def test_the_channel_is_descriptor_3_and_answers(container_box):
    program = (
        "import socket\nchannel = socket.socket(fileno=3)\nwhile data := channel.recv(99): channel.send(data.upper())"
    )
    ours, theirs = socket.socketpair()
    with ours, container_box.start([PYTHON, "-c", program], channel=theirs.fileno()) as process:
        theirs.close()
        for word in (b"one", b"two"):
            ours.send(word)
            assert ours.recv(99) == word.upper()
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(60) == 0


def test_variables_folder_and_many_words_are_handed_over(podman_box):
    box = Sandbox("podman", environment={"GREETING": "grüß dich", "PATH": "/bin"}, folder="/tmp")
    words = ["sh", "-c", 'echo "$GREETING $PATH $PWD $# $1"', "sh", *["ä"] * 40_000]
    assert box.run(words).stdout.decode() == "grüß dich /bin /tmp 40000 ä\n"


# Each limit, hit for real.


def test_too_long_is_stopped(container_backend):
    done = python(None, "while True: pass", name=container_backend, wall=0.3)
    assert (done.code, done.usage.limit) == (-9, "wall")


def test_too_much_processor_time_is_stopped_over_the_whole_tree(container_backend):
    program = "import os\nos.fork()\nwhile True: pass"
    done = python(None, program, name=container_backend, cpu=0.4)
    assert (done.code, done.usage.limit) == (-9, "cpu")
    assert done.usage.cpu >= 0.4


def test_too_much_memory_is_stopped(container_backend):
    done = python(None, "x = bytearray(300 << 20)", name=container_backend, memory=96 * MIB)
    assert (done.code, done.usage.limit, done.usage.oom) == (-9, "memory", True)
    # The kernel charges a process that it is ending a few pages beyond the limit.
    assert 64 * MIB <= done.usage.peak_memory < 97 * MIB


def test_memory_counts_over_the_whole_tree_and_ends_it(podman_box):
    argv = ["sh", "-c", f"{PYTHON} -c 'x = bytearray(300 << 20)'; sleep 60"]
    done = Sandbox("podman", limits=Limits(memory=96 * MIB)).run(argv)
    assert (done.code, done.usage.limit, done.usage.oom) == (-9, "memory", True)


FORK = """
import os, time
count = 1
try:
    while os.fork():
        count += 1
    time.sleep(60)
except OSError:
    print(count)
"""


def test_too_many_processes_are_refused(container_backend):
    done = python(None, FORK, name=container_backend, processes=24)
    assert (done.code, done.stdout) == (0, b"24\n")
    if container_backend != "gvisor":  # whose kernel refuses without telling
        assert (done.usage.limit, done.usage.processes) == ("processes", 24)


def test_a_file_too_large_is_stopped(container_backend):
    done = Sandbox(container_backend, limits=Limits(file_size=MIB)).run(["dd", "if=/dev/zero", "of=/tmp/x", "bs=2M"])
    assert (done.code, done.usage.limit) == (-signal.SIGXFSZ, "file_size")


FILL = """
import errno
for folder in ("/tmp", "/home/box", "/dev/shm"):
    size = 0
    try:
        with open(f"{folder}/full", "wb", buffering=0) as file:
            while size < 9 << 20: size += file.write(bytes(65536))
    except OSError as error:
        print(size, errno.errorcode[error.errno])
"""


def test_a_full_folder_is_full(container_backend):
    done = python(None, FILL, name=container_backend, disk=MIB)
    assert done.stdout == b"1048576 ENOSPC\n" * 3


def test_too_many_open_files_are_refused(container_backend):
    program = "import os\ntry:\n    while True: last = os.dup(0)\nexcept OSError: print(last)"
    assert python(None, program, name=container_backend, open_files=32).stdout == b"31\n"


def test_output_beyond_the_limit_is_dropped(podman_box):
    done = python(None, "print('x' * 5000)", name="podman", output=1000)
    assert (len(done.stdout), done.dropped) == (1000, 4001)


def test_limits_may_be_lifted(container_backend):
    lifted = Limits(**dict.fromkeys(Limits.__struct_fields__))
    box = Sandbox(container_backend, limits=lifted)
    assert box.run(["sh", "-c", "echo free"]).stdout == b"free\n"
    guarantees = box.guarantees
    assert [name for name in Limits.__struct_fields__ if getattr(guarantees, name)] == []


def test_usage_is_told_during_the_run_and_after(container_box):
    program = "import sys\nx = bytearray(20 << 20)\nsum(range(10 ** 6))\nprint('.', flush=True)\nsys.stdin.read()"
    pipe = subprocess.PIPE
    with container_box.start([PYTHON, "-c", program], stdin=pipe, stdout=pipe) as process:
        assert process.stdout.readline() == b".\n"
        during = process.usage()
        process.stdin.close()
        assert process.wait(60) == 0
        after = process.usage()
    assert 0 < during.cpu <= after.cpu
    assert 20 * MIB < during.peak_memory <= after.peak_memory
    assert after == process.usage()
    assert after.limit is None


# Mounts.


@pytest.fixture
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    (folder / "text").write_text("given")
    folder.chmod(0o755)
    return folder


def test_a_mount_is_read_only_unless_it_says_otherwise(container_backend, shared):
    mounts = [Mount(str(shared), "/data/in")]
    done = Sandbox(container_backend, mounts=mounts).run(["sh", "-c", "cat /data/in/text; echo x > /data/in/text"])
    assert (done.stdout, done.code) == (b"given", 2)
    assert (shared / "text").read_text() == "given"


def test_a_writable_mount_is_written(container_backend, shared):
    give(shared)
    box = Sandbox(container_backend, mounts=[Mount(str(shared), "/home/box", writable=True)])
    assert box.run(["sh", "-c", "pwd; cat text; echo made > made"]).stdout == b"/home/box\ngiven"
    assert (shared / "made").read_text() == "made\n"


def test_a_mount_that_it_could_not_use_is_refused(podman_box, shared):
    with pytest.raises(InvalidArgument, match=r"give\(path\)"):
        Sandbox("podman", mounts=[Mount(str(shared), writable=True)]).run(["true"])
    with pytest.raises(InvalidArgument, match="mount /no/such: expected a folder or file, got nothing there"):
        Sandbox("podman", mounts=[Mount("/no/such")]).run(["true"])
    with pytest.raises(InvalidArgument, match="got '/run/ludus/x', which is reserved"):
        Sandbox("podman", mounts=[Mount(str(shared), "/run/ludus/x")]).run(["true"])
    with pytest.raises(InvalidArgument, match="without , or :"):
        Sandbox("podman", mounts=[Mount(str(shared), "/data:rw")]).run(["true"])


# Reaching named hosts.

ASK = """
import http.client, os, sys
for target in sys.argv[1:]:
    connection = http.client.HTTPConnection(os.environ["http_proxy"].removeprefix("http://"), timeout=60)
    connection.request("GET", f"http://{target}/")
    answer = connection.getresponse()
    print(answer.status, answer.read().decode()[:3])
"""


def test_it_reaches_the_hosts_it_may_and_no_other(container_backend):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"yes")

        def log_message(self, *words):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        allowed = f"127.0.0.1:{server.server_address[1]}"
        box = Sandbox(container_backend, network=[allowed], limits=Limits(processes=2))
        done = box.run([PYTHON, "-c", ASK, allowed, "127.0.0.1:9"])
        server.shutdown()
        thread.join()
    assert (done.stdout, done.stderr) == (b"200 yes\n403 exp\n", b"")
    assert done.guarantees.network == f"network namespace, proxy to {allowed}"


# Killing.

DAEMON = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("away", flush=True)
        time.sleep(600)
time.sleep(600)
"""


def test_kill_ends_the_whole_tree_and_close_leaves_nothing(container_backend):
    box = Sandbox(container_backend)
    api = backend(container_backend).connect()
    with box.start([PYTHON, "-c", DAEMON], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"away\n"
        assert process.wait(0) is None
        process.kill()
        assert process.wait(0) == -9
        assert process.stdout.read() == b""  # nobody holds the other end
        process.kill()
        container, pid = process.container, process.pid
    process.close()
    assert container not in api.labelled("ludus.owner")
    assert not os.path.exists(f"/proc/{pid}/root/home")
    with open("/proc/self/mounts") as file:
        assert container not in file.read()


def test_what_the_work_leaves_behind_ends_with_it(podman_box):
    with podman_box.start(["sh", "-c", "sleep 600 & echo $!"], stdout=subprocess.PIPE) as process:
        assert process.wait(60) == 0
        assert process.stdout.read()  # to its end, which the sleeper would keep off


def test_many_at_once(podman_box):
    many = [podman_box.start(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for number, one in enumerate(many):
        one.stdin.write(b"%d" % number)
        one.stdin.close()
    assert [one.stdout.read() for one in many] == [b"0", b"1", b"2", b"3"]
    for one in many:
        one.close()


def test_the_isolation_counts_from_the_start_of_the_work(podman_box):
    with Sandbox("podman").start(["sleep", "600"]) as process:
        descriptor = os.pidfd_open(process.pid)
        process.kill()
        assert select.select([descriptor], [], [], 0)[0] == [descriptor]
        os.close(descriptor)
    assert process.usage().wall < 20


def test_the_policy_is_in_the_guarantees(container_backend):
    guarantees = backend(container_backend).guarantees(Policy())
    assert guarantees.backend == container_backend
    assert guarantees.boundary
    assert guarantees.version
    assert set(guarantees.enforced) == {
        "user", "files", "network", "syscalls", "other_processes", "memory", "processes", "wall", "file_size", "disk",
        "open_files", "output", "kill",
    }  # fmt: skip
