"""`serve`: environments as a service, until it is stopped, or as long as a handle is held."""

import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Literal, Self, Unpack, overload

import msgspec

from ludus.errors import InvalidArgument, LudusError, ServiceError, did_you_mean, listing
from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.listen_config import ListenOptions
from ludus.server.server import Server
from ludus.server.server_plan import ServerPlan
from ludus.server.spawned_server import spawn_server
from ludus.server.supervisor import WorkerSupervisor
from ludus.server.targets import ServeTarget
from ludus.server.worker import work

__all__ = ["RunningServer", "serve"]

START_DEADLINE_S = 60.0
"""Seconds within which a server is up, or has failed."""
STOP_DEADLINE_S = 30.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)
MAX_SIGNALS = 2
OWN_OPTIONS = ("host", "port", "block", "config", "access")
"""What `serve` takes beside the options of listening."""


class RunningServer:
    """A server that runs in the background, until `close`. It is a context manager.

    >>> with serve("CartPole-v1", port=0, block=False) as running:
    ...     running.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, url: str, stop: Callable[[], None], server: Server | None = None) -> None:
        self.url = url
        """How it is called."""
        self.server = server
        """What its protocols share; None where it runs in other processes."""
        self._stop: Callable[[], None] | None = stop

    def close(self) -> None:
        """Stop it: connections, sessions and processes end. Harmless twice."""
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@overload
def serve(
    *targets: ServeTarget,
    host: str | None = ...,
    port: int | None = ...,
    block: Literal[True] = ...,
    config: ServerConfig | None = ...,
    access: Access | None = ...,
    **options: Unpack[ListenOptions],
) -> None: ...
@overload
def serve(
    *targets: ServeTarget,
    host: str | None = ...,
    port: int | None = ...,
    block: Literal[False],
    config: ServerConfig | None = ...,
    access: Access | None = ...,
    **options: Unpack[ListenOptions],
) -> RunningServer: ...
def serve(
    *targets: ServeTarget,
    host: str | None = None,
    port: int | None = None,
    block: bool = True,
    config: ServerConfig | None = None,
    access: Access | None = None,
    **options: Unpack[ListenOptions],
) -> RunningServer | None:
    """Serve environments: ids, `module:Env`, specs, classes, or folders with a manifest.

    It returns when it is stopped by a signal; with `block=False` at once, with a handle. Port 0 is any that is free.
    `config` has all settings of a server; `access`, `host`, `port` and the options take the place of what it says:
    `unix` (a path for the wire), `hosts` (names it may be called by), `insecure`, `tls_cert`, `tls_key`, `pages`.

    >>> running = serve("CartPole-v1", "GridWorld-v0", port=0, block=False)
    >>> running.close()
    """
    _check_options(options)
    own = config or ServerConfig()
    where = {name: one for name, one in (("host", host), ("port", port)) if one is not None}
    listen = msgspec.structs.replace(own.listen, **where, **options)
    own = msgspec.structs.replace(own, access=access or own.access, listen=listen)
    if block:
        run(ServerPlan(targets, own))
        return None
    if own.workers > 1:
        return RunningServer(*spawn_server(targets, own))
    return _in_background(ServerPlan(targets, own))


def _check_options(options: Mapping[str, object]) -> None:
    known = [*ListenOptions.__annotations__, *OWN_OPTIONS]
    for name in options:
        if name in ListenOptions.__annotations__:
            continue
        if name in ServerConfig.__struct_fields__:
            raise InvalidArgument(f"serve: unknown argument {name!r}; write config=ServerConfig({name}=…)")
        raise InvalidArgument(f"serve: unknown argument {name!r}{did_you_mean(name, known)}; it takes {listing(known)}")


def run(
    plan: ServerPlan,
    ready: Callable[[str], object] = lambda _: None,
    until: int | None = None,
    patience: float | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, in this thread or in workers; `ready` is called with the address once it answers.

    With several workers, the end of the descriptor `until` ends it, too. A program that has not ended `patience`
    seconds after a signal, because an environment holds it up, is ended.
    """
    if plan.config.workers > 1:
        supervisor = WorkerSupervisor(partial(work, plan.engines), plan.session_counts(), plan.config.listen, until)
        with on_signals(supervisor.stop, patience):
            supervisor.run(ready)
        return
    listen = plan.config.listen
    engine, _ = plan.engine(lambda: ready(listen.url(listener)))
    with listen.bind() as listener, on_signals(engine.stop, patience):
        engine.run([listener])


@contextmanager
def on_signals(stop: Callable[[], None], patience: float | None = None) -> Generator[None]:
    """Have SIGINT and SIGTERM stop what runs, where this is the main thread; a third one ends the program at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def heard(number: int, _: object) -> None:
        nonlocal count
        count += 1
        if count > MAX_SIGNALS:
            os._exit(128 + number)
        if count == 1 and patience is not None:
            last = threading.Timer(patience, os._exit, (1,))
            last.daemon = True
            last.start()
        stop()

    before = {number: signal.signal(number, heard) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_background(plan: ServerPlan) -> RunningServer:
    up = threading.Event()
    engine, server = plan.engine(up.set)
    listener = plan.config.listen.bind()
    url = plan.config.listen.url(listener)
    failures: list[BaseException] = []

    def live() -> None:
        try:
            engine.run([listener])
        except BaseException as error:
            failures.append(error)
        finally:
            listener.close()
            up.set()

    thread = threading.Thread(target=live, name="ludus-server", daemon=True)
    thread.start()

    def stop() -> None:
        engine.stop()
        thread.join(STOP_DEADLINE_S)  # an environment may hold it up for ever; nobody waits for it then

    if not up.wait(START_DEADLINE_S) or failures:
        stop()
        if failures and isinstance(failures[0], LudusError):
            raise failures[0]
        raise ServiceError("serve: expected a server that begins, got none") from (failures or [None])[0]
    return RunningServer(url, stop, server)
