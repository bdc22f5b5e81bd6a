"""`bubblewrap`: namespaces, mounts and the two ways to start it."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

from ludus.errors import InvalidArgument, SandboxError, SandboxUnavailable
from ludus.sandbox import (
    Limits,
    Mount,
    Policy,
    Sandbox,
    backend,
    bubblewrap,
    bwrap,
    default_backend,
    give,
    python_mounts,
)
from ludus.sandbox.bubblewrap import Bubblewrap
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.mounts import base_mounts, in_order, system_mounts
from tests.attacks import attacks, run_attack

PYTHON = [interpreter(), "-I", "-S", "-c"]
QUICK = Limits(wall=20)


@pytest.fixture(autouse=True)
def working():
    found = backend("bubblewrap").probe()
    assert found.works, found.detail


def run(*argv, **policy):
    return Sandbox("bubblewrap", **{"limits": QUICK, **policy}).run(argv)


def shell(script, **policy):
    return run("/bin/sh", "-c", script, **policy)


def python(script, **policy):
    return run(*PYTHON, script, **policy)


def test_it_is_the_default():
    assert default_backend().name == "bubblewrap"


def test_nothing_of_the_host_is_there_but_the_system_and_the_interpreter():
    top = set(shell("ls -A /").stdout.decode().split())
    known = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "proc", "dev", "tmp", "home"}
    assert top <= known | {sys.base_prefix.split("/")[1]}
    assert shell("ls -A /home /tmp /home/box").stdout == b"/home:\nbox\n\n/home/box:\n\n/tmp:\n"
    etc = set(shell("ls -A /etc").stdout.decode().split())
    assert etc <= {"passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "alternatives"}


def test_only_the_policy_adds_mounts():
    assert {mount.where for mount in system_mounts(Policy())} >= {mount.where for mount in base_mounts()}
    assert not any(mount.writable for mount in (*system_mounts(Policy()), *python_mounts()))


def test_a_mount_appears_where_it_is_told(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("seen")
    done = shell("cat /deep/down/file /deep/up/file; ls /deep", mounts=[
        Mount(str(folder), "/deep/down"), Mount(str(folder), "/deep/up")
    ])  # fmt: skip
    assert done.stdout == b"seenseendown\nup\n"


def test_mounts_may_lie_in_its_own_folders_and_in_each_other(tmp_path):
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    (outer / "place").mkdir(parents=True)
    inner.mkdir()
    (inner / "file").write_text("seen")
    mounts = [Mount(str(inner), "/home/box/outer/place"), Mount(str(outer), "/home/box/outer")]
    assert shell("cat outer/place/file", mounts=mounts).stdout == b"seen"
    assert [mount.source for mount in in_order(tuple(mounts))] == [str(outer), str(inner)]


@pytest.mark.parametrize("kind", ["missing", "a link"])
def test_a_place_in_a_writable_mount_must_be_there(tmp_path, kind):
    # Root would otherwise make folders on the host, wherever a link that sandboxed code planted leads.
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    outer.mkdir()
    inner.mkdir()
    if kind == "a link":
        (outer / "place").symlink_to(tmp_path)
    give(outer)
    mounts = [Mount(str(outer), "/work", writable=True), Mount(str(inner), "/work/place")]
    with pytest.raises(InvalidArgument, match="expected its place in a writable mount to be there"):
        shell("true", mounts=mounts)


def test_an_old_program_mounts_what_nobody_inside_can_replace(monkeypatch):
    old = bwrap.program()._replace(features=frozenset())
    monkeypatch.setattr(bwrap, "program", lambda: old)
    monkeypatch.setattr(bubblewrap, "program", lambda: old)
    done = shell("ls -d /seen/zoneinfo; ls /proc/self/fd", mounts=[Mount("/usr/share", "/seen")])
    assert done.stdout.split() == [b"/seen/zoneinfo", b"0", b"1", b"2", b"3"]


def test_an_old_program_does_not_mount_what_somebody_inside_may_replace(tmp_path, monkeypatch):
    (tmp_path / "given" / "below").mkdir(parents=True)
    give(tmp_path / "given")
    old = bwrap.program()._replace(features=frozenset())
    monkeypatch.setattr(bubblewrap, "program", lambda: old)
    with pytest.raises(SandboxUnavailable, match=r"expected bwrap 0\.10 or a distribution's with --bind-fd"):
        shell("true", mounts=[Mount(str(tmp_path / "given" / "below"))])


@pytest.mark.skipif(os.geteuid() != 0, reason="anybody else is the owner inside too")
def test_a_file_with_a_name_elsewhere_is_not_given(tmp_path):
    work, private = tmp_path / "work", tmp_path / "private"
    work.mkdir()
    private.mkdir(mode=0o700)
    (private / "key").write_text("secret")
    os.link(private / "key", work / "innocent")
    with pytest.raises(InvalidArgument, match=r"expected files that are nowhere else, got .*innocent.*1 more name "):
        give(work)
    with pytest.raises(InvalidArgument, match="nowhere else"):
        give(work / "innocent")
    assert (private / "key").stat().st_uid == os.getuid() == work.stat().st_uid  # nothing was given
    (work / "innocent").unlink()
    (work / "a").write_text("")
    os.link(work / "a", work / "b")  # both are in the folder
    give(work)
    assert (work / "b").stat().st_uid == 71000


def test_a_private_folder_is_refused_until_it_is_given(tmp_path):
    (tmp_path / "file").write_text("seen")
    (tmp_path / "link").symlink_to("/usr/share")
    owner = os.stat("/usr/share").st_uid
    os.chmod(tmp_path, 0o700)
    with pytest.raises(InvalidArgument, match="user 71000 may read, got one of user 0 with mode 700"):
        shell("true", mounts=[Mount(str(tmp_path))])
    give(tmp_path)
    assert shell(f"cat {tmp_path}/file", mounts=[Mount(str(tmp_path))]).stdout == b"seen"
    assert os.stat("/usr/share").st_uid == owner


def test_setup_that_fails_says_why():
    with pytest.raises(SandboxError, match=r"bwrap ended with 1 before it.*no-such-place"):
        shell("true", mounts=[Mount("/usr/share", "/usr/no-such-place/here")])


def test_all_end_with_their_outermost_process():
    # As a cgroup of version 2 that ran out of memory does it.
    ours, theirs = socket.socketpair()
    box = Sandbox("bubblewrap", limits=QUICK)
    script = "import os, time; os.write(3, b'x'); time.sleep(1000)"
    with theirs, ours, box.start([*PYTHON, script], channel=theirs.fileno()) as process:
        assert ours.recv(1) == b"x"
        os.kill(process.pid, 9)
        theirs.close()
        assert ours.recv(1) == b""
        assert process.wait() == -9


def test_processes_of_the_host_are_unseen():
    done = shell("for i in /proc/[0-9]*; do cat $i/comm; done")
    assert set(done.stdout.decode().split()) <= {"bwrap", "sh", "cat"}


def test_what_the_host_is_set_to_and_how_busy_it_is_are_unseen():
    told = shell("cat /proc/cmdline; cat /proc/pressure/cpu; ls -A /proc/pressure /usr/local/etc; cat /proc/1/environ")
    assert told.stdout.split() in ([], [b"/proc/pressure:", b"/usr/local/etc:"])


def test_what_is_covered_stays_so_whoever_mounts_what_it_lies_in():
    """As the interpreter of the system does, which is in `/usr`; and who names it has it."""
    kind = "stat -f -c %T /usr/local/etc"
    assert shell(kind, mounts=(Mount("/usr"),)).stdout.split() == [b"tmpfs"]
    assert shell(kind, mounts=(Mount("/usr"), Mount("/usr/local/etc"))).stdout.split() != [b"tmpfs"]


def test_other_namespaces_are_its_own():
    names = ["ipc", "mnt", "net", "pid", "uts", "cgroup"]
    inside = shell("".join(f"readlink /proc/self/ns/{name};" for name in names)).stdout.decode().split()
    assert len(inside) == len(names)
    assert set(inside).isdisjoint(os.readlink(f"/proc/self/ns/{name}") for name in names)


def test_it_has_no_capabilities_and_gets_none():
    lines = shell("cat /proc/self/status").stdout.decode().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


@pytest.mark.parametrize("command", ["unshare -Ur true", "unshare -n true"])
def test_nested_namespaces_are_refused(command):
    done = shell(command)
    assert done.code != 0
    assert b"Operation not permitted" in done.stderr


def test_its_network_is_empty():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"""
import socket
print(open("/proc/net/dev").read().count(":"))
try: socket.create_connection(("127.0.0.1", {port}), timeout=5)
except OSError as error: print(error.errno)
try: socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error: print(error.errno)
for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_NETLINK, 3)):
    try: socket.socket(family, kind)
    except OSError as error: print(error.errno)
"""
        assert python(script).stdout.split() == [b"1", *[b"97"] * 5]  # no sockets of the internet at all
        assert python(script, network="loopback").stdout.split() == [b"1", b"111", b"101", b"1", b"1", b"1"]


def test_abstract_sockets_of_the_host_are_out_of_reach():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0ludus-test-of-abstract-sockets")
        server.listen()
        script = """
import socket
try: socket.socket(socket.AF_UNIX).connect("\\0ludus-test-of-abstract-sockets")
except OSError as error: print(error.errno)
"""
        assert python(script).stdout == b"111\n"


def test_loopback_is_its_own():
    script = """
import socket
server = socket.create_server(("localhost", 0))
client = socket.create_connection(("localhost", server.getsockname()[1]))
client.sendall(b"x"); print(server.accept()[0].recv(1))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); datagrams.bind(("127.0.0.1", 0))
datagrams.sendto(b"y", datagrams.getsockname()); print(datagrams.recv(1))
"""
    done = python(script, network="loopback")
    assert done.stdout == b"b'x'\nb'y'\n", done.stderr
    assert Sandbox("bubblewrap", network="loopback").guarantees.network == "network namespace, own loopback"


def test_its_first_descriptors_are_no_way_back():
    # A folder of the host that stays open would be one.
    script = """
import os
for number in os.listdir("/proc/self/fd"):
    try: print(number, os.readlink(f"/proc/self/fd/{number}"))
    except OSError: pass
"""
    names = [
        line.split()[1] for line in python(script, mounts=[Mount("/usr/share", "/seen")]).stdout.decode().splitlines()
    ]
    assert len(names) == 3
    assert all(name == "/dev/null" or name.startswith("pipe:") for name in names)


def test_shared_memory_and_other_folders_are_bounded_too():
    script = "head -c 3000000 /dev/zero >/dev/shm/x || head -c 3000000 /dev/zero >/tmp/x"
    assert shell(script, limits=Limits(wall=20, disk=1 << 20)).stderr.count(b"No space left") == 2


def test_secrets_in_the_environment_are_not_on_the_command_line():
    box = Sandbox("bubblewrap", limits=QUICK, environment={"TOKEN": "ludus-secret-token"})
    with box.start(["/bin/sleep", "100"]) as process, open(f"/proc/{process.pid}/cmdline", "rb") as file:
        assert b"ludus-secret-token" not in file.read()


def test_variables_reach_the_command_and_not_the_programs_before_it():
    # The loader obeys some, and what is started before the command is still root. This one makes it name libraries.
    done = run("/bin/true", environment={"LD_TRACE_LOADED_OBJECTS": "1"})
    assert b"libc.so" in done.stdout
    assert b"libsmartcols" not in done.stdout  # of prlimit
    assert b"libcap-ng" not in done.stdout  # of setpriv


def test_variables_may_have_any_name_and_value():
    given = {"A": 'it\'s "$B" `x` \\', "B.C": "x y", "D": "\n\n", "Ä": "ö", "E": "", "PATH": "/usr/bin"}
    script = "import os; print(sorted(item for item in os.environ.items() if item[0] not in ('PWD', 'OLDPWD')))"
    done = python(script, environment=given)
    own = {"HOME": "/home/box", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
    assert done.stdout.decode().strip() == str(sorted({**own, **given}.items()))


def test_without_the_program_a_probe_says_what_to_install(monkeypatch):
    bwrap.tool.cache_clear()
    bwrap.program.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(bwrap, "SEARCH", "/nowhere")
            found = Bubblewrap().probe()
        assert not found.works
        assert "apt-get install bubblewrap" in found.detail
    finally:
        bwrap.tool.cache_clear()
        bwrap.program.cache_clear()


def test_isolation_that_leaks_is_no_working_backend(monkeypatch):
    # As if everything of the host was shown.
    real = bubblewrap.options

    def leaking(policy, **others):
        return [*real(policy, **others), "--bind", "/tmp", "/tmp"]

    monkeypatch.setattr(bubblewrap, "options", leaking)
    found = Bubblewrap().probe()
    assert not found.works
    assert "the isolation leaks" in found.detail


def test_a_machine_without_a_filter_is_refused(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match="got the machine 'riscv64'"):
        Bubblewrap().guarantees(Policy())


# Somebody who is not root: the namespaces are made in a user namespace.


@pytest.fixture
def somebody(monkeypatch):
    """Start as somebody without rights, as whom only the chain runs: this process stays who it is."""
    if os.geteuid() != 0:
        yield
        return
    monkeypatch.setattr(bubblewrap, "drops_user", lambda: False)
    monkeypatch.setattr("ludus.sandbox.user.drops_user", lambda: False)
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)  # no group is theirs to enter
    monkeypatch.setattr("ludus.sandbox.mounts.sys.base_prefix", "/usr")  # another's home is not theirs to show
    base_mounts.cache_clear()
    real = bubblewrap.spawn
    other = [shutil.which("setpriv"), "--reuid=12345", "--regid=12345", "--clear-groups", "--bounding-set=-all", "--"]
    monkeypatch.setattr(bubblewrap, "spawn", lambda argv, *others: real([*other, *argv], *others))
    yield
    base_mounts.cache_clear()


@pytest.mark.usefixtures("somebody")
def test_somebody_runs_in_a_user_namespace():
    box = Sandbox("bubblewrap", limits=QUICK)
    assert Bubblewrap().probe().works
    assert box.guarantees.user == "user namespace, no capabilities, no new privileges"
    script = "id -u; grep CapEff /proc/self/status; echo; exec sleep 100"
    with box.start(["/bin/sh", "-c", script], stdout=subprocess.PIPE) as process:
        said = b"".join(iter(process.stdout.readline, b"\n")).split()
        assert said == [b"71000", b"CapEff:", b"0" * 16]
        assert os.stat(f"/proc/{process.pid}").st_uid == (os.geteuid() or 12345)


@pytest.mark.usefixtures("somebody")
def test_somebody_cannot_nest_user_namespaces():
    assert shell("unshare -U true").code != 0


@pytest.mark.usefixtures("somebody")
def test_nobody_reaches_the_first_process_inside():
    """It is of the same user, and has no limits: whoever wrote to its memory would have none, either."""
    reach = ["cat /proc/1/environ", ": >/proc/1/mem", ": >/proc/1/task/1/mem", "mkdir /proc/1/x", "cat /proc/self/comm"]
    done = shell("; ".join(["ls -A /proc/1", *(f"({one})" for one in reach)]))
    assert done.stdout == b"cat\n"
    assert done.stderr.count(b"/proc/1/") == 4


@pytest.mark.usefixtures("somebody")
def test_somebody_may_show_and_write_their_files():
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            os.chown(folder, 12345, 12345)
        done = shell(f"echo new >{folder}/file", mounts=[Mount(folder, writable=True)])
        assert done.code == 0, done.stderr
        with open(f"{folder}/file") as file:
            assert file.read() == "new\n"


@pytest.mark.usefixtures("somebody")
def test_somebodys_processes_are_counted_in_their_namespace(monkeypatch):
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    box = Sandbox("bubblewrap", limits=Limits(wall=20, processes=5))
    assert box.guarantees.processes == "RLIMIT_NPROC of the user namespace"
    done = box.run(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; wait"])
    assert done.code == 2
    assert b"fork" in done.stderr


@pytest.mark.parametrize("name", ["memory-by-children", "memory-by-files", "fill-with-names"])
def test_without_a_group_a_tree_has_no_more_memory_together_than_there_may_be(name, monkeypatch):
    """Each process is within its own limit: only whoever looks at all of them, their files and names can tell."""
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    [attack] = [one for one in attacks() if one.name == name]
    outcome = run_attack(attack, Sandbox("bubblewrap"))
    assert (outcome.held, outcome.evidence) == (True, "stopped at the limit memory")


def test_without_a_group_the_guarantees_say_what_is_not_counted(monkeypatch):
    found = Bubblewrap().guarantees(Policy())
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    without = Bubblewrap().guarantees(Policy())
    assert (found.disk, without.disk) == ("tmpfs size", "tmpfs size")
    unlimited = Bubblewrap().guarantees(Policy(limits=Limits(memory=None)))
    assert unlimited.disk == "tmpfs size, names of files not counted"
    assert without.memory == "RLIMIT_AS of each process, watcher (/proc)"


def test_an_old_kernel_does_not_count_them(monkeypatch):
    monkeypatch.setattr(bubblewrap, "drops_user", lambda: False)
    monkeypatch.setattr("ludus.sandbox.enforcement.places", dict)
    monkeypatch.setattr(bubblewrap, "_kernel", lambda: (5, 10))
    assert Bubblewrap().guarantees(Policy()).processes == ""
