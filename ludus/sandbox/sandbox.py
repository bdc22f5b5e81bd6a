"""`Sandbox`: a backend and a policy, as one value."""

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from io import BufferedReader, BufferedWriter
from typing import TYPE_CHECKING, TypeGuard, Unpack

import msgspec

from ludus.errors import InvalidArgument, InvalidType, SandboxError, SandboxUnavailable, listing, shorten
from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess, StreamOptions, Usage
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.policy import Limits, Mount, Policy

if TYPE_CHECKING:
    from ludus.sandbox.session import ShellSession, ShellSessionOptions

__all__ = ["SandboxResult", "Sandbox", "backend", "backends", "default_backend", "probe"]

KNOWN = ("bubblewrap", "landlock", "podman", "docker", "gvisor", "process")
CONTAINERS = 100
CHUNK_BYTES = 65536
PIPE = -1
"""As in `subprocess`, which takes milliseconds to import, and a sandboxed child comes through here too."""


class SandboxResult(msgspec.Struct, frozen=True, kw_only=True):
    r"""How a sandboxed run ended.

    >>> done = Sandbox().run(["/bin/sh", "-c", "echo no >&2; exit 1"])
    >>> done.code, done.stderr
    (1, b'no\n')
    """

    code: int
    """The exit code; negative for the signal that ended it."""
    stdout: bytes
    stderr: bytes
    dropped: int = 0
    """Bytes of output beyond the limit, which were read and dropped."""
    usage: Usage
    guarantees: Guarantees


@cache
def backend(name: str) -> Backend:
    """The backend of that name, whether or not it works here.

    >>> backend("bubblewrap").boundary
    True
    """
    if name not in KNOWN:
        raise InvalidArgument(f"sandbox backend: expected one of {listing(KNOWN)}, got {shorten(name)}")
    return _class_of(name)()


def _class_of(name: str) -> type[Backend]:
    """The class of a backend, which is loaded when it is asked for."""
    match name:
        case "bubblewrap":
            from ludus.sandbox.bubblewrap import Bubblewrap  # as all of them: when it is asked for

            return Bubblewrap
        case "landlock":
            from ludus.sandbox.landlock import Landlock  # as above

            return Landlock
        case "podman":
            from ludus.sandbox.containers import Podman  # as above

            return Podman
        case "docker":
            from ludus.sandbox.containers import Docker  # as above

            return Docker
        case "gvisor":
            from ludus.sandbox.containers import Gvisor  # as above

            return Gvisor
        case _:
            from ludus.sandbox.process import ProcessBackend  # as above

            return ProcessBackend


def backends() -> tuple[str, ...]:
    """The names of all backends.

    >>> "landlock" in backends()
    True
    """
    return KNOWN


def probe() -> dict[str, Probe]:
    """Every backend with whether it really starts something here."""
    return {name: backend(name).probe() for name in KNOWN}


def default_backend() -> Backend:
    """The strongest boundary that starts below containers; never one that is no boundary.

    >>> default_backend().boundary
    True
    """
    tried: list[str] = []
    for one in sorted((backend(name) for name in KNOWN), key=lambda known: -known.rank):
        if one.boundary and one.rank < CONTAINERS:
            found = one.probe()
            if found.works:
                return one
            tried.append(f"{one.name}: {found.detail}")
    raise SandboxUnavailable(f"sandbox: expected a backend that starts here, got none ({'; '.join(tried)})")


class Sandbox:
    r"""A backend and a policy: what `make(isolation=…)` takes, and what runs commands.

    The default backend is the strongest that starts here below containers; a weaker one is never taken silently. A
    backend may also be given as a value, as in `Sandbox(Podman(image="mine"))`. `deadlines` are those of an environment
    in it; a number is the seconds for a step. An environment lives as long as it is used, so that `Limits.wall` is its
    own only where limits are given.

    >>> box = Sandbox(limits=Limits(wall=10))
    >>> box.run(["/bin/echo", "hello"]).stdout
    b'hello\n'
    """

    def __init__(
        self,
        backend: str | Backend | None = None,
        *,
        limits: Limits | None = None,
        mounts: Sequence[Mount] = (),
        network: str | Sequence[str] = "none",
        environment: dict[str, str] | None = None,
        folder: str | None = None,
        deadlines: Deadlines | float | None = None,
    ) -> None:
        self.policy = Policy(
            limits=Limits() if limits is None else limits,
            mounts=tuple(mounts),
            network=network if isinstance(network, str) else tuple(network),
            environment=dict(environment or {}),
            folder=folder,
        )
        self.deadlines = Deadlines.of(deadlines)
        self._limited = limits is not None
        self.backend = _working(backend)

    def with_deadlines(self, deadlines: Deadlines | float | None) -> "Sandbox":
        """The same sandbox with other deadlines; the backend is not probed again."""
        return self._with(self.policy, Deadlines.of(deadlines))

    def as_user(self, user: int) -> "Sandbox":
        """The same sandbox whose code is another user than other numbers' (see `Policy.user`), where root starts it.

        >>> Sandbox("process").as_user(1).policy.user
        1
        """
        return self._with(msgspec.structs.replace(self.policy, user=user), self.deadlines)

    def with_limits(self, limits: Limits) -> "Sandbox":
        """The same sandbox with other limits, `Limits.wall` among them; the backend is not probed again.

        >>> Sandbox("process").with_limits(Limits(memory=None)).policy.limits.memory is None
        True
        """
        new = self._with(msgspec.structs.replace(self.policy, limits=limits), self.deadlines)
        new._limited = True
        return new

    def with_mounts(self, mounts: Sequence[Mount]) -> "Sandbox":
        """The same sandbox with more to see; what is mounted at a place already stays there.

        >>> Sandbox("process").with_mounts([Mount("/opt")]).policy.mounts[-1].where
        '/opt'
        """
        there = {one.where for one in self.policy.mounts}
        more = tuple(one for one in mounts if one.where not in there)
        return self._with(msgspec.structs.replace(self.policy, mounts=(*self.policy.mounts, *more)), self.deadlines)

    def with_environment(self, variables: Mapping[str, str]) -> "Sandbox":
        """The same sandbox with more variables.

        >>> Sandbox("process").with_environment({"GAME": "chess"}).policy.environment
        {'GAME': 'chess'}
        """
        environment = {**self.policy.environment, **variables}
        return self._with(msgspec.structs.replace(self.policy, environment=environment), self.deadlines)

    def lasting(self) -> "Sandbox":
        """The same sandbox for what lives as long as it is used: without `Limits.wall`, unless limits were given.

        >>> Sandbox("process").lasting().policy.limits.wall is None
        True
        """
        if self._limited or self.policy.limits.wall is None:
            return self
        limits = msgspec.structs.replace(self.policy.limits, wall=None)
        return self._with(msgspec.structs.replace(self.policy, limits=limits), self.deadlines)

    def _with(self, policy: Policy, deadlines: Deadlines) -> "Sandbox":
        new = copy(self)
        new.policy, new.deadlines = policy, deadlines
        return new

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for whatever it runs."""
        return self.backend.guarantees(self.policy)

    def start(self, argv: Sequence[str], **streams: Unpack[StreamOptions]) -> SandboxedProcess:
        """Start a command; see `Backend.start` for the streams."""
        return self.backend.start(_checked(argv), self.policy, **streams)

    def run(self, argv: Sequence[str], *, input: bytes = b"") -> SandboxResult:
        """Run a command to its end, or to the first limit."""
        with self.start(argv, stdin=PIPE if input else None, stdout=PIPE, stderr=PIPE) as process:
            keep = self.policy.limits.output
            readers = [_Reader(process.stdout, keep), _Reader(process.stderr, keep)]
            if input:
                _feed(process.stdin, input)
            try:
                code = process.wait()
            except SandboxError as error:
                readers[1].join()
                raise SandboxError(f"{error}: {shorten(bytes(readers[1].kept), 500)}") from error
            process.kill()  # what it left behind would hold the pipes
            for reader in readers:
                reader.join()
            return SandboxResult(
                code=-9 if code is None else code,
                stdout=bytes(readers[0].kept),
                stderr=bytes(readers[1].kept),
                dropped=sum(reader.dropped for reader in readers),
                usage=process.usage(),
                guarantees=process.guarantees,
            )

    def open_session(self, **options: "Unpack[ShellSessionOptions]") -> "ShellSession":
        """A shell that lives in this sandbox, within its limits (`wall` among them); see `ShellSession`."""
        from ludus.sandbox.session import ShellSession  # here: most sandboxes never hold a shell; a child comes by too

        return ShellSession(self, **options)

    def __repr__(self) -> str:
        return f"Sandbox({self.backend.name!r}, {self.policy!r})"


def _working(chosen: str | Backend | None) -> Backend:
    if chosen is None:
        return default_backend()
    found = chosen if isinstance(chosen, Backend) else backend(chosen)
    state = found.probe()
    if not state.works:
        raise SandboxUnavailable(f"sandbox: expected the backend {found.name!r} to start here, got {state.detail}")
    return found


def _checked(argv: object) -> list[str]:
    if not _is_list(argv) or not argv:
        raise InvalidType(f"argv: expected a list of a program and its arguments, got {shorten(argv)}")
    if not _is_text(argv):
        raise InvalidType(f"argv: expected text without null characters, got {shorten(argv)}")
    return list(argv)


def _is_list(argv: object) -> TypeGuard[Sequence[object]]:
    return isinstance(argv, Sequence) and not isinstance(argv, str)


def _is_text(arguments: Sequence[object]) -> TypeGuard[Sequence[str]]:
    return all(isinstance(one, str) and "\0" not in one for one in arguments)


def _feed(stream: BufferedWriter, data: bytes) -> None:
    """Write from a thread: sandboxed code need not read."""

    def write() -> None:
        try:
            stream.write(data)
            stream.close()
        except (OSError, ValueError):
            pass  # it closed its end, or we did

    threading.Thread(target=write, daemon=True).start()


class _Reader(threading.Thread):
    """Reads a stream to its end, and keeps the beginning."""

    def __init__(self, stream: BufferedReader, keep: int | None) -> None:
        super().__init__(daemon=True)
        self.stream, self.keep, self.kept, self.dropped = stream, keep, bytearray(), 0
        self.start()

    def run(self) -> None:
        while data := self.stream.read1(CHUNK_BYTES):
            room = len(data) if self.keep is None else max(0, self.keep - len(self.kept))
            self.kept += data[:room]
            self.dropped += len(data) - len(data[:room])
