"""`process`: no boundary, and it says so; what it signals is its own, and its keeper can be lost with all it kept."""

import os
import shutil
import signal
import subprocess

import pytest

import ludus
from ludus.errors import InvalidArgument, SandboxUnavailable
from ludus.sandbox import Limits, Mount, Policy, Sandbox, SandboxWarning, backend, default_backend, give, process
from ludus.sandbox.enforcement import kill_means
from ludus.sandbox.process import SET_USER_ID, UNSEEN, ProcessBackend, ProcessIsolation
from ludus.sandbox.user import USER
from tests.attacks import attacks, run_attacks
from tests.attacks.isolated import isolated
from tests.attacks.suite import not_promised

QUICK = Limits(wall=20)
ROOT = os.geteuid() == 0
WARNING = (
    "expected sandboxed code to signal and change nothing but its own, got neither a PID namespace nor another user"
)
as_root = pytest.mark.skipif(not ROOT, reason="root alone has something to drop")


def test_it_is_no_boundary_and_never_the_default():
    assert not backend("process").boundary
    assert default_backend().name != "process"
    found = Sandbox("process").guarantees
    assert not found.boundary
    assert (found.files, found.network, found.syscalls) == ("",) * 3


FILL_MAPPED = next(one for one in attacks() if one.name == "fill-mapped")


@pytest.mark.parametrize(
    ("sees", "namespace", "told"),
    [(True, "user", "watched"), (False, "user", "tmpfs size"), (False, "", f"watched, {UNSEEN}")],
)
def test_what_cannot_be_watched_of_a_disk_is_kept_by_the_kernel_or_said_and_not_promised(
    monkeypatch, sees, namespace, told
):
    """`fill-mapped` got through for an ordinary user while the limit was said to be watched."""
    monkeypatch.setattr(process, "_sees_mapped", lambda: sees)
    monkeypatch.setattr(ProcessBackend, "_probed", lambda _: ProcessIsolation(namespace, False))
    found = ProcessBackend().guarantees(Policy())
    assert found.disk == told
    assert bool(not_promised(FILL_MAPPED, found)) == (UNSEEN in told)
    assert [one.name for one in attacks() if one.excepted] == ["fill-mapped"]


def test_a_user_who_sees_behind_no_mapping_has_a_home_of_a_size_that_the_kernel_keeps(monkeypatch):
    monkeypatch.setattr(process, "_sees_mapped", lambda: False)
    monkeypatch.setattr(process, "_forms", lambda: [ProcessIsolation("user", False)])
    box = Sandbox(ProcessBackend(), limits=Limits(wall=60, disk=8 << 20))
    assert run_attacks([FILL_MAPPED], box)["fill-mapped"].held
    done = box.run(["/bin/sh", "-c", "pwd; echo $HOME; stat -f -c '%T %b %S' .; echo word >file && cat file"])
    home, named, sized, word = done.stdout.decode().splitlines()
    assert (home, sized, word) == (named, "tmpfs 2048 4096", "word"), done.stderr
    assert not os.path.exists(home)


@as_root
def test_only_root_sees_behind_a_mapping():
    looks = process._sees_mapped.__wrapped__
    if (child := os.fork()) == 0:
        os.setresuid(12345, 12345, 12345)
        os._exit(looks())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_it_sees_the_hosts_files_and_its_network(tmp_path):
    (tmp_path / "file").write_text("seen")
    box = Sandbox("process", limits=QUICK, network=["localhost:80"], mounts=[Mount(str(tmp_path))])
    done = box.run(["/bin/sh", "-c", f"cat {tmp_path}/file; echo $HTTP_PROXY"])
    assert (done.stdout, done.code) == (b"seen\n", 0)  # and it is told of no proxy, for there is none
    assert box.guarantees.network == ""


def test_it_has_processes_of_its_own_and_sees_no_others():
    box = Sandbox("process", limits=QUICK)
    assert box.guarantees.kill == "pid namespace"
    assert box.guarantees.other_processes.startswith("pid namespace, but for shared memory of System V")
    done = box.run(["/bin/sh", "-c", "echo $$ $PPID /proc/[0-9]*; [ -e /proc/self/status ]"])
    assert (done.stdout, done.code) == (b"2 1 /proc/1 /proc/2\n", 0)


def test_it_cannot_move_mounts():
    with pytest.raises(SandboxUnavailable, match="expected mounts at their own path, got /elsewhere"):
        ProcessBackend().guarantees(Policy(mounts=(Mount("/usr/share", "/elsewhere"),)))


def test_a_link_that_leads_to_a_mount_is_its_own_path(tmp_path):
    """A virtual environment behind a link is known by both its paths."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    mounts = (Mount(str(tmp_path / "real"), str(tmp_path / "link")),)
    assert ProcessBackend().guarantees(Policy(mounts=mounts)).backend == "process"


def test_a_keeper_that_is_killed_takes_the_command_along():
    box = Sandbox("process", limits=QUICK)
    with box.start(["/bin/sh", "-c", "echo $HOME; exec sleep 1000"], stdout=subprocess.PIPE) as process:
        home = process.stdout.readline().strip()
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert process.stdout.read() == b""
    assert not os.path.exists(home)


def test_orphans_are_buried_while_it_runs():
    # Each orphan that ended would take the place of a process.
    script = "i=0; while [ $i -lt 60 ]; do (true &) ; i=$((i+1)); sleep 0.01; done; echo done"
    done = Sandbox("process", limits=Limits(wall=30, processes=30)).run(["/bin/sh", "-c", script])
    assert done.stdout == b"done\n", done.stderr


def test_signals_that_python_ignores_are_not_ignored_inside():
    done = Sandbox("process", limits=QUICK).run(["/bin/grep", "SigIgn", "/proc/self/status"])
    ignored = int(done.stdout.split()[1], 16)
    assert ignored & ~(1 << 31 | 1 << 32) == 0  # those two are the C library's own


def test_where_the_system_cannot_tell_of_an_end_it_is_looked_for(monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    done = Sandbox("process", limits=QUICK).run(["/bin/sh", "-c", "echo x; exit 3"])
    assert (done.code, done.stdout) == (3, b"x\n")
    assert Sandbox("process", limits=Limits(wall=0.1)).run(["/bin/sleep", "100"]).usage.limit == "wall"


@as_root
def test_root_becomes_the_confined_user_who_reads_what_root_may_and_changes_nothing(tmp_path):
    (tmp_path / "private").write_text("seen")
    (tmp_path / "private").chmod(0o600)
    box = Sandbox("process", limits=QUICK)
    script = f"id -u; id -G; [ -r {tmp_path}/private ] && cat {tmp_path}/private; echo x >>{tmp_path}/private"
    done = box.run(["/bin/sh", "-c", script])
    assert done.stdout == f"{USER}\n{USER}\nseen".encode()
    assert b"Permission denied" in done.stderr
    assert box.guarantees.user == f"user {USER}, no right of root but to read, no new privileges, {SET_USER_ID}"


@as_root
def test_an_environment_that_only_root_may_read_is_made(tmp_path, monkeypatch):
    (tmp_path / "private_guess.py").write_text(
        "import ludus\nfrom pathlib import Path\nfrom ludus.spaces import Discrete\n"
        "class Env(ludus.Env):\n"
        "    def __init__(self):\n"
        "        self.observation_space, self.action_space = Discrete(9), Discrete(2)\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        super().reset(seed=seed)\n"
        "        return int(Path(__file__).with_name('data').read_text()), {}\n"
    )
    (tmp_path / "data").write_text("7")
    for path in (tmp_path / "private_guess.py", tmp_path / "data"):
        path.chmod(0o600)
    tmp_path.chmod(0o700)
    monkeypatch.syspath_prepend(str(tmp_path))
    with ludus.make("private_guess:Env", isolation="process") as env:
        assert env.reset(seed=0)[0] == 7


@as_root
def test_root_stays_where_none_but_root_may_execute_the_program_and_it_says_so(tmp_path):
    program = tmp_path / "id"
    shutil.copyfile("/usr/bin/id", program)
    program.chmod(0o700)
    with pytest.warns(SandboxWarning, match=f"got a program that only its owner may execute, {program}: it may do all"):
        done = Sandbox(ProcessBackend(), limits=QUICK).run([str(program), "-u"])
    assert (done.stdout, done.guarantees.user) == (b"0\n", "")
    assert done.guarantees.other_processes.startswith("pid namespace, ")


@as_root
def test_a_root_without_the_right_to_read_all_hands_none_on(tmp_path, monkeypatch):
    """As the root of a container is: what is open to all is used by another user, what is private by root."""
    monkeypatch.setattr(process, "_reads_all", lambda: False)
    own = Sandbox(ProcessBackend(), limits=QUICK)
    assert own.guarantees.user == f"user {USER}, no capabilities, no new privileges, {SET_USER_ID}"
    assert own.run(["/bin/grep", "CapPrm", "/proc/self/status"]).stdout.split()[1] == b"0" * 16
    private = Sandbox(ProcessBackend(), limits=QUICK, mounts=[Mount(str(tmp_path))])
    with pytest.warns(SandboxWarning, match=f"a path that only its owner may read, {tmp_path}"):
        assert private.run(["/usr/bin/id", "-u"]).stdout == b"0\n"


@as_root
def test_a_writable_mount_has_to_be_handed_over(tmp_path):
    box = Sandbox("process", limits=QUICK, mounts=[Mount(str(tmp_path), writable=True)])
    with pytest.raises(InvalidArgument, match=r"may write, got one of user 0 .* hand it over with ludus.sandbox.give"):
        box.run(["/bin/true"])
    give(tmp_path)
    assert box.run(["/bin/sh", "-c", f"echo mine >{tmp_path}/file"]).code == 0
    assert (tmp_path / "file").read_text() == "mine\n"


def test_where_it_can_be_kept_to_itself_in_no_way_it_warns_once(monkeypatch):
    monkeypatch.setattr(process, "_forms", lambda: [ProcessIsolation("", False)])
    plain = ProcessBackend()
    with pytest.warns(SandboxWarning, match=WARNING):
        box = Sandbox(plain, limits=QUICK)
    assert Sandbox(plain).run(["/bin/true"]).code == 0  # a second warning would be an error
    assert (box.guarantees.user, box.guarantees.other_processes) == ("", "")
    assert box.guarantees.kill == kill_means()


FORMS = {"default": None, "user": ["user", False]} | ({"dropped": ["", True], "root": ["root", False]} if ROOT else {})


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_signals_to_everybody_end_nothing_but_its_own(form):
    """In namespaces of their own, with a decoy in them: should it fail, the machine is not reached."""
    found = isolated().call("tests.sandbox.everybody:kill_in_session", form)
    assert found["lost"]
    assert found["decoys"] == [True, True]
    assert found["again"] == "still here\n"


def test_signals_to_everybody_would_end_a_decoy_if_nothing_was_done():
    assert isolated().call("tests.sandbox.everybody:kill_in_session", ["", False])["decoys"][0] is False
