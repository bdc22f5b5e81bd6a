"""`Resident`: an environment behind a wall, asked one thing at a time, whose process may end or say nonsense."""

import os
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from ludus.errors import (
    ChannelError,
    ClosedEnvironment,
    CodecError,
    ContractViolation,
    InvalidArgument,
    InvalidValue,
    LudusError,
    ResetNeeded,
    shorten,
)
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.channel import ChannelClosed, DeadlinePassed
from ludus.sandbox.environment.ending import Ending
from ludus.sandbox.environment.failure import clean, failure
from ludus.sandbox.environment.tenant import Tenant
from ludus.spaces import Space
from ludus.wire import decode_value, encode_value, read_space
from ludus.wire.message import PROTOCOL, CloseRequest, DoneReply, FailedReply, MakeReply, MakeRequest

__all__ = ["RESERVED", "Resident", "TenantEnded", "read_info", "read_observation", "release", "travelling"]

ReplyT = TypeVar("ReplyT")
LONGEST_MODE = 100
RESERVED = "sandbox"
"""The key of `info` under which this side tells why an episode was cut: nobody else may."""


class TenantEnded(Exception):
    """The process ended in the middle of a request."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.reason)
        self.ending = ending


class Resident:
    """Starts a tenant by `launch`, has it make what `request` says, and starts another one after its end.

    Where this object is forgotten without `close`, its process is killed all the same.
    """

    def __init__(
        self,
        launch: Callable[[], Tenant],
        request: MakeRequest,
        deadlines: Deadlines,
        known: tuple[type[Space[Any]], ...] = (),
    ) -> None:
        self.launch, self.request, self.deadlines, self.known = launch, request, deadlines, known
        self.name = clean(request.target, 80) if not request.is_spec else "the environment"
        self.tenant: Tenant | None = None
        self.last: Tenant | None = None
        """The one that ended last: what it used is still asked for."""
        self.ending: Ending | None = None
        self.closed = False
        self.starts = 0
        self.dropped: list[int] = []
        """Snapshots that nobody holds any more."""
        self._made: MakeReply | None = None
        self._gone: ChannelClosed | DeadlinePassed | None = None
        self._held: list[Tenant] = []
        weakref.finalize(self, release, self._held, os.getpid())

    # --- start and end ---

    def open(self) -> MakeReply:
        """Start a process, and have the environment made."""
        self.start()
        return self.greet()

    def start(self) -> None:
        """Start a process and tell it what to make, without waiting for it."""
        self.tenant = self.launch()
        self._held[:] = [self.tenant]
        self.starts += 1
        self.dropped.clear()
        self.ending = None
        self.post(self.request, self.deadlines.start)

    def greet(self) -> MakeReply:
        """What was made: from a process after the first, the same spaces."""
        try:
            made = self.collect(MakeReply)
        except TenantEnded as ended:
            raise ended.ending.error(f"{self.name}, starting", "") from None
        except BaseException:
            self.abandon()
            raise
        if made.protocol != PROTOCOL:
            self.abandon()
            raise ChannelError(f"channel: expected protocol {PROTOCOL}, got {made.protocol}")
        before, self._made = self._made, made
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
        if self.tenant is not None:
            self._finish(self.tenant.end("channel"))

    def interrupt(self) -> None:
        """Kill the process, from whichever thread: whoever waits for its answer is told of its end."""
        tenant = self.tenant
        if tenant is not None:
            tenant.kill()

    def _finish(self, ending: Ending) -> Ending:
        self.last, self.tenant, self.ending = self.tenant, None, ending
        self._held.clear()
        return ending

    def close(self) -> None:
        """Have the environment closed, within its deadline, and end the process; what its `close` raises is raised."""
        if self.closed:
            return
        self.closed = True
        tenant = self.tenant
        if tenant is None:
            return
        try:
            self.ask(CloseRequest(), DoneReply, self.deadlines.close)
        except (TenantEnded, ChannelError):
            pass  # it is gone, which is what was asked for
        finally:
            self.last, self.tenant = tenant, None
            self._held.clear()
            tenant.close()

    # --- questions ---

    def ask(self, request: Any, kind: type[ReplyT], seconds: float | None) -> ReplyT:
        """The reply to a request. TenantEnded where there is none; the error that the other side raised."""
        tenant = self.tenant
        if tenant is None:
            raise self._absent()
        try:
            reply = tenant.channel.exchange(request, seconds)
        except (ChannelClosed, DeadlinePassed) as gone:
            raise self._ended(tenant, gone) from None
        except CodecError:  # of the request, which was not sent
            raise
        except BaseException:
            self.abandon()
            raise
        if type(reply) is kind:
            return reply
        raise self._unexpected(reply, kind)

    def post(self, request: Any, seconds: float | None) -> None:
        """Send a request whose reply is collected later."""
        tenant = self.tenant
        if tenant is None:
            raise self._absent()
        self._gone = None
        try:
            tenant.channel.post(request, seconds)
        except (ChannelClosed, DeadlinePassed) as gone:
            self._gone = gone  # told when the reply is collected
        except CodecError:
            raise
        except BaseException:
            self.abandon()
            raise

    def collect(self, kind: type[ReplyT]) -> ReplyT:
        """The reply to what was posted."""
        tenant = self.tenant
        if tenant is None:
            raise self._absent()
        try:
            if self._gone is not None:
                raise self._gone
            reply = tenant.channel.collect()
        except (ChannelClosed, DeadlinePassed) as gone:
            raise self._ended(tenant, gone) from None
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

    def _ended(self, tenant: Tenant, gone: BaseException) -> TenantEnded:
        limit = "deadline" if isinstance(gone, DeadlinePassed) else None
        return TenantEnded(self._finish(tenant.end(limit)))

    def _unexpected(self, reply: Any, kind: type[Any]) -> LudusError:
        if type(reply) is FailedReply:
            return failure(reply, self.name)
        self.abandon()
        return ChannelError(f"channel: expected a {kind.__name__}, got a {type(reply).__name__}")

    def drop(self, number: int, start: int) -> None:
        """Forget a snapshot, with the next one that is taken."""
        if start == self.starts:
            self.dropped.append(number)

    # --- what was made ---

    def space(self, which: str) -> Space[Any]:
        """The observation or action space that the environment announced."""
        try:
            return read_space(getattr(self._made, which), which, known=self.known)
        except CodecError as error:
            self.abandon()
            raise ContractViolation(f"{self.name}: {error}") from error

    def render_mode(self) -> str | None:
        """The render mode that the environment announced, checked to look like one."""
        mode = None if self._made is None else self._made.render_mode
        if mode is not None and clean(mode, LONGEST_MODE) != mode:
            self.abandon()
            raise ContractViolation(f"{self.name} render_mode: expected a word, got {shorten(mode)}")
        return mode

    def metadata(self) -> dict[str, Any]:
        """The metadata that the environment announced, with its render modes checked."""
        try:
            found = decode_value(getattr(self._made, "metadata", None), "metadata")
        except CodecError as error:
            self.abandon()
            raise ContractViolation(f"{self.name}: {error}") from error
        modes = found.get("render_modes", []) if isinstance(found, dict) else None
        if not isinstance(modes, list | tuple) or not all(isinstance(mode, str) for mode in modes):
            self.abandon()
            raise ContractViolation(f"{self.name} metadata: expected a list of render_modes, got {shorten(modes)}")
        return found


def travelling(value: Any, name: str) -> Any:
    """A value as data for the channel; InvalidArgument names what cannot travel."""
    try:
        return encode_value(value, name)
    except CodecError as error:
        raise InvalidArgument(str(error)) from error


def read_info(data: dict[str, Any], name: str) -> dict[str, Any]:
    """The info in a reply: plain data and arrays, and nothing under the key that is this side's own."""
    if not data:
        return {}
    try:
        info = decode_value(data, "info")
    except CodecError as error:
        raise ContractViolation(f"{name}: {error}") from error
    if not isinstance(info, dict):
        raise ContractViolation(f"{name} info: expected a dictionary, got {shorten(info)}")
    for one in (info, info.get("final_info")):
        if isinstance(one, dict) and RESERVED in one:
            raise ContractViolation(
                f"{name} info[{RESERVED!r}]: expected another name, since this one tells why an episode was cut, "
                f"got {shorten(one[RESERVED])}"
            )
    return info


def read_observation(read: Callable[[Any], Any], data: Any, name: str) -> Any:
    """The observation in a reply, which is in its space."""
    try:
        return read(data)
    except (CodecError, InvalidValue) as error:
        raise ContractViolation(f"{name}: {error}") from error


def release(held: list[Tenant], owner: int) -> None:
    """End the processes of an object that is forgotten; not in a fork, whose parent still uses them."""
    while held and os.getpid() == owner:
        held.pop().close()
