"""Executors as values: where the lanes of a batch run, with the options of that place and no others.

`make_vec(id, 64, executor=Process(workers=4))`; a name, as in `executor="process"`, is the value without options.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from ludus.core import AutoresetMode, EpisodePlan
from ludus.errors import InvalidArgument, did_you_mean, listing, shorten
from ludus.vector.checks import MAX_RESTARTS, TIMEOUT_SECONDS, OnFailure, check_failures, count

if TYPE_CHECKING:
    from ludus.vector.lane import Maker
    from ludus.vector.lanes import LaneVectorEnv

__all__ = ["EXECUTORS", "Executor", "Kernel", "Process", "Serial", "Thread", "executor_of"]


class Options:
    """What executors have in common: they show the options that were chosen."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        chosen = [(one.name, getattr(self, one.name), one.default) for one in fields(self)]  # pyright: ignore[reportArgumentType]
        shown = [f"{name}={value!r}" for name, value, default in chosen if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Serial(Options):
    """Lanes one after another, in this process.

    >>> Serial(copy=False), Serial()
    (Serial(copy=False), Serial())
    """

    name: ClassVar[str] = "serial"
    copy: bool = True
    """Whether each step gives arrays of its own, rather than buffers that the next step writes to."""

    def __post_init__(self) -> None:
        _check_flag("Serial.copy", self.copy)

    def batch(
        self, makers: "Sequence[Maker]", autoreset_mode: AutoresetMode | str, episodes: EpisodePlan | None
    ) -> "LaneVectorEnv":
        """The lanes that `makers` make, as a batch."""
        from ludus.vector.serial import SerialVectorEnv  # as the others: a value does not load what it names

        return SerialVectorEnv(makers, autoreset_mode=autoreset_mode, copy=self.copy, episodes=episodes)


@dataclass(frozen=True, kw_only=True, repr=False)
class Thread(Options):
    """Lanes in threads of this process, for engines that release the interpreter's lock.

    >>> Thread(threads=2).threads
    2
    """

    name: ClassVar[str] = "thread"
    threads: int | None = None
    """None: as many as there are cores."""
    copy: bool = True

    def __post_init__(self) -> None:
        _set_count(self, "threads")
        _check_flag("Thread.copy", self.copy)

    def batch(
        self, makers: "Sequence[Maker]", autoreset_mode: AutoresetMode | str, episodes: EpisodePlan | None
    ) -> "LaneVectorEnv":
        """The lanes that `makers` make, as a batch."""
        from ludus.vector.thread import ThreadVectorEnv  # loaded when it is asked for

        return ThreadVectorEnv(
            makers, autoreset_mode=autoreset_mode, num_threads=self.threads, copy=self.copy, episodes=episodes
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Process(Options):
    """Lanes in worker processes, several in each; behind isolation, `workers` is how many sandboxed processes.

    >>> Process(workers=4, timeout=9).workers
    4
    """

    name: ClassVar[str] = "process"
    workers: int | None = None
    """None: as many as there are cores."""
    timeout: float | None = TIMEOUT_SECONDS
    """For how many seconds a worker may make no progress; None: for ever."""
    batch_size: int | None = None
    """How many lanes `recv` waits for; None: all."""
    context: str | None = None
    """How processes are started, in the words of `multiprocessing`; None: by fork."""
    copy: bool = True
    max_restarts: int = MAX_RESTARTS
    on_failure: OnFailure = "raise"
    """`"restart"`: lanes that are lost are made anew, and their episodes end as truncated."""

    def __post_init__(self) -> None:
        _set_count(self, "workers")
        _set_count(self, "batch_size")
        _check_flag("Process.copy", self.copy)
        check_failures(self.context, self.timeout, self.on_failure, self.max_restarts, "Process.")

    def batch(
        self, makers: "Sequence[Maker]", autoreset_mode: AutoresetMode | str, episodes: EpisodePlan | None
    ) -> "LaneVectorEnv":
        """The lanes that `makers` make, as a batch."""
        from ludus.vector.process import ProcessVectorEnv  # loaded when asked for: it takes multiprocessing with it

        return ProcessVectorEnv(
            makers,
            autoreset_mode=autoreset_mode,
            num_workers=self.workers,
            batch_size=self.batch_size,
            context=self.context,
            timeout=self.timeout,
            on_failure=self.on_failure,
            max_restarts=self.max_restarts,
            copy=self.copy,
            episodes=episodes,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Kernel(Options):
    """Lanes in one loop of machine code, for environments made of rules.

    >>> Kernel(statistics=True).threads is None
    True
    """

    name: ClassVar[str] = "kernel"
    threads: int | None = None
    """The most to use: a step is split only where that is measured to be quicker. None: as many as there are cores."""
    statistics: bool = False
    """Whether the info of an episode's last step has its return and length."""
    checks: bool = False
    """Whether integers are checked to fit 64 bits, and the arrays they are written to."""

    def __post_init__(self) -> None:
        _set_count(self, "threads")
        _check_flag("Kernel.checks", self.checks)
        _check_flag("Kernel.statistics", self.statistics)


Executor = Serial | Thread | Process | Kernel
EXECUTORS: dict[str, type[Serial] | type[Thread] | type[Process] | type[Kernel]] = {
    one.name: one for one in (Serial, Thread, Process, Kernel)
}
GYMNASIUM = {"sync": "serial", "async": "process", "vector_entry_point": "kernel"}
"""What Gymnasium calls them."""


def executor_of(given: object) -> Executor | None:
    """The executor that a name or a value means; None is left to the caller.

    >>> executor_of("thread")
    Thread()
    """
    if given is None or isinstance(given, Executor):
        return given
    if isinstance(given, str) and given in EXECUTORS:
        return EXECUTORS[given]()
    expected = f"executor: expected one of {listing(EXECUTORS)}, or a value as Process(workers=4)"
    hint = ""
    if isinstance(given, str):
        meant = GYMNASIUM.get(given)
        hint = did_you_mean(given, list(EXECUTORS)) if meant is None else f"; here it is {meant!r}"
    elif isinstance(given, type) and given in EXECUTORS.values():
        hint = f"; call it: {given.__name__}()"
    raise InvalidArgument(f"{expected}, got {shorten(given)}{hint}")


def _set_count(value: object, name: str) -> None:
    """Check a number of a frozen value, and keep it as Python's own: NumPy's would not travel to every worker."""
    found = getattr(value, name)
    if found is not None:
        object.__setattr__(value, name, count(f"{type(value).__name__}.{name}", found))


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name}: expected True or False, got {shorten(value)}")
