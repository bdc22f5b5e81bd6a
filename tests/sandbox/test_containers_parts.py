"""The parts of containers, each by itself: the first process, the API, the control group, the description."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading

import pytest

from ludus.errors import InvalidArgument, SandboxUnavailable
from ludus.sandbox.bwrap import ETC
from ludus.sandbox.containers import description, group, inside
from ludus.sandbox.containers.api import Api, EngineError
from ludus.sandbox.containers.description import EngineSetup, describe, own_limits
from ludus.sandbox.containers.verification import NAMESPACES, missing_isolation, missing_rlimits, missing_sentry
from ludus.sandbox.policy import Limits, Mount, Policy

PLACE = EngineSetup(image="image", python="python3", user="1:1", mounts=(), tasks=65, processes=None)


# The first process, which does the same outside a container, except to end all others.


@pytest.fixture
def listening(tmp_path):
    (tmp_path / "limits").write_text("CORE 0 0\nNOFILE 99 99\n")
    (tmp_path / "filter").write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "control"))
        listener.listen()
        yield tmp_path, listener


def begin(listening):
    folder, listener = listening
    process = subprocess.Popen([sys.executable, inside.__file__, str(folder)], stderr=subprocess.PIPE)
    return process, listener.accept()[0]


def hand(control, work, descriptors):
    text = json.dumps({"environment": {"PATH": "/usr/bin:/bin"}, "folder": "/", "channel": None, **work}).encode()
    socket.send_fds(control, [text[:10]], descriptors)
    control.sendall(text[10:] + b"\n")


def test_the_first_process_runs_its_work_and_reports(listening):
    process, control = begin(listening)
    ours, theirs = socket.socketpair()
    with process, control, ours, theirs:
        argv = ["sh", "-c", "cat; echo $PATH; pwd; ulimit -n; cat <&3; exit 7"]
        hand(control, {"argv": argv, "streams": [None, 0, 0], "channel": 1}, [theirs.fileno(), os.open(__file__, 0)])
        theirs.close()
        assert control.recv(99) == b"7\n"
        assert ours.recv(99).startswith(b'/usr/bin:/bin\n/\n99\n"""The parts of containers')
        assert process.poll() is None  # it stays until it was measured
        control.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("work", "report"),
    [
        ({"argv": ["sh", "-c", "kill -USR1 $$"]}, b"-10\n"),
        ({"argv": ["no-such-program"]}, b"127\n"),
        ({"argv": ["/"]}, b"126\n"),
        ({"argv": ["true"], "folder": "/no"}, b"125 FileNotFoundError: [Errno 2] No such file or directory: '/no'\n"),
    ],
)  # fmt: skip
def test_the_first_process_says_how_it_ended(listening, work, report):
    process, control = begin(listening)
    with process, control:
        hand(control, {"streams": [None, None, None], **work}, [])
        assert control.recv(999) == report
        control.close()


def test_the_first_process_reaps_orphans_and_ends_with_the_other_side(listening):
    process, control = begin(listening)
    with process:
        hand(control, {"argv": ["sleep", "600"], "streams": [None, None, None]}, [])
        control.close()
        assert process.wait(60) == 1
    [sleeper] = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_sleeping(pid)]
    os.kill(int(sleeper), 9)  # in a container the kernel does that


def is_sleeping(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/oom_score_adj") as score:
            return words.read() == b"sleep\x00600\x00" and score.read() == "1000\n" and os.getsid(int(pid)) == int(pid)
    except OSError:
        return False


def test_the_first_process_gives_up_when_there_is_no_work(listening):
    process, control = begin(listening)
    with process:
        control.close()
        assert process.wait(60) == 1


def test_a_filter_that_the_kernel_refuses_ends_the_first_process(listening):
    folder, _ = listening
    (folder / "filter").write_bytes(b"nonsense")
    done = subprocess.run([sys.executable, inside.__file__, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the filter of system calls is refused" in done.stderr


# The API, answered by hand.


@pytest.fixture
def engine(tmp_path):
    """An engine that gives the answers it is told to, one after the other, and keeps what it was asked."""
    answers, asked = [], []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "engine.sock"))
    listener.listen()

    def serve():
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            with connection, connection.makefile("rb") as request:
                asked.append(request.readline().decode().strip())
                headers = http.client.parse_headers(request)
                request.read(int(headers.get("Content-Length", 0)))
                status, kind, text = answers.pop(0)
                head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
                connection.sendall(head.encode() + text)

    thread = threading.Thread(target=serve)
    thread.start()
    api = Api(str(tmp_path / "engine.sock"))
    api.will_answer = lambda status, text, kind="application/json": answers.append((status, kind, text))
    api.asked = asked
    yield api
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_an_answer_is_read_and_an_error_has_the_engines_words(engine):
    engine.will_answer(200, b'{"Id": "abc"}')
    assert engine.create({}) == "abc"
    engine.will_answer(500, b'{"message": "no space left"}')
    with pytest.raises(EngineError, match="no space left") as error:
        engine.start("abc")
    assert error.value.status == 500
    engine.will_answer(502, b"bad gateway", "text/plain")
    with pytest.raises(EngineError, match="bad gateway"):
        engine.start("abc")
    engine.will_answer(500, b"[]")
    with pytest.raises(EngineError, match=r"\[\]"):
        engine.start("abc")


def test_an_image_that_is_not_there_is_none_and_other_errors_are_errors(engine):
    engine.will_answer(404, b'{"message": "no such image"}')
    assert engine.image("name") is None
    engine.will_answer(500, b'{"message": "broken"}')
    with pytest.raises(EngineError, match="broken"):
        engine.image("name")


def test_removing_is_asked_for_until_it_is_done(engine):
    engine.will_answer(500, b'{"message": "container state improper"}')
    engine.will_answer(409, b'{"message": "removal is already in progress"}')
    engine.will_answer(404, b'{"message": "no such container"}')
    engine.remove("abc")
    assert engine.asked == ["DELETE /containers/abc?force=true&v=true HTTP/1.1"] * 3


def test_killing_what_has_ended_is_harmless(engine):
    engine.will_answer(409, b'{"message": "not running"}')
    engine.kill("abc")
    engine.will_answer(500, b'{"message": "broken"}')
    with pytest.raises(EngineError, match="broken"):
        engine.kill("abc")


def test_nobody_there_is_an_engine_that_is_unavailable(tmp_path):
    api = Api(str(tmp_path / "none.sock"))
    assert not api.answers()
    with pytest.raises(SandboxUnavailable, match=r"expected an answer on .*none.sock, got FileNotFoundError"):
        api.version()


# The control group of a container, in both versions.


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A machine with the groups that are written down."""

    def groups(mounts, own, files):
        texts = {"/proc/self/mounts": mounts, "/proc/7/cgroup": own, "/proc/swaps": "Filename\n/swap file 1024 0 -2\n"}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        read = group._read
        monkeypatch.setattr(group, "_read", lambda path: texts.get(path) if path in texts else read(path))
        return group.Group(7, "abc")

    return groups


def test_a_group_of_version_2_is_read_at_the_folder_with_the_id(groups, tmp_path):
    found = groups(
        f"cgroup2 {tmp_path} cgroup2 rw 0 0\n",
        "0::/machine/libpod-abc.scope/container\n",
        {
            "machine/libpod-abc.scope/memory.max": "1000\n",
            "machine/libpod-abc.scope/memory.swap.max": "0\n",
            "machine/libpod-abc.scope/memory.peak": "900\n",
            "machine/libpod-abc.scope/memory.events": "oom_kill 1\n",
            "machine/libpod-abc.scope/pids.max": "50\n",
            "machine/libpod-abc.scope/pids.peak": "9\n",
            "machine/libpod-abc.scope/cpu.stat": "usage_usec 2000000\n",
            "machine/libpod-abc.scope/io.stat": "8:0 rbytes=5 wbytes=6 rios=1\n8:1 rbytes=1 wbytes=1\n",
        },
    )
    scope = tmp_path / "machine/libpod-abc.scope"
    assert (found.memory, found.tasks, found.counts_cpu) == (1000, 50, True)
    (scope / "pids.peak").write_text("60\n")
    (scope / "cpu.stat").write_text("usage_usec 2500000\n")
    assert found.measures(None) == {
        "cpu": 0.5,
        "peak_memory": 900,
        "processes": 49,
        "read_bytes": 6,
        "written_bytes": 7,
        "oom": True,
        "limit": "memory",
    }
    found.limit_tasks(20)
    assert found.tasks == 20
    (scope / "memory.swap.max").write_text("max\n")
    assert found.memory == 1000 + (1 << 20)


def test_a_group_of_version_1_is_read_in_each_hierarchy(groups, tmp_path):
    found = groups(
        f"cgroup {tmp_path}/m cgroup rw,memory 0 0\ncgroup {tmp_path}/b cgroup rw,blkio 0 0\n",
        "4:memory:/docker/abc\n3:blkio:/docker/abc\n2:pids:/docker/abc\n",
        {
            "m/docker/abc/memory.limit_in_bytes": "1000\n",
            "b/docker/abc/blkio.throttle.io_service_bytes": "8:0 Read 5\n8:0 Write 6\nTotal 11\n",
        },
    )
    assert (found.memory, found.tasks, found.counts_cpu) == (1000 + (1 << 20), None, False)
    assert found.measures(None) == {"read_bytes": 5, "written_bytes": 6}


def test_an_alarm_that_rings_because_the_group_is_removed_is_none(groups, tmp_path):
    found = groups(
        f"cgroup {tmp_path} cgroup rw,memory 0 0\n",
        "4:memory:/abc\n",
        {"abc/memory.oom_control": "oom_kill 0\n", "abc/cgroup.event_control": ""},
    )
    bell = found.oom_descriptor()
    assert (tmp_path / "abc/cgroup.event_control").read_text().startswith(f"{bell} ")
    assert not found.ran_out()
    os.rename(tmp_path / "abc", tmp_path / "gone")
    os.eventfd_write(bell, 1)
    assert not found.ran_out()
    os.rename(tmp_path / "gone", tmp_path / "abc")
    os.eventfd_write(bell, 1)
    assert found.ran_out()
    assert found.ran_out()  # and remains so
    assert found.measures(None) == {"oom": True, "limit": "memory"}
    assert found.remove()


def test_a_group_of_somebody_else_is_not_believed(groups, tmp_path):
    found = groups(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n", "0::/user\n", {"user/memory.max": "1000\n"})
    assert (found.memory, found.tasks, found.counts_cpu) == (None, None, False)
    assert found.measures("wall") == {"limit": "wall"}


# The isolation.


def test_a_process_without_isolation_misses_all_of_it():
    assert missing_isolation(os.getpid(), None)[:6] == [
        *(f"own {name} namespace" for name in NAMESPACES),
        "user without rights (it is 0)",
    ]
    assert missing_sentry(os.getpid())[-2:] == ["gVisor", "a seccomp filter around it"]
    assert missing_rlimits(os.getpid(), Limits(open_files=2, file_size=1)) == ["open_files", "file_size"]


def test_a_process_that_is_not_there_has_no_isolation():
    assert "own mnt namespace" in missing_isolation(999_999_999, None)
    assert "gVisor" in missing_sentry(999_999_999)
    assert missing_rlimits(999_999_999, Limits()) == ["open_files", "file_size"]


# The description.


def test_what_is_mounted_below_a_read_only_mount_is_mounted_read_only_too(monkeypatch, tmp_path):
    below = {str(tmp_path): [f"{tmp_path}/a b"]}
    monkeypatch.setattr(description, "_mounted_below", lambda source: below.get(source, []))
    policy = Policy(mounts=(Mount(str(tmp_path), "/data"), Mount(str(tmp_path), "/work", writable=True)))
    binds = describe(policy, PLACE, control="/door")["HostConfig"]["Mounts"]
    assert {one["Type"] for one in binds} == {"bind"}
    assert [(one["Source"], one["Target"], one["ReadOnly"]) for one in binds] == [
        ("/door", "/run/ludus", True),
        (f"{ETC}/hosts", "/etc/hosts", True),
        (str(tmp_path), "/data", True),
        (f"{tmp_path}/a b", "/data/a b", True),
        (str(tmp_path), "/work", False),
    ]


def test_mounts_are_found_below_a_folder():
    assert "/proc" in description._mounted_below("/")
    assert description._mounted_below("/proc/self") == []
    assert description._unescaped(r"/a\040b") == "/a b"


def test_limits_that_are_lifted_are_not_set():
    lifted = Policy(limits=Limits(**dict.fromkeys(Limits.__struct_fields__)))
    place = EngineSetup(image="image", python="python3", user="1:1", mounts=(), tasks=None, processes=None)
    config = describe(lifted, place, control="/door")["HostConfig"]
    assert "Memory" not in config
    assert config["PidsLimit"] == -1
    assert [one.name for one in own_limits(lifted, place)] == ["CORE"]
    assert not config["Tmpfs"]["/tmp"].startswith("size")


def test_a_mount_takes_the_place_of_an_own_folder(tmp_path):
    policy = Policy(mounts=(Mount(str(tmp_path), "/tmp"),))
    assert set(describe(policy, PLACE, control="/door")["HostConfig"]["Tmpfs"]) == {"/home/box", "/run", "/var/tmp"}


@pytest.mark.parametrize("name", ["a:rw", "a,rw=true"])
def test_a_path_that_would_be_read_as_an_option_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidArgument, match="expected paths without , or : for a container"):
        describe(Policy(mounts=(Mount(f"{tmp_path}/{name}"),)), PLACE, control="/door")
