"""`WorkerOptions`: how worker processes are started and what is done when they fail, checked before there are any."""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Protocol, cast

from ludus.core import AutoresetMode, EpisodePlan
from ludus.vector.checks import OnFailure, check_failures

__all__ = ["WorkerOptions"]


class _Starter(Protocol):
    def Process(  # noqa: N802  (the library's)
        self, *, target: Callable[..., object], args: tuple[object, ...], name: str
    ) -> BaseProcess: ...


@dataclass(frozen=True)
class WorkerOptions:
    """What all workers of a batch have in common.

    >>> given = {"context": "spawn", "timeout": 1.0, "on_failure": "raise", "max_restarts": 0}
    >>> WorkerOptions(AutoresetMode.NEXT_STEP, None, **given).forks
    False
    """

    mode: AutoresetMode
    plan: EpisodePlan | None
    context: str
    """How processes are started, in the words of `multiprocessing`."""
    timeout: float | None
    """For how many seconds a worker may make no progress."""
    on_failure: OnFailure
    max_restarts: int

    def __post_init__(self) -> None:
        check_failures(self.context, self.timeout, self.on_failure, self.max_restarts)

    @property
    def forks(self) -> bool:
        """Whether workers have what this process has, so that nothing need be sent to them."""
        return self.context == "fork"

    def process(self, *, target: Callable[..., object], args: tuple[object, ...], name: str) -> BaseProcess:
        """A process, not yet started."""
        starter = cast(_Starter, get_context(self.context))  # every context has it, whose base says nothing of it
        return starter.Process(target=target, args=args, name=name)
