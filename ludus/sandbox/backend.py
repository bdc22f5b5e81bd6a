"""The contract of a backend: it starts sandboxed processes, says what it enforces, and kills whole trees."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from io import BufferedReader, BufferedWriter
from typing import Any, TypedDict

import msgspec

from ludus.sandbox.kernel_versions import linux_since
from ludus.sandbox.policy import Policy

__all__ = ["Backend", "SandboxedProcess", "Guarantees", "Probe", "SandboxWarning", "StreamOptions", "Usage"]


class SandboxWarning(UserWarning):
    """Something of a sandbox is weaker here than it is elsewhere; `guarantees` says what is in force.

    >>> issubclass(SandboxWarning, UserWarning)
    True
    """


class Probe(msgspec.Struct, frozen=True):
    """Whether a backend really started something here, and if not, why.

    >>> Probe(True, "bubblewrap 0.8.0").works
    True
    """

    works: bool
    detail: str
    """The version where it works; the reason, and what to install, where it does not."""
    milliseconds: float = 0.0


class Guarantees(msgspec.Struct, frozen=True, kw_only=True):
    """What was in force, as data for the record of a run. Each field names the means; "" is: not enforced.

    >>> Guarantees(backend="process", boundary=False).enforced
    ()
    """

    backend: str
    boundary: bool
    """Whether it is meant to hold against hostile code."""
    version: str = ""
    user: str = ""
    """How it is kept from being the user who started it."""
    files: str = ""
    network: str = ""
    syscalls: str = ""
    other_processes: str = ""
    """How it is kept from seeing and signalling others."""
    memory: str = ""
    processes: str = ""
    cpu: str = ""
    wall: str = ""
    file_size: str = ""
    disk: str = ""
    open_files: str = ""
    output: str = ""
    kill: str = ""
    """How the whole tree is killed."""

    @property
    def enforced(self) -> tuple[str, ...]:
        """The fields that are enforced."""
        known = msgspec.structs.asdict(self)
        return tuple(name for name, means in known.items() if name not in ("backend", "boundary", "version") and means)

    @property
    def since(self) -> dict[str, str]:
        """Since which Linux each field's means is there; "" where this process does it alone.

        >>> Guarantees(backend="bubblewrap", boundary=True, syscalls="seccomp", wall="watcher").since
        {'syscalls': 'Linux 3.5', 'wall': ''}
        """
        return {name: linux_since(getattr(self, name)) for name in self.enforced}


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What sandboxed code has used so far; None where the backend cannot tell.

    >>> Usage(wall=0.2, limit="memory", oom=True).limit
    'memory'
    """

    wall: float = 0.0
    cpu: float | None = None
    peak_memory: int | None = None
    processes: int | None = None
    """The most at once, as far as it was seen."""
    read_bytes: int | None = None
    written_bytes: int | None = None
    waited: float = 0.0
    """Seconds that its threads could have run and had no processor, as far as it was seen."""
    limit: str | None = None
    """The name of the limit (a field of `Limits`) that it was stopped for, or ran into as far as that is known."""
    oom: bool = False


class StreamOptions(TypedDict, total=False):
    """What `Backend.start` takes beside the command and its policy.

    >>> StreamOptions(stdout=-1)
    {'stdout': -1}
    """

    stdin: int | None
    stdout: int | None
    stderr: int | None
    channel: int | None


class SandboxedProcess(ABC):
    """A sandboxed process tree under way.

    `stdin`, `stdout` and `stderr` are binary files of this side, where pipes were asked for. A backend watches limits
    by itself: nobody needs to poll. The end of the command is the end of the tree.

    >>> from ludus.sandbox import Sandbox
    >>> with Sandbox().start(["/bin/sh", "-c", "exit 3"]) as sandboxed:
    ...     sandboxed.wait()
    3
    """

    pid: int
    """Of the outermost process, as the host sees it."""
    stdin: BufferedWriter | Any = None
    stdout: BufferedReader | Any = None
    stderr: BufferedReader | Any = None
    guarantees: Guarantees

    @abstractmethod
    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end: the exit code, negative for a signal; None when `timeout` seconds passed before.

        A command that is not there ends with 127, one that cannot be executed with 126, as in a shell; SandboxError
        where the isolation could not be set up, and it was therefore not executed.
        """

    @abstractmethod
    def kill(self) -> None:
        """Kill the whole tree, daemonised grandchildren included, and wait until it is gone; harmless when it is."""

    @abstractmethod
    def usage(self) -> Usage:
        """What it has used so far, or did use; may be asked during the run and after."""

    @abstractmethod
    def close(self) -> None:
        """Kill what is left and release everything (cgroups, files, threads); harmless twice."""

    def __enter__(self) -> "SandboxedProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Backend(ABC):
    """A way to isolate a process.

    >>> from ludus.sandbox import backend
    >>> backend("process").boundary
    False
    """

    name: str
    boundary: bool = True
    """Whether it is meant to hold against hostile code."""
    rank: int
    """Its strength; the default is the strongest that works below containers (rank 100 and up)."""

    @abstractmethod
    def probe(self) -> Probe:
        """Really start something sandboxed; kept for the life of the process once it works."""

    @abstractmethod
    def guarantees(self, policy: Policy) -> Guarantees:
        """What would be in force for `policy`; SandboxUnavailable where something it asks for cannot be enforced."""

    @abstractmethod
    def start(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        channel: int | None = None,
    ) -> SandboxedProcess:
        """Start `argv` under `policy`.

        The three streams are as in `subprocess` (PIPE, DEVNULL, a descriptor; None is DEVNULL). `channel` is a
        descriptor (one end of a socket pair) that the process gets as descriptor 3; it inherits no other.
        """
