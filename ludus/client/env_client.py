"""`EnvClient`: a base class for programs that come from OpenEnv: three hooks, used with or without `await`."""

import sys
import weakref
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypedDict, TypeVar, cast

from ludus.client.access import ServerAccess
from ludus.client.address import read_address
from ludus.client.fields import Fields
from ludus.client.flow import Flow, run_flow, run_flow_async
from ludus.client.image_policy import ImagePolicy
from ludus.client.openenv.session import OpenEnvSession
from ludus.client.result import StepResult
from ludus.client.session import SessionTerms
from ludus.client.transport import SocketTransport
from ludus.errors import InvalidAction, InvalidArgument, ServiceError, listing, shorten
from ludus.spaces.models import fields_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

    from ludus.client.async_transport import AsyncSocketTransport

__all__ = ["EnvClient", "GenericEnvClient"]

# With a default, so that `EnvClient(url)` says what it means. Such defaults come with Python 3.13; type checkers know
# them before, from typing_extensions, which is never loaded.
if TYPE_CHECKING:
    ActT = DefaultTypeVar("ActT", default=object)
    ObsT = DefaultTypeVar("ObsT", default=Fields)
    StateT = DefaultTypeVar("StateT", default=Fields)
else:
    ActT, ObsT, StateT = TypeVar("ActT"), TypeVar("ObsT"), TypeVar("StateT")
T = TypeVar("T")
NOT_NEEDED = {
    "connect_timeout_s",
    "max_message_size_mb",
    "mode",
    "websocket_ping_interval_s",
    "websocket_ping_timeout_s",
}
"""What OpenEnv's constructor takes beside, and what there is nothing to do about here."""
Place = tuple[ServerAccess, Callable[[], object]]


class Provider(Protocol):
    """Who starts and stops a container, as OpenEnv's providers do."""

    @property
    def start_container(self) -> Callable[..., str]:
        """Start one from an image; its address."""
        ...

    def wait_for_ready(self, base_url: str, /) -> object:
        """Wait until it answers."""
        ...

    def stop_container(self) -> object:
        """Stop and remove it."""
        ...


class ContainerOptions(TypedDict, total=False):
    """What a container is told."""

    env_vars: Mapping[str, str] | None
    port: int | None


class EnvClient(Generic[ActT, ObsT, StateT]):
    """A session over OpenEnv's protocol, at its servers or at ours.

    A subclass defines `_step_payload(action)`, `_parse_result(payload)` and `_parse_state(payload)`; as they are,
    actions are records or dictionaries, and observations and states have attributes. In a running event loop methods
    are to be awaited, elsewhere they are not; those of `.sync()` never are.

    >>> import ludus
    >>> with ludus.serve("open/Echo-v0", port=0, block=False) as server, EnvClient(server.url) as client:
    ...     _ = client.reset()
    ...     result = client.step({"message": "hello"})
    >>> result.observation.echoed_message, result.reward, result.done
    ('hello', 0.5, False)
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        message_timeout_s: float = 60.0,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        provider: Provider | None = None,
        **options: object,
    ) -> None:
        unknown = options.keys() - NOT_NEEDED
        if unknown:
            raise InvalidArgument(f"EnvClient: expected other options, got {listing(sorted(unknown))}")
        self.base_url = base_url
        self._terms = SessionTerms(where=base_url or "the container", timeout=message_timeout_s)
        self._headers, self._token, self._provider = dict(headers or {}), token, provider
        self._place: Callable[[], Place] = self._at_address
        self._session: OpenEnvSession | None = None
        self._line: SocketTransport | AsyncSocketTransport | None = None
        self._awaited = False
        self._held: list[Callable[[], object]] = []
        weakref.finalize(self, _release, self._held)

    # --- hooks ---

    def _step_payload(self, action: ActT) -> Mapping[str, object]:
        """An action as the object that is sent."""
        found = fields_of(action)
        if found is None:
            raise InvalidAction(f"action: expected a record or a dictionary, got {shorten(action)}")
        return found

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ObsT]:
        """The result in what was received."""
        return StepResult(
            cast("ObsT", Fields(payload.get("observation") or {})),  # of another class, a subclass makes it
            payload.get("reward"),
            bool(payload.get("done", False)),
            payload.get("terminated"),
            payload.get("truncated"),
            payload.get("info") or {},
            payload.get("metadata"),
        )

    def _parse_state(self, payload: dict[str, Any]) -> StateT:
        """The state in what was received."""
        return cast("StateT", Fields(payload))

    # --- constructors ---

    @classmethod
    def from_url(cls, base_url: str, **options: Any) -> Self:
        """A client of a server that runs."""
        return cls(base_url, **options)

    @classmethod
    def from_image(
        cls, image: str, *, policy: ImagePolicy | None = None, provider: Provider | None = None, **options: Any
    ) -> Self:
        """A client of a container, which is started when it is used, or awaited, and removed by `close`.

        `provider` is an object of OpenEnv's kind (`start_container`, `wait_for_ready`, `stop_container`).
        """
        given: ContainerOptions = {}
        if "env_vars" in options:
            given["env_vars"] = options.pop("env_vars")
        if "port" in options:
            given["port"] = options.pop("port")
        client = cls(provider=provider, **options)
        client._place = partial(client._in_container, image, policy, given)
        return client

    from_docker_image = from_image

    def _at_address(self) -> Place:
        if self.base_url is None:
            raise InvalidArgument("EnvClient: expected a base_url, got none; EnvClient.from_image starts a container")
        return ServerAccess(read_address(self.base_url), self._token), _nothing

    def _in_container(self, image: str, policy: ImagePolicy | None, given: ContainerOptions) -> Place:
        if self._provider is not None:
            self.base_url = url = self._provider.start_container(image, **given)
            self._provider.wait_for_ready(url)
            return ServerAccess(read_address(url), self._token), self._provider.stop_container
        if policy is None:
            policy = ImagePolicy(variables=given.get("env_vars") or {}, port=given.get("port") or 8000)
        from ludus.client.image import start_image  # engines of containers are loaded when one is started

        running = start_image(image, policy, self._terms.timeout)
        return running.access(self._token), running.close

    # --- the session ---

    def connect(self) -> Any:
        """Open the session, if it is not open; the client."""
        return self._do(self._connected())

    def reset(self, **options: object) -> Any:
        """Begin an episode: a `StepResult`."""
        return self._do(self._reset(options))

    def step(self, action: ActT, **options: object) -> Any:
        """Advance the episode: a `StepResult`."""
        if options:
            raise InvalidArgument(f"step: expected an action alone, got {listing(options)} beside it")
        return self._do(self._step(action))

    def state(self) -> Any:
        """The state of the episode."""
        return self._do(self._state())

    def close(self) -> Any:
        """Close the session, and the container where one was started; harmless twice."""
        return self._do(self._closed(), opens=False)

    disconnect = close

    def sync(self) -> "SyncClient[ActT, ObsT, StateT]":
        """The same session without `await`, in a running event loop too."""
        return SyncClient(
            self,
            lambda options: self._done(self._reset(options)),
            lambda action: self._done(self._step(action)),
            lambda: self._done(self._state()),
        )

    # --- flows ---

    def _connected(self) -> Flow[Self]:
        if self._session is None:
            session = OpenEnvSession(self._terms)
            yield from session.open()
            self._session = session
        return self

    def _asked(self, kind: str, data: Mapping[str, object] | None, answer: str) -> Flow[dict[str, object]]:
        yield from self._connected()
        session = self._session
        if session is None:
            raise ServiceError("EnvClient: expected an open session, got none")
        return (yield from session.ask(kind, data, answer))

    def _reset(self, options: dict[str, object]) -> Flow[StepResult[ObsT]]:
        return self._parse_result((yield from self._asked("reset", options, "observation")))

    def _step(self, action: ActT) -> Flow[StepResult[ObsT]]:
        payload = self._step_payload(action)
        return self._parse_result((yield from self._asked("step", payload, "observation")))

    def _state(self) -> Flow[StateT]:
        return self._parse_state((yield from self._asked("state", None, "state")))

    def _closed(self) -> Flow[None]:
        session, self._session = self._session, None
        if session is not None:
            yield from session.close()

    # --- how they are carried out ---

    def _do(self, flow: Flow[T], *, opens: bool = True) -> T | Awaitable[T]:
        return self._awaiting(flow, opens) if _in_event_loop() else self._done(flow, opens=opens)

    def _done(self, flow: Flow[T], *, opens: bool = True) -> T:
        if self._awaited:
            flow.close()
            raise ServiceError("EnvClient: expected `await`, as for the calls before, got a call without; use .sync()")
        if self._line is None and opens:
            access = self._reached()
            self._line = SocketTransport(access)
            self._held.append(self._line.close)
        try:
            return run_flow(flow, self._line)
        finally:
            if not opens:
                self._finish()

    async def _awaiting(self, flow: Flow[T], opens: bool) -> T:
        import asyncio  # here already: somebody awaits this

        if self._line is not None and not self._awaited:
            return self._done(flow, opens=opens)
        if self._line is None and opens:
            access = await asyncio.to_thread(self._reached)
            from ludus.client.async_transport import AsyncSocketTransport  # asyncio is loaded for it

            self._line, self._awaited = AsyncSocketTransport(access), True
        try:
            return await run_flow_async(flow, self._line)
        finally:
            if not opens:
                await asyncio.to_thread(self._finish)

    def _reached(self) -> ServerAccess:
        access, end = self._place()
        access.headers.update(self._headers)
        self._held.append(end)
        return access

    def _finish(self) -> None:
        self._line, self._awaited = None, False
        _release(self._held)

    # --- with-statements, and await ---

    def __enter__(self) -> Self:
        self._done(self._connected())
        return self

    def __exit__(self, *error: object) -> None:
        self._done(self._closed(), opens=False)

    async def __aenter__(self) -> Self:
        return await self._awaiting(self._connected(), True)

    async def __aexit__(self, *error: object) -> None:
        await self._awaiting(self._closed(), False)

    def __await__(self) -> Generator[object, None, Self]:
        return self._awaiting(self._connected(), True).__await__()


class GenericEnvClient(EnvClient[dict[str, Any], dict[str, Any], dict[str, Any]]):
    """Dictionaries in and out, for any environment.

    >>> import ludus
    >>> with ludus.serve("open/Echo-v0", port=0, block=False) as server, GenericEnvClient(server.url) as client:
    ...     _ = client.reset()
    ...     client.step({"message": "hi"}).observation["message_length"]
    2
    """


class SyncClient(Generic[ActT, ObsT, StateT]):
    """An `EnvClient`'s session without `await`, in a running event loop too."""

    def __init__(
        self,
        client: EnvClient[ActT, ObsT, StateT],
        reset: Callable[[dict[str, object]], StepResult[ObsT]],
        step: Callable[[ActT], StepResult[ObsT]],
        state: Callable[[], StateT],
    ) -> None:
        self._client, self._reset, self._step, self._state = client, reset, step, state

    def connect(self) -> Self:
        """Open the session."""
        self._client.__enter__()
        return self

    def reset(self, **options: object) -> StepResult[ObsT]:
        """Begin an episode."""
        return self._reset(options)

    def step(self, action: ActT) -> StepResult[ObsT]:
        """Advance the episode."""
        return self._step(action)

    def state(self) -> StateT:
        """The state of the episode."""
        return self._state()

    def close(self) -> None:
        """Close the session."""
        self._client.__exit__()

    disconnect = close

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(self, *error: object) -> None:
        self.close()


def _in_event_loop() -> bool:
    """Whether this thread runs one; where asyncio was never loaded, none does."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _release(held: list[Callable[[], object]]) -> None:
    """End what a client holds, also where it is forgotten without `close`."""
    while held:
        held.pop()()


def _nothing() -> None:
    """There is nothing to end."""
