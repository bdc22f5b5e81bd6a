"""A submitted program in its sandbox: the grader's calls go in, plain values come out, and time is counted."""

import time
from functools import cache
from pathlib import Path

import msgspec

from ludus.errors import ChannelError, SandboxError
from ludus.sandbox import Sandbox
from ludus.sandbox.framed_process import FramedProcess, Late
from ludus.tasks.grading.stopwatch import Stopwatch
from ludus.tasks.packages import agent_python
from ludus.tasks.sandboxes import SUBMISSION

__all__ = ["SubmittedProgram"]

SEND_S = 1.0
"""Seconds for a question to be sent, at least: what is sent in part cannot be sent again."""


class SubmittedProgram:
    """One process of submitted code; `relay` takes a call of the grader's and gives the answer to it, as bytes."""

    def __init__(self, sandbox: Sandbox, path: str, seconds: float) -> None:
        self._seconds = seconds
        self._talk: FramedProcess | None = None
        self.watch: Stopwatch | None = None
        self._sandbox, self._path = sandbox, path

    def start(self) -> bytes | None:
        """Start it and load its file; what went wrong, as an answer, else None."""
        try:
            self._talk = FramedProcess(self._sandbox, [agent_python(), "-c", _source()])
        except SandboxError as error:
            return _error(str(error))
        self.watch = Stopwatch(self._talk.process, self._seconds)
        answer = self.relay(msgspec.json.encode({"do": "load", "path": f"{SUBMISSION}/{self._path}"}))
        read: dict[str, object] = msgspec.json.decode(answer)
        return answer if "error" in read else None

    def relay(self, body: bytes) -> bytes:
        """One call; the time that it takes is the program's."""
        if self._talk is None or self.watch is None:
            return _error("the program is not running any more")
        try:
            with self.watch.running():
                self._talk.send(body, time.monotonic() + max(SEND_S, self.watch.left))
            return _plain(self.watch.wait(self._talk.receive))
        except Late:
            self.close()
            return _error("its time ran out")
        except ChannelError as error:
            why = self._talk.complaint()
            self.close()
            return _error(f"{error} ({why[-300:]})" if why else str(error))

    def used(self) -> bytes:
        """The processor time of all of its processes so far; null where the backend does not count it."""
        used = None if self._talk is None else self._talk.process.usage().cpu
        return msgspec.json.encode({"value": used or None})

    def close(self) -> None:
        """Kill it; harmless twice."""
        if self._talk is not None:
            self._talk.close()
            self._talk = None


class _Answer(msgspec.Struct):
    """What a program may say."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


_ANSWER = msgspec.json.Decoder(_Answer)


def _plain(data: bytes) -> bytes:
    """An answer as the grader may read it: a value or an error, nothing else that submitted code might add."""
    try:
        answer = _ANSWER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _error("it answered what is no JSON")
    if answer.error is not None:
        return _error(answer.error)
    return b'{"value":' + bytes(answer.value) + b"}"


def _error(text: str) -> bytes:
    return msgspec.json.encode({"error": text[:600]})


@cache
def _source() -> str:
    """The two files that are started inside, as one: nothing of Ludus is installed there."""
    folder = Path(__file__).parents[1] / "inside"
    frames = (folder / "frames.py").read_text(encoding="utf8")
    program = (folder / "program.py").read_text(encoding="utf8")
    future = "from __future__ import annotations\n"
    body = program.replace(future, "").replace("from ludus.tasks.inside.frames import CHANNEL, receive, send\n", "")
    return f"{frames}\n{body}\nmain()\n"
