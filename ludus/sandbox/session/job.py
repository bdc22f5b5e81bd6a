"""`Job`: a command in the background of a session."""

from collections.abc import Callable

from ludus.sandbox.session.link import Gathered
from ludus.sandbox.session.result import JobStatus

__all__ = ["Job"]


class Job:
    """A command that `Session.start` began, or that a command left behind. It goes on while others run.

    >>> from ludus.sandbox import Sandbox
    >>> with Sandbox().open_session() as session:
    ...     job = session.start("echo working; sleep 60")
    ...     job.kill().code
    137
    """

    def __init__(self, number: int, command: str, ask: Callable[..., tuple[JobStatus, ...]]) -> None:
        self.number, self.command = number, command
        self._ask = ask

    def poll(self) -> JobStatus:
        """How it stands."""
        return self._one("jobs")

    def wait(self, timeout: float | None = None) -> JobStatus:
        """Wait until all of it has ended, or `timeout` seconds have passed, and say how it stands."""
        return self._one("wait", timeout=timeout)

    def kill(self) -> JobStatus:
        """Kill it with all that it started, and wait until that is gone."""
        return self._one("kill")

    def tail(self, size: int = 4096, *, stderr: bool = False) -> bytes:
        """The last bytes of its output so far."""
        gathered = Gathered(size)
        self._ask("tail", output=gathered, job=self.number, stream=2 if stderr else 1, size=size)
        return gathered.stream(2 if stderr else 1)

    def _one(self, do: str, **fields: float | None) -> JobStatus:
        return self._ask(do, job=self.number, **fields)[0]

    def __repr__(self) -> str:
        return f"Job({self.number}, {self.command!r})"
