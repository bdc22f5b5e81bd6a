"""`ProcessLink`: the link to an environment in a sandboxed process, which may end, or say nonsense, at any time."""

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

from ludus.core.progress import current_progress
from ludus.errors import (
    ChannelError,
    ClosedEnvironment,
    CodecError,
    ContractViolation,
    LudusError,
    ResetNeeded,
    SnapshotError,
)
from ludus.remote.link import Link, LinkEnded
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.channel import ChannelClosed, DeadlinePassed
from ludus.sandbox.environment.env_process import EnvProcess
from ludus.sandbox.environment.process_exit import ProcessExit
from ludus.sandbox.environment.reports import reported
from ludus.spaces.kinds import class_of
from ludus.wire.failures import clean, read_failure
from ludus.wire.messages import (
    PROTOCOL,
    AutoresetRequest,
    BatchResetRequest,
    BatchStepRequest,
    CloseRequest,
    DoneReply,
    ExportRequest,
    FailedReply,
    ImportRequest,
    MakeReply,
    MakeRequest,
    ResetRequest,
    StepRequest,
    ValueReply,
)

__all__ = ["RESERVED", "ProcessEnded", "ProcessLink", "release"]

ReplyT = TypeVar("ReplyT")
RESERVED = "sandbox"
"""The key of `info` under which this side tells why an episode was cut: nobody else may."""


class ProcessEnded(LinkEnded):
    """The process ended in the middle of a request."""

    def __init__(self, ending: ProcessExit) -> None:
        super().__init__(ending.reason, {RESERVED: ending.info})
        self.ending = ending

    def error(self, call: str, advice: str = "; reset() starts it anew") -> LudusError:
        """For a call that has no episode to cut short."""
        return self.ending.error(call, advice)


class ProcessLink:
    """Starts a process by `launch`, has it make what `request` says, and starts another one after its end.

    Where this object is forgotten without `close`, its process is killed all the same.
    """

    def __init__(self, launch: Callable[[], EnvProcess], request: MakeRequest, deadlines: Deadlines) -> None:
        self.launch, self.request, self.deadlines = launch, request, deadlines
        self.name = clean(request.target, 80) if not request.is_spec else "the environment"
        self.env_process: EnvProcess | None = None
        self.last: EnvProcess | None = None
        """The one that ended last: what it used is still asked for."""
        self.ending: ProcessExit | None = None
        self.closed = False
        self.starts = 0
        self.made: MakeReply | None = None
        self._dropped: list[int] = []
        self._gone: ChannelClosed | DeadlinePassed | None = None
        self._held: list[EnvProcess] = []
        weakref.finalize(self, release, self._held, os.getpid())
        self._seconds: dict[type, float | None] = {
            StepRequest: deadlines.step,
            BatchStepRequest: deadlines.step,
            ResetRequest: deadlines.reset,
            BatchResetRequest: deadlines.reset,
            AutoresetRequest: deadlines.reset,
            MakeRequest: deadlines.start,
            CloseRequest: deadlines.close,
        }
        self._step_seconds = deadlines.step

    # --- start and end ---

    @property
    def alive(self) -> bool:
        """Whether there is a process."""
        return self.env_process is not None

    @property
    def process(self) -> EnvProcess:
        """The process, or the one that was."""
        found = self.env_process or self.last
        if found is None:
            raise self._absent()
        return found

    def open(self) -> MakeReply:
        """Start a process, and have the environment made."""
        self.start()
        return self.handshake()

    def reopen(self) -> dict[str, object]:
        """Start another process."""
        if self.closed:
            raise self._absent()
        self.open()
        return {"_restarted": True}

    def start(self) -> None:
        """Start a process and tell it what to make, without waiting for it."""
        self.env_process = self.launch()
        self._held[:] = [self.env_process]
        self.starts += 1
        self._dropped.clear()
        self.ending = None
        self.post(self.request)

    def handshake(self) -> MakeReply:
        """What was made: from a process after the first, the same spaces."""
        try:
            made = self.collect(MakeReply)
        except ProcessEnded as ended:
            raise ended.error(f"{self.name}, starting", "") from None
        except BaseException:
            self.abandon()
            raise
        if made.protocol != PROTOCOL:
            self.abandon()
            raise ChannelError(f"channel: expected protocol {PROTOCOL}, got {made.protocol}")
        before, self.made = self.made, made
        if before is not None and (before.observation_space, before.action_space) != (
            made.observation_space,
            made.action_space,
        ):
            self.abandon()
            raise ContractViolation(
                f"{self.name}: expected the spaces that it had before it was started anew, got others"
            )
        self.name = clean(made.name, 80)
        return made

    def abandon(self) -> None:
        """Kill the process: what it says next would be taken for something else."""
        if self.env_process is not None:
            self._finish(self.env_process.end("channel"))

    def interrupt(self) -> None:
        """Kill the process, from whichever thread: a call that waits for its answer ends with it."""
        env_process = self.env_process
        if env_process is not None:
            env_process.kill()

    def _finish(self, ending: ProcessExit) -> ProcessExit:
        self.last, self.env_process, self.ending = self.env_process, None, ending
        self._held.clear()
        return ending

    def close(self) -> None:
        """Have the environment closed, within its deadline, and end the process; what its `close` raises is raised."""
        if self.closed:
            return
        self.closed = True
        env_process = self.env_process
        if env_process is None:
            return
        try:
            self.ask(CloseRequest(), DoneReply)
        except (ProcessEnded, ChannelError):
            pass  # it is gone, which is what was asked for
        finally:
            self.last, self.env_process = env_process, None
            self._held.clear()
            env_process.close()

    # --- questions ---

    def ask(self, request: object, kind: type[ReplyT]) -> ReplyT:
        """The reply to a request. ProcessEnded where there is none; the error that the other side raised."""
        env_process = self.env_process
        if env_process is None:
            raise self._absent()
        request_type, progress = class_of(request), None
        if request_type is StepRequest:
            seconds, progress = self._step_seconds, current_progress()
        else:
            seconds = self._seconds.get(request_type, self.deadlines.other)
            if request_type is ResetRequest:  # now and then, so that the end of what it wrote can be reported
                env_process.drain()
        try:
            if progress is None or not isinstance(request, StepRequest):
                reply = env_process.channel.exchange(request, seconds)
            else:
                reply = reported(env_process.channel, request, seconds, progress)
        except (ChannelClosed, DeadlinePassed) as gone:
            raise self._ended(env_process, gone) from None
        except CodecError:  # of the request, which was not sent
            raise
        except BaseException:
            self.abandon()
            raise
        if type(reply) is kind:
            return reply
        raise self._unexpected(reply, kind)

    def post(self, request: object) -> None:
        """Send a request whose reply is collected later."""
        env_process = self.env_process
        if env_process is None:
            raise self._absent()
        self._gone = None
        if type(request) is BatchResetRequest:
            env_process.drain()
        try:
            env_process.channel.post(request, self._seconds.get(type(request), self.deadlines.other))
        except (ChannelClosed, DeadlinePassed) as gone:
            self._gone = gone  # raised when the reply is collected
        except CodecError:
            raise
        except BaseException:
            self.abandon()
            raise

    def collect(self, kind: type[ReplyT]) -> ReplyT:
        """The reply to what was posted."""
        env_process = self.env_process
        if env_process is None:
            raise self._absent()
        try:
            if self._gone is not None:
                raise self._gone
            reply = env_process.channel.collect()
        except (ChannelClosed, DeadlinePassed) as gone:
            raise self._ended(env_process, gone) from None
        except BaseException:
            self.abandon()
            raise
        if type(reply) is kind:
            return reply
        raise self._unexpected(reply, kind)

    def _absent(self) -> LudusError:
        if self.closed:
            return ClosedEnvironment(f"{self.name}: expected an open environment, got a closed one; make a new one")
        why = "it was not started" if self.ending is None else self.ending.reason
        return ResetNeeded(f"{self.name}: expected reset() first, since {why}; reset() starts it anew")

    def _ended(self, env_process: EnvProcess, gone: BaseException) -> ProcessEnded:
        limit = "deadline" if isinstance(gone, DeadlinePassed) else None
        return ProcessEnded(self._finish(env_process.end(limit)))

    def _unexpected(self, reply: object, kind: type) -> LudusError:
        if type(reply) is FailedReply:
            return read_failure(reply, self.name, "in the sandboxed process", sandboxed=True)
        self.abandon()
        return ChannelError(f"channel: expected a {kind.__name__}, got a {type(reply).__name__}")

    # --- snapshots ---

    def forget(self, number: int) -> None:
        """A snapshot that nobody holds any more."""
        self._dropped.append(number)

    def dropped(self) -> list[int]:
        """Those to be forgotten there with the next one that is taken."""
        found, self._dropped = self._dropped, []
        return found

    def identity(self) -> object:
        """The process, which keeps its snapshots."""
        return None if self.env_process is None else self.starts

    def export(self, number: int = 0, lanes: list[int] | None = None) -> bytes:
        """A snapshot (0: of now) as bytes that only a process sandboxed alike may open; of a batch, of these lanes."""
        try:
            state = self.ask(ExportRequest(number, lanes), ValueReply).value
        except ProcessEnded as ended:
            raise ended.error(f"{self.name}.export") from None
        if type(state) is not bytes:
            self.abandon()
            raise ChannelError(f"channel: expected a state as bytes, got a {type(state).__name__}")
        return state

    def take(self, states: list[bytes]) -> None:
        """Go on from what other processes exported; this one opens it, not we. Of several, each is a lane."""
        try:
            self.ask(ImportRequest(states), DoneReply)
        except ProcessEnded as ended:
            raise ended.error(f"{self.name}.restore") from None

    def move(self, source: Link | None, number: int) -> None:
        """Go on from a snapshot of another process."""
        if not isinstance(source, ProcessLink) or not source.alive:
            raise SnapshotError(
                f"restore: expected a snapshot of {self.name} whose process is there, got one whose process is gone: "
                "the state of a sandboxed environment stays with its process"
            )
        state = source.export(number)
        if not self.alive:
            self.reopen()
        self.take([state])


def release(held: list[EnvProcess], owner: int) -> None:
    """End the processes of an object that is forgotten; not in a fork, whose parent still uses them."""
    while held and os.getpid() == owner:
        held.pop().close()
