"""What `process` and `landlock` share: a command started by the launcher, in a home that is removed after it."""

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from ludus.errors import SandboxUnavailable
from ludus.sandbox.backend import Guarantees
from ludus.sandbox.cgroup import Cgroup
from ludus.sandbox.enforcement import make_cgroup
from ludus.sandbox.leftovers import private_folder
from ludus.sandbox.local_process import LocalProcess
from ludus.sandbox.policy import Policy
from ludus.sandbox.proxy import proxy_variables
from ludus.sandbox.removal import remove_tree
from ludus.sandbox.rlimits import Rlimit
from ludus.sandbox.spawn import spawn
from ludus.sandbox.strays import end_orphans
from ludus.sandbox.streams import Streams
from ludus.sandbox.tree import TreeSample, below

__all__ = ["PATH", "Step", "LauncherProcess", "interpreter", "launch", "sized_home", "variables"]

LAUNCH = "import sys; sys.path.append(sys.argv.pop(1)); import launcher; launcher.main()"
"""Imported, because a program that is run by its path is compiled every time."""
PATH = "/usr/local/bin:/usr/bin:/bin"
HOME, FIRST_PIN = 6, 7
"""Descriptors of the launcher, beside the streams, the channel at 3, its steps and its control socket."""
PAGE_BYTES, FEW_FILES = 4096, 16
"""Every file of a home takes a page, an empty one too; and a few are for the folder itself."""
Step = tuple[object, ...]


class _Kept(NamedTuple):
    """What this side holds of the launcher."""

    control: socket.socket
    home: str
    namespaced: bool


class LauncherProcess(LocalProcess):
    """A tree below the launcher, which hears through the control socket and kills what is below it when that closes."""

    def __init__(
        self,
        pid: int,
        streams: Streams,
        policy: Policy,
        guarantees: Guarantees,
        *,
        cgroup: Cgroup | None,
        kept: "_Kept",
    ) -> None:
        self._control, self._home, self._namespaced = kept.control, kept.home, kept.namespaced
        self._control_lock = Lock()
        """Any thread has it killed, the watcher's closes the socket: its number may be another's then."""
        super().__init__(pid, streams, policy.limits, guarantees, cgroup)

    def _root(self) -> int | None:
        """In a namespace: its first process, which is ours as well."""
        return next((pid for pid in below(self.pid) if pid != self.pid), None) if self._namespaced else self.pid

    def _signal(self) -> None:
        if self.cgroup is not None:
            self.cgroup.kill()
        with self._control_lock, contextlib.suppress(OSError):  # it has ended
            if self._control.fileno() >= 0:
                self._control.send(b"k", socket.MSG_DONTWAIT)
        self._go_on()

    def _report(self) -> bytes:
        report = b""
        # It has ended, and its report is here. There may be no end of it: a child that it was starting has it, too.
        with contextlib.suppress(OSError):  # it left without reading our last word, or there is no more
            while some := self._control.recv(4096, socket.MSG_DONTWAIT):
                report += some
        return report

    def _exit_code(self, code: int) -> int:
        report, _, failure = self._report().partition(b"\n")
        with self._control_lock:
            self._control.close()
        if not report:  # the launcher was killed: what it kept is killed with it, and what it was starting here
            end_orphans()
            remove_tree(self._home)
            return code if code < 0 else -9
        ended, cpu, read, written, reached = report.split(b" ")
        self._limit = self._limit or reached.decode() or None
        self._seen = self._seen.joined(TreeSample(float(cpu), 0, 0, int(read) * 512, int(written) * 512))
        if failure:
            self._reason = failure.decode("utf8", "replace")
        return int(ended)


def launch(
    argv: Sequence[str],
    policy: Policy,
    guarantees: Guarantees,
    *,
    limits: Iterable[Rlimit],
    restrictions: Callable[[str], Iterable[Step]],
    streams: Streams,
    channel: int | None,
    pins: Iterable[int] = (),
    watched: bool = True,
    namespace: str = "",
) -> LauncherProcess:
    """Start the launcher; `restrictions` are the steps, given the home folder, that come last before the command.

    The launcher has the home as `HOME` and `pins` as the descriptors from `FIRST_PIN` on; the command has neither.
    `watched`: it measures the home, and ends everything when there is more in it than there may be. `namespace`: the
    command is in a PID namespace, made as `root` or in a `user` namespace.
    """
    with ExitStack() as undo, _made_home() as (home, held):
        undo.callback(streams.close)
        undo.callback(streams.release)
        cgroup = make_cgroup(policy.limits)
        if cgroup is not None:
            undo.callback(cgroup.remove)
        steps: list[Step] = [] if channel is not None else [("close", 3)]
        steps += [("cgroup", path) for path in (cgroup.entries if cgroup is not None else ())]
        steps += [("rlimit", *limit) for limit in limits]
        steps += [*_command(argv, policy, home), *restrictions(home), ("execute",)]
        given = {**streams.descriptors, **({} if channel is None else {3: channel}), HOME: held}
        held_pins = dict(enumerate(pins, FIRST_PIN))
        most = (policy.limits.disk or 0) if watched else 0
        hostile = "hostile" if guarantees.boundary else ""
        arguments = [home, str(most), str(len(held_pins)), hostile, namespace]
        pid, control = _spawn(steps, given | held_pins, arguments)
        undo.pop_all()
    streams.release()
    kept = _Kept(control, home, namespaced=bool(namespace))
    return LauncherProcess(pid, streams, policy, guarantees, cgroup=cgroup, kept=kept)


def sized_home(home: str, most: int, user: int, group: int) -> list[Step]:
    """The steps that put a home of `most` bytes, in memory, over the empty one; in mounts of the command's own."""
    return [("hold", home, HOME), ("home", home, most, most // PAGE_BYTES + FEW_FILES, user, group)]


def _spawn(steps: Iterable[Step], descriptors: dict[int, int], arguments: Sequence[str]) -> tuple[int, socket.socket]:
    """Start the launcher with its steps; its pid, and our end of the control socket."""
    ours, theirs = socket.socketpair()
    with theirs, tempfile.TemporaryFile() as file, open(os.devnull, "rb") as nothing:
        file.write("".join([f"{part}\0" for step in steps for part in step]).encode("utf8", "surrogateescape"))
        file.seek(0)
        command = [interpreter(), "-I", "-S", "-c", LAUNCH, str(Path(__file__).parent), *arguments]
        given = {3: nothing.fileno(), **descriptors, 4: file.fileno(), 5: theirs.fileno()}
        try:
            return spawn(command, {}, given), ours
        except BaseException:
            ours.close()
            raise


def interpreter() -> str:
    """The interpreter itself: not the virtual environment's link to it, nor a shim."""
    found = getattr(sys, "_base_executable", None) or sys.executable
    if not found:
        raise SandboxUnavailable("sandbox: expected to know the interpreter, got an empty sys.executable")
    return os.path.realpath(found)


@contextlib.contextmanager
def _made_home() -> Generator[tuple[str, int], None, None]:
    """An empty folder for one run, under a name that cannot be guessed, and a descriptor of it until it is handed over.

    Where that fails it is removed again.
    """
    home = os.path.realpath(private_folder("home"))
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield home, descriptor
    except BaseException:
        os.rmdir(home)
        raise
    finally:
        os.close(descriptor)


def _command(argv: Sequence[str], policy: Policy, home: str) -> list[Step]:
    """Folder, variables and words."""
    steps: list[Step] = [("folder", policy.folder or home)]
    direct = msgspec.structs.replace(policy, network="none")  # there is no proxy to tell of
    steps += [("variable", name, value) for name, value in variables(direct, home).items()]
    return [*steps, *[("word", word) for word in argv]]


def variables(policy: Policy, home: str, temporary: str | None = None) -> dict[str, str]:
    """All that is in the environment."""
    own = {"PATH": PATH, "HOME": home, "TMPDIR": temporary or home, "LANG": "C.UTF-8"}
    return {**own, **(proxy_variables() if policy.hosts else {}), **policy.environment}
