"""`ContestantProcess`: where a contestant runs, so that libraries that exclude each other are timed together."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic

from ludus.benchmarks.contestant import Contestant
from ludus.errors import LudusError

__all__ = ["ContestantFailed", "ContestantProcess"]

HERE = Path(__file__).parent
REPLY_TIMEOUT_S = 120.0
"""Seconds that a contestant may take to answer, beyond those it was asked to run."""
STOP_TIMEOUT_S = 5.0
"""Seconds that it may take to end."""
MAX_REASON_CHARS = 300
"""Characters of a reason."""


class ContestantFailed(LudusError):
    """A contestant that could not be started, prepared or run; the message is the reason."""


class ContestantProcess:
    """The process of a contestant: one request, one answer, in the words of `ludus.benchmarks.driver`.

    >>> serial = Contestant("ludus serial", "executor.py")
    >>> with ContestantProcess(serial) as process:
    ...     _ = process.ask("prepare", {"id": "GridWorld-v0", "lanes": 2, "executor": "serial", "warm": 0.0})
    ...     sorted(process.ask("run", 0.001))
    ['median', 'p99', 'seconds', 'steps']
    """

    def __init__(self, contestant: Contestant, *, patience: float = REPLY_TIMEOUT_S) -> None:
        self._patience, self._unread = patience, b""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        command = [contestant.python, "-P", HERE / "driver.py", HERE / "contestants" / contestant.program]
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                env=_environment(contestant.python), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._log.close()
            raise ContestantFailed(f"{Path(contestant.python).name}: {error.strerror}") from error

    def ask(self, verb: str, argument: object, *, seconds: float = 0.0) -> dict[str, object]:
        """The answer to a request that takes about `seconds`; refusal, silence and the end are `ContestantFailed`."""
        pipe = self._child.stdin
        if pipe is None:
            raise ContestantFailed("it takes no requests")
        try:
            pipe.write(json.dumps({verb: argument}).encode() + b"\n")
            pipe.flush()
        except (OSError, ValueError) as error:
            raise ContestantFailed(self._last_words()) from error
        answer: dict[str, object] = json.loads(self._line(monotonic() + seconds + self._patience))
        if "error" in answer:
            raise ContestantFailed(_cut(str(answer["error"])))
        return answer

    @property
    def alive(self) -> bool:
        """Whether it can be asked again."""
        return self._child.poll() is None

    def _line(self, deadline: float) -> bytes:
        pipe = self._child.stdout
        if pipe is None:
            raise ContestantFailed("it gives no answers")
        while b"\n" not in self._unread:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - monotonic()))
            if not ready:
                self._kill()
                raise ContestantFailed(f"no answer within {self._patience:g} seconds")
            read = os.read(pipe.fileno(), 1 << 16)
            if not read:
                raise ContestantFailed(self._last_words())
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _last_words(self) -> str:
        """How it ended, and the last line that it wrote."""
        if self._log.closed:
            return "it was closed"
        self._wait()
        code = self._child.returncode
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return _cut(f"{how}: {said[-1]}") if said else how

    def _wait(self) -> None:
        try:
            self._child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        """End it with all that it has started: its session is its own."""
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def close(self) -> None:
        """End it: it goes by itself when there are no more requests."""
        if self._log.closed:
            return
        requests, answers = self._child.stdin, self._child.stdout
        if requests is not None and answers is not None:
            with suppress(OSError):  # it may be gone, with a request unread
                requests.close()
            self._wait()
            answers.close()
        self._log.close()

    def __enter__(self) -> "ContestantProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON_CHARS else text[: MAX_REASON_CHARS - 1] + "…"


def _environment(python: str) -> dict[str, str]:
    """For our own interpreter, what can be imported here; another keeps to its own packages."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if python == sys.executable:
        found["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return found
