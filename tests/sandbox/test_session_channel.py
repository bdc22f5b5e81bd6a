"""A session against an agent that lies: whatever comes from inside, it ends with a word on what came, never hangs."""

import json
import subprocess
import sys

import pytest

from ludus.errors import ChannelError, SandboxError
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.session import ShellSession
from ludus.sandbox.session import link as linking
from ludus.sandbox.session.inside.wire import MAX_DATA_BYTES, Decoder, encode, fields_of, to_bytes, to_text

LIAR = """
import os, json, struct, sys
def frame(head, data=b""):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack(">II", len(text), len(data)) + text + data
def say(data):
    while data:
        data = data[os.write(3, data):]
def hear():
    head, data = struct.unpack(">II", os.read(3, 8))
    text = os.read(3, head)
    while data:
        data -= len(os.read(3, data))
    return json.loads(text)
size = int.from_bytes(os.read(3, 4), "big")
while size:
    size -= len(os.read(3, min(size, 65536)))
ready = {"kind": "ready", "shell": "bash", "folder": "/", "places": {}, "call": 0}
done = {"kind": "done", "call": 1, "job": 1, "running": False, "code": 0, "signal": None, "timed_out": False,
        "seconds": 0.1, "stdout": 0, "stderr": 0, "interrupted": False, "killed": False, "dropped": [0, 0],
        "begun_in": "/", "folder": "/"}
"""


class Liar:
    """Starts a program of the test's in place of the agent."""

    def __init__(self, program: str) -> None:
        self.box = Sandbox("process", limits=Limits(wall=60))
        self.policy, self.program = self.box.policy, program
        self.started = []

    def start(self, argv, **streams):
        process = self.box.start([sys.executable, "-I", "-S", "-c", LIAR + self.program], **streams)
        self.started.append(process)
        return process


GREETED = "say(frame(ready)); hear()\n"
WAITS = "\nos.read(3, 1)"

LIES = {
    "nothing more": GREETED,
    "no frame": GREETED + "say(b'\\xff' * 64)" + WAITS,
    "a frame of 4 GB": GREETED + "say(struct.pack('>II', 10, 0xffffffff))" + WAITS,
    "a head of 4 GB": GREETED + "say(struct.pack('>II', 0xffffffff, 0))" + WAITS,
    "no JSON": GREETED + "say(frame(b'{'))" + WAITS,
    "no UTF-8": GREETED + 'say(frame(b\'{"kind": "\\xff"}\'))' + WAITS,
    "deep JSON": GREETED + "say(frame(b'[' * 100000))" + WAITS,
    "no object": GREETED + "say(frame([]))" + WAITS,
    "no kind": GREETED + "say(frame({'call': 1}))" + WAITS,
    "an unknown kind": GREETED + "say(frame({'kind': 'trust me', 'call': 1}))" + WAITS,
    "a field too many": GREETED + "say(frame({**done, 'extra': 1}))" + WAITS,
    "a field too few": GREETED + "del done['code']; say(frame(done))" + WAITS,
    "a code of text": GREETED + "say(frame({**done, 'code': '0'}))" + WAITS,
    "a code of 256": GREETED + "say(frame({**done, 'code': 256}))" + WAITS,
    "a negative count": GREETED + "say(frame({**done, 'dropped': [-1, 0]}))" + WAITS,
    "no time": GREETED + "say(frame(json.dumps({**done, 'seconds': float('nan')}).encode()))" + WAITS,
    "another call": GREETED + "say(frame({**done, 'call': 2}))" + WAITS,
    "a second greeting": GREETED + "say(frame({**ready, 'call': 1}))" + WAITS,
    "another answer": GREETED + "say(frame({'kind': 'ok', 'call': 1}))" + WAITS,
    "a folder of no bytes": GREETED + "say(frame({**done, 'folder': '\\u4e2d'}))" + WAITS,
    "an endless folder": GREETED + "say(frame({**done, 'folder': '/' * 100000}))" + WAITS,
    "endless output": GREETED
    + "while True: say(frame({'kind': 'output', 'stream': 1, 'end': False, 'call': 1}, bytes(65536)))",
    "a third stream": GREETED + "say(frame({'kind': 'output', 'stream': 3, 'end': False, 'call': 1}, b'x'))" + WAITS,
    "giving up": GREETED + "say(frame({'kind': 'lost', 'reason': 'tired', 'call': 1}))" + WAITS,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_costs_the_session_and_says_what_came(lie):
    liar = Liar(LIES[lie])
    with ShellSession(liar, limit=1000) as session:
        result = session.run("true")
        assert result.lost
        assert result.code is None
        assert result.note.startswith("the session is lost: ")
        assert session.lost == result.note
        assert len(result.stdout) <= 1000 + 65536
    assert liar.started[0].wait(60) is not None


@pytest.mark.parametrize("lie", ["no frame", "another answer", "endless output", "a third stream"])
def test_a_lie_about_a_file_is_an_error(lie):
    with ShellSession(Liar(LIES[lie].replace("'ok'", "'alive', 'x': 1"))) as session:
        with pytest.raises(ChannelError, match="the session is lost"):
            session.read_file("file", 1000)
        with pytest.raises(SandboxError, match="call restart"):
            session.list_files()


def test_names_from_inside_are_checked():
    entry = {"name": "中", "kind": "file", "size": 0, "mode": 0, "time": 0.0}
    for fields in ({}, {"kind": "door"}, {"size": -1}, {"mode": 0o10000}, {"name": ""}):
        head = {"kind": "entries", "call": 1, "entries": [{**entry, **fields}]}
        with ShellSession(Liar(GREETED + f"say(frame({head!r}))" + WAITS)) as session, pytest.raises(ChannelError):
            session.list_files()


def test_an_error_from_inside_is_an_error_of_the_file():
    head = {"kind": "failed", "call": 1, "number": 13, "reason": "no"}
    with (
        ShellSession(Liar(GREETED + f"say(frame({head!r})); hear()")) as session,
        pytest.raises(PermissionError, match="no"),
    ):
        session.read_file("file")


@pytest.mark.parametrize(
    ("program", "match"),
    [
        ("sys.exit('went wrong at once')", "went wrong at once"),
        ("sys.exit(0)", "its processes were killed"),
        ("say(b'x' * 64)" + WAITS, "a frame of"),
        ("say(frame({'kind': 'ok', 'call': 0}))" + WAITS, "expected its agent to be ready"),
        ("say(frame({**ready, 'places': {'HOME': '\\u4e2d'}}))" + WAITS, "characters that are no bytes"),
        ("say(frame({**ready, 'places': {'PATH': '/'}}))" + WAITS, "is none"),
        ("say(frame({**ready, 'shell': 'fish'}))" + WAITS, "is none"),
    ],
)
def test_an_agent_that_does_not_greet_is_an_error_with_the_reason(program, match):
    liar = Liar(program)
    with pytest.raises(SandboxError, match=match):
        ShellSession(liar)
    assert liar.started[0].wait(60) is not None


def test_an_agent_that_never_greets_is_given_up(monkeypatch):
    monkeypatch.setattr(linking, "START_TIMEOUT_S", 0.3)
    with pytest.raises(SandboxError, match="does not answer"):
        ShellSession(Liar("os.read(3, 1)"))


def test_an_agent_that_falls_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(linking, "SILENCE_TIMEOUT_S", 0.3)
    with ShellSession(Liar(GREETED + WAITS)) as session:
        result = session.run("true", timeout=1e9)
        assert result.lost
        assert "does not answer" in result.note


def test_an_agent_that_stops_reading_is_given_up(monkeypatch):
    monkeypatch.setattr(linking, "SILENCE_TIMEOUT_S", 0.3)
    program = "say(frame(ready)); import signal; signal.pause()"
    with ShellSession(Liar(program)) as session:
        assert "does not answer" in session.run("true", input=bytes(4 << 20)).note


def test_a_sandbox_without_python_is_an_error_that_says_so(monkeypatch):
    box = Sandbox("process", environment={"PATH": "/nowhere"})
    monkeypatch.setattr("ludus.sandbox.session.launch.CHOOSE", "echo 'no Python in the sandbox' >&2; exit 127")
    with pytest.raises(SandboxError, match="no Python in the sandbox"):
        box.open_session()


def test_a_call_that_is_given_up_costs_the_session(monkeypatch):
    with Sandbox("process").open_session() as session:

        def give_up(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr(session._link.channel, "receive", give_up)
        with pytest.raises(KeyboardInterrupt):
            session.run("true")
        assert session.lost == "the session is lost: a call was given up (KeyboardInterrupt)"


def test_the_agents_modules_are_python_of_3_8_and_need_only_each_other():
    import ast
    from pathlib import Path

    from ludus.sandbox.session.launch import INSIDE, ORDER, modules

    sources = dict(json.loads(modules()[4:]))
    known: set[str] = set()
    for name in ORDER:
        tree = ast.parse(sources[INSIDE + name], feature_version=(3, 8))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert {one for one in imported if one.startswith("ludus")} <= known
        assert {one.partition(".")[0] for one in imported} <= {*sys.stdlib_module_names, "ludus"}
        known.add(INSIDE + name)
    files = Path(__file__).parents[2].joinpath("ludus/sandbox/session/inside").glob("[!_]*.py")
    assert {path.stem for path in files} == set(ORDER)


@pytest.mark.parametrize("python", ["/usr/bin/python3"])
def test_the_agent_runs_on_another_python(python, monkeypatch):
    if subprocess.run([python, "-V"], check=False, capture_output=True).returncode:
        pytest.skip("no system Python")
    monkeypatch.setattr(sys, "executable", python)
    with Sandbox("process").open_session() as session:
        assert session.run("cd /usr; echo on").stdout == b"on\n"


# Frames.


def test_frames_come_out_as_they_went_in_however_they_are_cut():
    sent = [({"a": 1}, b""), ({"b": "ü"}, b"\0" * 1000), ({}, b"x")]
    stream = b"".join(encode(head, data) for head, data in sent)
    for size in (1, 7, 100000):
        decoder, found = Decoder(), []
        for begin in range(0, len(stream), size):
            decoder.feed(stream[begin : begin + size])
            while frame := decoder.frame():
                found.append((fields_of(frame[0]), frame[1]))
        assert found == sent


def test_a_frame_beyond_its_limit_is_refused_before_it_is_read():
    decoder = Decoder()
    decoder.feed(encode({}, b"x")[:4] + (MAX_DATA_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(ValueError, match="above"):
        decoder.frame()


def test_a_head_that_is_no_object_is_refused():
    with pytest.raises(ValueError, match="no object"):
        fields_of(b"[]")


def test_any_bytes_pass_as_text():
    assert to_bytes(json.loads(json.dumps(to_text(bytes(range(256)))))) == bytes(range(256))
