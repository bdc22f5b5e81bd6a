"""`Engine`: what `podman`, `docker` and `gvisor` share: one container for each start, seen to be closed before use."""

import atexit
import os
import sys
import threading
import time
import weakref
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from typing import ClassVar

import msgspec

from ludus.errors import SandboxError, SandboxUnavailable, listing
from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess
from ludus.sandbox.containers.api import Api, EngineError
from ludus.sandbox.containers.container import Container, ControlSocket
from ludus.sandbox.containers.description import (
    LABEL,
    EngineSetup,
    check_places,
    describe,
    keepers,
    own_limits,
    way_out,
    work,
)
from ludus.sandbox.containers.group import Group
from ludus.sandbox.containers.images import host_image, host_mounts
from ludus.sandbox.containers.verification import missing_isolation, missing_limits, missing_rlimits, replaced
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.leftovers import is_dead, is_of_today, sweep_folders
from ludus.sandbox.pins import Pins, pinned
from ludus.sandbox.policy import Limits, Mount, Policy
from ludus.sandbox.proxy import Proxy
from ludus.sandbox.seccomp import namespace_filter
from ludus.sandbox.streams import Streams
from ludus.sandbox.user import drops_user, group_of, user_of

__all__ = ["Engine"]

TRIAL = Policy(limits=Limits(wall=30.0, cpu=30.0))


class Engine(Backend):
    """A container engine behind the Docker API.

    `image` is the name of one that the engine has (nothing is pulled), with `python` in it, 3.9 or later; None is
    this interpreter's own, with its packages mounted.
    """

    means: ClassVar[dict[str, str]] = {
        "user": "another user, without capabilities or new privileges",
        "syscalls": "seccomp, the engine's filter and our own",
        "other_processes": "pid and ipc namespaces",
        "kill": "end of the pid namespace",
    }
    """The parts of the isolation, as the guarantees name them."""
    counting = "pids cgroup"
    native = True
    """Whether the processes inside are processes of the host's kernel."""

    def __init__(self, image: str | None = None, python: str = "python3") -> None:
        self.image, self.python = image, python
        self._lock = threading.RLock()
        self._probe: Probe | None = None
        self._version = ""
        self._lacks: list[str] = []
        self._swept: str | None = None
        self._running: weakref.WeakSet[Container] = weakref.WeakSet()

    @abstractmethod
    def connect(self) -> Api:
        """The engine, started where that is ours to do; SandboxUnavailable says what to install."""

    def close(self) -> None:
        """End all that runs; harmless twice."""
        for container in list(self._running):
            container.close()

    def probe(self) -> Probe:
        with self._lock:
            if self._probe is None or not self._probe.works:
                self._probe = self._try()
            return self._probe

    def guarantees(self, policy: Policy) -> Guarantees:
        found = self.probe()
        if not found.works:
            raise SandboxUnavailable(f"{self.name}: expected an engine that starts containers, got {found.detail}")
        lacking = [name for name in self._lacks if getattr(policy.limits, name) is not None]
        if lacking:
            raise SandboxUnavailable(
                f"{self.name}: expected to enforce limits.{listing(lacking)}, got an engine that cannot here (it makes "
                "no control group); lift them with None, run as root, or take another backend"
            )
        return self._guarantees(policy)

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
        guarantees = self.guarantees(policy)
        check_places(policy)
        with pinned(policy) as pins:
            container = self._open(policy, guarantees, Streams(stdin, stdout, stderr))
            try:
                self._inspect(container, policy, pins)
                container.hand_over(work(argv, policy, self._python()), channel)
            except BaseException:
                container.close()
                raise
        return container

    def _inspect(self, container: Container, policy: Policy, pins: Pins) -> None:
        """Look around in a container before any work is in it."""
        missing = self._missing(container, policy)
        if missing:
            raise SandboxUnavailable(f"{self.name}: expected {listing(missing)}, got a container without")
        other = self._replaced(container, pins)
        if other:
            raise SandboxError(
                f"{self.name}: expected {other[0].source} to be mounted as it was checked, got something else, put in "
                "its place meanwhile"
            )

    def _try(self) -> Probe:
        if sys.platform != "linux":
            return Probe(
                False, f"{self.name}: expected Linux, whose kernel is asked about each restriction, got {sys.platform}"
            )
        begin = time.perf_counter()
        try:
            api = self._api()
            self._version = self._versions(api)
            trial = self._open(TRIAL, self._guarantees(TRIAL), Streams(None, None, None))
            with trial:
                missing = self._missing_isolation(trial)
                self._lacks = self._open_limits(trial, TRIAL)
                trial.hand_over(work([self._python(), "-c", "pass"], TRIAL, ""), None)
                code = trial.wait()
        except (OSError, SandboxError) as error:
            return Probe(False, str(error))
        took = (time.perf_counter() - begin) * 1000
        if missing or code != 0:
            return Probe(False, f"a container without {listing(missing)}" if missing else f"exit code {code}", took)
        without = f", without limits.{listing(self._lacks)}" if self._lacks else ""
        return Probe(True, self._version + without, took)

    def _versions(self, api: Api) -> str:
        return api.version()

    def _api(self) -> Api:
        with self._lock:
            api = self.connect()
            if self._swept != api.path:
                remove_leftovers(api)
                self._swept = api.path
                atexit.register(_close, weakref.ref(self), os.getpid())  # after the service's own: so before it
            return api

    def _image(self, api: Api) -> str:
        if self.image is None:
            return host_image(api)
        if api.image(self.image) is None:
            raise SandboxUnavailable(
                f"{self.name}: expected an image of the engine, got {self.image!r}, which it does not have; load or "
                "build it first, for nothing is pulled"
            )
        return self.image

    def _python(self) -> str:
        """The interpreter in the image."""
        return interpreter() if self.image is None else self.python

    def _place(self, api: Api, policy: Policy) -> EngineSetup:
        return EngineSetup(
            image=self._image(api),
            python=self._python(),
            user=f"{user_of(policy)}:{group_of(policy)}" if drops_user() else f"{os.geteuid()}:{os.getegid()}",
            mounts=host_mounts() if self.image is None else (),
            tasks=self._tasks(policy),
            processes=None,
        )

    def _open(self, policy: Policy, guarantees: Guarantees, streams: Streams) -> Container:
        """A container whose first process waits for its work."""
        with ExitStack() as undo:
            undo.callback(streams.close)
            undo.callback(streams.release)
            api = self._api()
            place = self._place(api, policy)
            proxy = Proxy(policy.hosts) if policy.hosts else None
            if proxy is not None:
                undo.callback(proxy.close)
                place = msgspec.structs.replace(place, mounts=(*place.mounts, *way_out(proxy)))
            with ControlSocket(
                own_limits(policy, place), namespace_filter(network=policy.network != "none")
            ) as control_socket:
                name = self._created(api, describe(policy, place, control=control_socket.folder))
                undo.callback(api.remove, name)
                control = control_socket.answer(api, name)
            undo.callback(control.close)
            pid = int(api.state(name)["Pid"])
            group = Group(pid, name, overhead=keepers(policy), tasks=self.native)
            if place.tasks is not None:
                group.limit_tasks(place.tasks)
            container = Container(
                pid,
                streams,
                policy,
                guarantees,
                connect=self._api,
                container=name,
                control=control,
                group=group,
                proxy=proxy,
            )
            self._running.add(container)
            undo.pop_all()
        return container

    def _created(self, api: Api, description: dict[str, object]) -> str:
        try:
            name = api.create(description)
        except EngineError as error:
            raise SandboxError(f"{self.name}: expected the engine to create a container, got: {error}") from error
        try:
            api.start(name)
        except BaseException as error:
            api.remove(name)
            if isinstance(error, EngineError):
                raise SandboxError(f"{self.name}: expected the container to start, got: {error}") from error
            raise
        return name

    def _missing(self, container: Container, policy: Policy) -> list[str]:
        return [
            *self._missing_isolation(container),
            *(f"limits.{name}" for name in self._open_limits(container, policy)),
        ]

    def _missing_isolation(self, container: Container) -> list[str]:
        return missing_isolation(container.pid, user_of(container.policy) if drops_user() else None)

    def _replaced(self, container: Container, pins: Pins) -> list[Mount]:
        return replaced(container.pid, pins)

    def _open_limits(self, container: Container, policy: Policy) -> list[str]:
        found = missing_limits(container.group, policy.limits, self._tasks(policy))
        return [*found, *missing_rlimits(container.pid, policy.limits)]

    def _tasks(self, policy: Policy) -> int | None:
        """What the control group may count: the work, and those that keep it."""
        return None if policy.limits.processes is None else policy.limits.processes + keepers(policy)

    def _guarantees(self, policy: Policy) -> Guarantees:
        limits = policy.limits
        bounds = {
            "memory": "memory cgroup",
            "processes": self.counting,
            "cpu": "watcher, over the cgroup",
            "wall": "watcher",
            "file_size": "RLIMIT_FSIZE",
            "disk": "sized tmpfs",
            "open_files": "RLIMIT_NOFILE",
            "output": "reader",
        }
        return Guarantees(
            backend=self.name,
            boundary=True,
            version=self._version,
            files=f"image {self.image or 'of this interpreter'}, read-only, in a mount namespace",
            network=_network(policy),
            **self.means,
            **{name: text if getattr(limits, name) is not None else "" for name, text in bounds.items()},
        )


def _network(policy: Policy) -> str:
    way = f"proxy to {', '.join(policy.hosts)}" if policy.hosts else "own loopback"
    return f"network namespace, {way}"


def _close(reference: "weakref.ref[Engine]", process: int) -> None:
    engine = reference()
    if engine is not None and process == os.getpid():  # a fork ends nothing of its parent's
        engine.close()


def remove_leftovers(api: Api) -> None:
    """Remove the containers and folders of processes that were killed before they could."""
    sweep_folders()
    for container, (owner, runs) in api.labelled(LABEL).items():
        if is_dead(owner) or not (runs or is_of_today(owner)):
            api.remove(container)
