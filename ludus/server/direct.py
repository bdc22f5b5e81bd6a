"""Direct connections: the thread of an environment reads and answers its connection by itself.

Through the event loop a request takes two hand-overs between threads, which cost more than most steps. So the thread
waits at the socket, and does what nearly all messages need: one request, one reply. All else it leaves to the event
loop, with what it has read and not used. A connection has one owner at any time, the event loop or the thread: whoever
else needs it, or its session, recalls it first. While a step takes long, the event loop takes the connection over, so
that requests are cancelled, deadlines kept and ends noticed as ever.
"""

import asyncio
import os
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from time import monotonic, perf_counter
from typing import NamedTuple, Protocol

from ludus.remote.spin import LOOK_SECONDS, Spin, yield_core
from ludus.server.activity import MAX_SPINNING_CONNECTIONS, Activity
from ludus.server.env_thread import EnvThread
from ludus.server.wake_up import WakeUp
from ludus.wire.messages import NetworkReply, NumberedRequest

__all__ = ["Direct", "DirectTransport", "DirectProtocol", "DirectSocket", "Requests"]

FIRST_CHUNK, LARGEST_CHUNK = 1 << 12, 1 << 18
"""Bytes that are asked for at once: memory is taken for all of them, so that it is more only where more comes."""
IDLE_MS = 5000
"""Milliseconds without a message, after which the event loop waits for the next one: it does so for thousands."""
SEND_TIMEOUT_MS = 20
"""Milliseconds that a thread waits for the other side to read on."""

Look = Callable[[int], list[tuple[int, int]]]
"""What is ready within so many milliseconds."""
Piece = tuple[bytes | None, bytes]
"""A whole message and nothing, or None and bytes that the event loop has to read."""


class DirectSocket(NamedTuple):
    """What a thread needs to read and write a connection."""

    socket: socket.socket
    """A duplicate: whatever happens to the original, its number is not that of another."""
    split: Callable[[bytes], Sequence[Piece]]
    frame: Callable[[bytes], bytes]


class DirectTransport(Protocol):
    """A connection that can be read by a thread for a while."""

    def start_direct(self, recall: Callable[[], object]) -> DirectSocket | None:
        """Read and write it no more; `recall` is called where that has to end. None where it cannot be now."""
        ...

    def end_direct(self, pieces: Sequence[Piece], unsent: bytes) -> None:
        """Go on with it: what was read and not used, and the rest of what was to be sent."""
        ...


class DirectProtocol:
    """A mixin for protocols of asyncio: what they share about being read by a thread for a while."""

    transport: asyncio.Transport
    _recall: Callable[[], object] | None = None
    _copy: socket.socket | None = None
    _afterwards: tuple[Callable[[], object], ...] = ()

    def copy_socket(self, recall: Callable[[], object]) -> socket.socket | None:
        """A duplicate of the socket, which is not read here any more; None where something is not sent yet."""
        transport = self.transport
        if self._recall is not None or transport.is_closing() or transport.get_write_buffer_size():
            return None
        if transport.get_extra_info("sslcontext") is not None:
            return None
        try:
            copy = socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
        except OSError:  # no descriptor is left
            return None
        copy.setblocking(False)
        transport.pause_reading()
        self._copy, self._recall = copy, recall
        return copy

    def drop_copy(self, unsent: bytes) -> bool:
        """Write here again; whether there is still a connection."""
        if self._copy is not None:
            self._copy.close()
        self._copy = self._recall = None
        if self.transport.is_closing():
            return False
        if unsent:
            self.transport.write(unsent)
        return True

    def run_afterwards(self) -> None:
        """Do what waited for the end."""
        waiting, self._afterwards = self._afterwards, ()
        for do in waiting:
            do()

    def after_direct(self, do: Callable[[], object]) -> None:
        """Do something that writes or closes: at once, or as soon as no thread uses the connection."""
        if self._recall is None:
            do()
            return
        self._afterwards = (*self._afterwards, do)
        self._recall()


class UnderWay(Protocol):
    """A session."""

    under_way: int
    """The number of the request that has its turn."""


class Requests(Protocol):
    """What a thread does with messages: the conversation of one connection."""

    @property
    def session(self) -> UnderWay:
        """Whose requests they are."""
        ...

    @property
    def accept(self) -> Callable[[bytes], NumberedRequest | None]:
        """What begins an ordinary request of a message, and gives it; None leaves the message to the event loop."""
        ...

    def ration(self) -> int:
        """How many messages may be taken before it is asked again; 0: they come too fast."""
        ...

    def fail(self, error: BaseException) -> NetworkReply:
        """The reply that tells what a request raised."""
        ...

    def finish(self, asked: NumberedRequest, reply: NetworkReply, begun: float) -> bytes:
        """Keep the reply; the message to send."""
        ...

    def take_over(self, asked: NumberedRequest, running: "asyncio.Future[NetworkReply]", begun: float) -> None:
        """A request is waited for by the event loop from now on; its turn is held until then."""
        ...


class Direct:
    """A connection while a thread has it: from `start` until `ended`."""

    def __init__(
        self,
        thread: EnvThread,
        link: DirectTransport,
        requests: Requests,
        answer: Callable[[object], NetworkReply],
        *,
        activity: Activity,
        on_end: Callable[[bool], object],
    ) -> None:
        """`on_end` is called with whether a step is still under way."""
        self._thread, self._link, self._requests, self._answer = thread, link, requests, answer
        self._activity, self._on_end = activity, on_end
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._lock = Lock()
        """Decides who has the connection, where a step ends while it is taken over."""
        self._running: asyncio.Future[NetworkReply] | None = None
        self._recalled = False
        self._asked: NumberedRequest | None = None
        self._begun = 0.0
        """When the request under way began; 0: there is none."""
        self._rest: Sequence[Piece] = ()

    # --- on the event loop ---

    def start(self) -> bool:
        """Hand the connection to the thread; False where that cannot be now."""
        if self._thread.wake_up is None:
            try:
                self._thread.wake_up = WakeUp()
            except OSError:  # no descriptor is left
                return False
        found = self._link.start_direct(self.recall)
        if found is None:
            return False
        self._socket = found
        self._activity.begin(self._loop)
        self._thread.run(self._serve, brief=False)
        return True

    def recall(self) -> None:
        """Have the connection back: at once where a step is under way, else as soon as the thread has noticed."""
        if not self.ended.done() and not self.detach() and not self._recalled:
            self._recalled = True
            if self._thread.wake_up is not None:
                self._thread.wake_up.call()

    def detach(self) -> bool:
        """Take the connection from the thread, which is busy with a step; False where it is not."""
        running: asyncio.Future[NetworkReply] = self._loop.create_future()
        with self._lock:
            begun, asked = self._begun, self._asked
            if not begun or asked is None or self._running is not None:
                return False
            self._running = running
        self._requests.take_over(asked, running, begun)
        self._end(self._rest, b"", detached=True)
        return True

    def _end(self, pieces: Sequence[Piece], unsent: bytes, *, detached: bool = False) -> None:
        self._activity.leave(self, self._socket.socket.fileno())
        self._on_end(detached)
        self.ended.set_result(None)
        self._link.end_direct(pieces, unsent)

    # --- in the thread ---

    def _serve(self) -> None:
        self._thread.since = 0.0  # waiting is no work
        pieces: Sequence[Piece] = ()
        unsent = b""
        self._activity.join(self, self._socket.socket.fileno())
        try:
            with suppress(OSError):  # of the connection: the event loop hears of it by itself
                pieces, unsent = self._exchange()
        finally:
            if self._running is None:
                self._loop.call_soon_threadsafe(self._end, pieces, unsent)

    def _exchange(self) -> tuple[Sequence[Piece], bytes]:
        """Answer what comes, until there is something else to do; what is left.

        In one function, without a call that can be spared: every step of every session goes through it.
        """
        link, split, _ = self._socket
        requests, thread, answer, activity = self._requests, self._thread, self._answer, self._activity
        accept, session, receive, (look, poll) = requests.accept, requests.session, link.recv, self._polls()
        connections, awake, others, spin = activity.connections, activity.awake, activity.fileno, Spin(look)
        chunk, allowed = FIRST_CHUNK, 0
        while not self._recalled:
            found: list[tuple[int, int]] | None = None
            if spin.rest:
                spin.rest -= 1
            elif others >= 0 and len(awake) == 1 and len(connections) <= MAX_SPINNING_CONNECTIONS:
                ends = perf_counter() + LOOK_SECONDS
                while not (found := look(0)) and perf_counter() < ends and len(awake) == 1:
                    yield_core()
                found = None if found and found[0][0] == others else found
                hit = bool(found) and perf_counter() < ends
                if not hit or spin.misses:
                    spin.judge(hit)
            if not found:
                awake.discard(self)
                found = poll(IDLE_MS)
                awake.add(self)
            if not found or self._recalled or not (data := receive(chunk)):
                break
            if len(data) == chunk:
                chunk = min(4 * chunk, LARGEST_CHUNK)
            pieces = split(data)
            for place, (message, _) in enumerate(pieces, 1):
                allowed = (allowed or requests.ration()) - 1
                if message is None or allowed < 0 or (asked := accept(message)) is None:
                    return pieces[place - 1 :], b""
                self._rest, self._asked, session.under_way = pieces[place:], asked, asked.number
                self._begun = thread.since = begun = monotonic()
                try:
                    reply: NetworkReply = answer(asked.request)
                except BaseException as error:  # whatever it is, it is told
                    reply = requests.fail(error)
                session.under_way = 0
                left = self._conclude(asked, reply, begun)
                if left is not None:
                    return left
        return (), b""

    def _polls(self) -> tuple[Look, Look]:
        """What looks, also for whether anything else in the process is ready; and what waits. Both hear of a call."""
        look, wait, wake_up = select.poll(), select.poll(), self._thread.wake_up
        if wake_up is not None:
            wake_up.clear()
        for poll in (look, wait):
            poll.register(self._socket.socket, select.POLLIN)
            if wake_up is not None:
                poll.register(wake_up.fileno, select.POLLIN)
        if self._activity.fileno >= 0:
            look.register(self._activity.fileno, select.POLLIN)
        return look.poll, wait.poll

    def _conclude(
        self, asked: NumberedRequest, reply: NetworkReply, begun: float
    ) -> tuple[Sequence[Piece], bytes] | None:
        """Send a reply, and go on where None is given; else the event loop has taken over, or has to: what is left."""
        with self._lock:
            self._begun, running = 0.0, self._running
        self._thread.since = 0.0
        if running is not None:
            self._loop.call_soon_threadsafe(_resolve, running, reply)
            return (), b""
        frame = self._socket.frame(self._requests.finish(asked, reply, begun))
        try:
            sent = self._socket.socket.send(frame)
        except BlockingIOError:
            sent = 0
        except OSError:  # the event loop hears of it by itself
            return self._rest, b""
        unsent = b"" if sent == len(frame) else self._send(frame[sent:])
        return (self._rest, unsent) if unsent or self._recalled else None

    def _send(self, left: bytes) -> bytes:
        """Send the rest of a frame, as far as the other side reads it within a moment: what is left of it."""
        link, poll, ends = self._socket.socket, select.poll(), monotonic() + SEND_TIMEOUT_MS / 1000
        poll.register(link, select.POLLOUT)
        with suppress(BlockingIOError):
            while left and (patience := ends - monotonic()) > 0 and poll.poll(patience * 1000):
                left = left[link.send(left) :]
        return left


def _resolve(running: "asyncio.Future[NetworkReply]", reply: NetworkReply) -> None:
    if not running.done():
        running.set_result(reply)
