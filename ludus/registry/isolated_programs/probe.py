"""Probe runs: a short episode of each environment, with what it opens, contacts and starts written down as it happens.

Python raises an audit event before such things are done, and a hook that hears them cannot be taken off. It hears
nothing of what compiled code does by itself. The code that is watched runs in the same process: it may add to the
record, and with effort stop it; what was written is out of its reach.
"""

import inspect
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import msgspec

import ludus.sandbox
from ludus.core import EnvSpec
from ludus.registry.assembly import assemble
from ludus.registry.ownership import owner
from ludus.seeding import np_random

__all__ = ["ProbePlan", "main"]

MAX_EVENTS = 1000
MAX_TEXT_CHARS = 1000
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ONE_PATH = ("os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.utime")
"""With a path, and the folder that it is in as the last argument, or -1."""
TWO_PATHS = ("os.rename", "os.link")
STANDARD = os.path.dirname(os.__file__) + "/lib-dynload/"
WORKERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")
SANDBOX = os.path.dirname(ludus.sandbox.__file__) + "/"
PASSED_OVER = (os.path.dirname(os.__file__) + "/", "<frozen ", __file__)
"""Whose frames do what others asked for: the standard library, and who listens here."""


FilePath = str | bytes | os.PathLike[str]


class ProbePlan(msgspec.Struct):
    """What is to be run, and what any interpreter may read."""

    specs: list[str]
    readable: list[str]
    steps: int = 64
    seconds: float = 20.0


def main(question: bytes, answer: int) -> None:
    """Run each environment in a child of its own, one after the other."""
    plan = msgspec.json.decode(question, type=ProbePlan)
    np_random(0)  # what everybody needs is loaded before anybody is watched
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for number, text in enumerate(plan.specs):
        pid = os.fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            _live(ActivityLog(number, answer, tuple(plan.readable)), text, plan.steps)
        ended = _wait(pid, plan.seconds)
        if ended:
            ActivityLog(number, answer, ()).tell("failed", ended)


def _wait(pid: int, seconds: float) -> str:
    ends = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return f"it ended with code {code}" if code else ""
        left = ends - time.monotonic()
        if left <= 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return f"it took longer than {seconds:g} seconds"
        signal.sigtimedwait([signal.SIGCHLD], left)


def _live(watch: "ActivityLog", text: str, steps: int) -> None:
    """The life of a child, which ends here."""
    try:
        sys.addaudithook(watch.hear)
        _play(EnvSpec.from_json(text), steps)
        watch.tell("done", "")
    except BaseException as error:
        watch.tell("failed", f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _play(spec: EnvSpec, steps: int) -> None:
    """Make it, and play an episode and the beginning of another, with random actions that are the same each time."""
    env = assemble(spec, {}, owner(spec))
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(steps):
        step = env.step(env.action_space.sample())
        if step[2] or step[3]:
            break
    env.reset()
    env.close()


class ActivityLog:
    """Writes down what it hears, each thing once."""

    def __init__(self, number: int, answer: int, readable: tuple[str, ...]) -> None:
        self.number, self.answer, self.readable = number, answer, readable
        self.home, self.temporary = os.path.expanduser("~"), os.path.realpath(tempfile.gettempdir())
        self.searched = {os.path.abspath(one) for one in sys.path}
        """Folders that are listed whenever a module is looked for."""
        self.told: set[tuple[str, str]] = set()
        self.heard: dict[str, Callable[[Sequence[Any]], None]] = {
            "open": lambda args: self.opened(args[0], args[1], args[2]),
            "os.listdir": lambda args: self.listed(args[0]),
            "os.mknod": lambda args: self.path("write", args[0]),
            "os.truncate": lambda args: self.path("write", args[0]),
            "os.symlink": lambda args: self.path("write", args[1], args[2]),
            "os.scandir": lambda args: self.path("read", args[0]),
            "sqlite3.connect": lambda args: self.path("write", args[0]),
            "socket.connect": lambda args: self.contacted(args[1]),
            "socket.sendto": lambda args: self.contacted(args[1]),
            "socket.bind": lambda args: self.contacted(args[1]),
            "socket.getaddrinfo": lambda args: self.tell("connect", f"{_text(args[0])}:{_text(args[1])}"),
            "socket.gethostbyname": lambda args: self.tell("connect", f"{_text(args[0])}:*"),
            "subprocess.Popen": lambda args: self.started(args[0] or args[1]),
            "os.exec": lambda args: self.started(args[0]),
            "os.posix_spawn": lambda args: self.started(args[0]),
            "os.system": lambda _: self.tell("start", "sh"),
            "os.fork": lambda _: self.tell("start", "fork"),
            "os.forkpty": lambda _: self.tell("start", "fork"),
            "ctypes.dlopen": lambda args: self.tell("native", _text(args[0])),
            "import": lambda args: self.imported(args[0], args[1]),
        }
        self.heard |= dict.fromkeys(ONE_PATH, lambda args: self.path("write", args[0], args[-1]))
        self.heard |= dict.fromkeys(TWO_PATHS, lambda args: self.moved(args[0], args[1], args[2], args[3]))

    def hear(self, event: str, args: Sequence[Any]) -> None:
        """What Python calls before something is done."""
        heard = self.heard.get(event)
        if heard is not None:
            try:
                heard(args)
            except Exception:
                self.tell("unclear", event)

    def opened(self, path: FilePath | int, mode: object, flags: int) -> None:
        """A file is opened, by `open` or by `os.open`."""
        writes = any(char in mode for char in "wax+") if isinstance(mode, str) else bool(flags & WRITING)
        if isinstance(path, str | bytes) and not os.path.isabs(path) and _is_of_a_sandbox(inspect.currentframe()):
            return  # in a folder that it has open, of which nothing is told here
        self.path("write" if writes else "read", path)

    def path(self, kind: str, path: FilePath | int | None, folder: int = -1) -> None:
        """A path is read or changed; what any interpreter reads is left out.

        `folder` is the descriptor of what it is relative to, or -1.
        """
        if path is None:
            path = "."
        if isinstance(path, int):
            return
        place = os.readlink(f"/proc/self/fd/{folder}") if folder >= 0 else "."
        full = os.path.abspath(os.path.join(place, _text(os.fspath(path))))
        if self._is_of_the_library(kind, full):
            return
        if kind == "read" and any(full == one or full.startswith(f"{one}/") for one in self.readable):
            return
        if full == "/dev/null":
            return
        self.tell(kind, f"~{full.removeprefix(self.home)}" if full.startswith(f"{self.home}/") else full)

    def _is_of_the_library(self, kind: str, path: str) -> bool:
        """Whether it is in a temporary folder of ours, or what a sandbox does to keep and watch what runs in it."""
        if path.startswith(f"{self.temporary}/ludus-"):
            return True
        watches = kind == "read" and path.startswith("/proc")
        keeps = path == self.temporary or path.startswith(f"{self.temporary}/")
        return (watches or keeps) and _is_of_a_sandbox(inspect.currentframe())

    def listed(self, path: FilePath | int | None) -> None:
        """A folder is listed; that modules are looked for in one says nothing."""
        if not isinstance(path, str) or os.path.abspath(path) not in self.searched:
            self.path("read", path)

    def moved(self, old: FilePath, new: FilePath, old_folder: int, new_folder: int) -> None:
        """A name is changed, or another one given."""
        self.path("write", old, old_folder)
        self.path("write", new, new_folder)

    def contacted(self, address: tuple[object, ...] | FilePath) -> None:
        """A socket is connected or bound; by a name in the file system, it is a file."""
        if isinstance(address, tuple):
            self.tell("connect", f"{_text(address[0])}:{_text(address[1])}")
        elif address:
            self.path("write", address)

    def started(self, program: FilePath | Sequence[FilePath]) -> None:
        """A program is started."""
        first = program if isinstance(program, str | bytes | os.PathLike) else program[0]
        self.tell("start", _text(os.fspath(first)))

    def imported(self, name: object, file: object) -> None:
        """A module is imported: compiled code, or one that starts workers unheard."""
        if name in WORKERS:
            self.tell("start", "python")
        if isinstance(file, str) and file.endswith(".so") and not file.startswith(STANDARD):
            self.tell("native", _text(name))

    def tell(self, kind: str, what: str) -> None:
        """One line, in one piece."""
        if (kind, what) not in self.told and len(self.told) < MAX_EVENTS:
            self.told.add((kind, what))
            os.write(self.answer, msgspec.json.encode([self.number, kind, what[:MAX_TEXT_CHARS]]) + b"\n")


def _is_of_a_sandbox(frame: FrameType | None) -> bool:
    """Whether it is a sandbox of ours that does this, for its own ends: to keep and to watch what runs in it."""
    while frame is not None and frame.f_code.co_filename.startswith(PASSED_OVER):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(SANDBOX)


def _text(value: object) -> str:
    """Plain text, whatever class of text it is."""
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    text = str.__str__(value) if isinstance(value, str) else str(value)
    return text.encode("utf8", "backslashreplace").decode()
