"""Flows: what a client says and waits for, as generators without I/O, and the two drivers that carry them out.

A flow yields operations, each the name of a method of a transport and its arguments, and gets back what that method
gave; what it raised is raised in the flow. A transport that blocks and one of asyncio have the same methods, so every
flow is both.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, Protocol, TypeVar

__all__ = ["AsyncTransport", "TransportCall", "Transport", "Flow", "run_flow", "run_flow_async"]

T = TypeVar("T")


class TransportCall(NamedTuple):
    """Something for a line to do."""

    do: str
    """`open`, `exchange`, `send`, `receive`, `pause`, `fetch` or `close`."""
    arguments: tuple[object, ...] = ()


Flow = Generator[TransportCall, Any, T]


class Transport(Protocol):
    """A way to a server, with at most one connection at a time. OSError where that is lost, TimeoutError past its time.

    A message is `bytes`: of UTF-8, on a connection that carries text.
    """

    def open(self, path: str, text: bool, seconds: float) -> None:
        """Connect, in place of the connection that there was."""
        ...

    def send(self, data: bytes) -> None:
        """Send a message."""
        ...

    def receive(self, seconds: float) -> bytes:
        """The next message."""
        ...

    def exchange(self, data: bytes, seconds: float) -> bytes:
        """Send a message, and wait for the next one."""
        ...

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Status and body of an HTTP request beside the connection."""
        ...

    def pause(self, seconds: float) -> None:
        """Wait."""
        ...

    def close(self) -> None:
        """Close the connection; harmless twice."""
        ...


class AsyncTransport(Protocol):
    """The same, with methods to be awaited; closing does not wait."""

    def open(self, path: str, text: bool, seconds: float) -> Awaitable[None]:
        """Connect, in place of the connection that there was."""
        ...

    def exchange(self, data: bytes, seconds: float) -> Awaitable[bytes]:
        """Send a message, and wait for the next one."""
        ...

    def close(self) -> Awaitable[None]:
        """Close the connection; harmless twice."""
        ...

    def drop(self) -> None:
        """Close it without waiting; harmless twice."""
        ...


class MessageTransport(Protocol):
    """A transport of one's own: a connection that carries whole messages, and is not made anew by itself."""

    def send(self, data: bytes, /) -> object:
        """Send a message."""
        ...

    def receive(self, seconds: float, /) -> bytes:
        """The next message."""
        ...

    def close(self) -> object:
        """Close it."""
        ...


def run_flow(flow: Flow[T], line: object) -> T:
    """Carry out a flow over a line that blocks; what it returns.

    >>> def doubled(number):
    ...     answer = yield TransportCall("double", (number,))
    ...     return answer
    >>> class Doubler:
    ...     def double(self, number):
    ...         return 2 * number
    >>> run_flow(doubled(4), Doubler())
    8
    """
    try:
        do, arguments = next(flow)
        while True:
            try:
                found = getattr(line, do)(*arguments)
            except Exception as error:
                do, arguments = flow.throw(error)
            else:
                do, arguments = flow.send(found)
    except StopIteration as end:
        return end.value
    finally:
        flow.close()


async def run_flow_async(flow: Flow[T], line: object) -> T:
    """Carry out a flow over a line of asyncio.

    >>> import asyncio
    >>> def doubled(number):
    ...     answer = yield TransportCall("double", (number,))
    ...     return answer
    >>> class Doubler:
    ...     async def double(self, number):
    ...         return 2 * number
    >>> asyncio.run(run_flow_async(doubled(4), Doubler()))
    8
    """
    try:
        do, arguments = next(flow)
        while True:
            try:
                found = await getattr(line, do)(*arguments)
            except Exception as error:
                do, arguments = flow.throw(error)
            else:
                do, arguments = flow.send(found)
    except StopIteration as end:
        return end.value
    finally:
        flow.close()


Opener = Callable[[], MessageTransport]
"""Opens a transport of one's own."""
