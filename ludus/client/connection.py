"""`connect` and `aconnect`: a service as an environment, by its address."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, overload

from ludus.client.access import ServerAccess
from ludus.client.address import read_address
from ludus.client.connection_config import ConnectionConfig, spec_of
from ludus.client.flow import Flow, Opener, run_flow, run_flow_async
from ludus.client.link import SessionLink, let_go
from ludus.client.remote_env import RemoteEnv
from ludus.client.remote_vector_env import RemoteVectorEnv
from ludus.client.session import ClientSession, SessionTerms
from ludus.core import AutoresetMode, EpisodePlan
from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import ConnectionLost, InvalidArgument, InvalidType, listing, shorten
from ludus.remote.codec import BatchCodec, EnvCodec, travelling
from ludus.spaces import Record, Space, Tuple
from ludus.vector import SerialVectorEnv
from ludus.wire.compression import Compression
from ludus.wire.messages import HelloRequest

if TYPE_CHECKING:
    from ssl import SSLContext

    from ludus.client.async_env import AsyncRemoteEnv
    from ludus.client.image_policy import ImagePolicy

__all__ = ["ConnectOptions", "aconnect", "connect"]

IMAGE = "image:"
OTHER_KIND = (400, 401, 403, 404, 405, 426, 501)
"""HTTP statuses by which servers of another kind refuse our protocol."""


class ConnectOptions(TypedDict, total=False):
    """What `connect` takes beside the commonest; nothing of it is the environment's."""

    autoreset_mode: AutoresetMode | str
    """Of a batch."""
    episodes: EpisodePlan | None
    """Of a batch: how each episode that autoreset begins is seeded, and with which options."""
    models: Sequence[type]
    """Your own classes for typed values, where this process has not imported those that the server names."""
    spaces: Sequence[type[Space[object]]]
    """Custom space classes that may be built in this process."""
    compression: Literal["none", "zstd"]
    """How large messages travel."""
    deadline: float | None
    """Seconds that the server may take for a request, where they are fewer than its own."""
    session: str
    """The id of a session to go on with."""
    takeover: bool
    """Whether to drive that session although another client does."""
    tls: "SSLContext | None"
    """Whose certificates are trusted."""
    image: "ImagePolicy | None"
    """What a container may."""


@overload
def connect(
    url: str | Opener,
    num_envs: None = None,
    *,
    env: str = "",
    kwargs: Mapping[str, object] | None = None,
    token: str | None = None,
    timeout: float = 120.0,
    **options: Unpack[ConnectOptions],
) -> AnyEnv: ...
@overload
def connect(
    url: str | Opener,
    num_envs: int,
    *,
    env: str = "",
    kwargs: Mapping[str, object] | None = None,
    token: str | None = None,
    timeout: float = 120.0,
    **options: Unpack[ConnectOptions],
) -> AnyVectorEnv: ...
def connect(
    url: str | Opener,
    num_envs: int | None = None,
    *,
    env: str = "",
    kwargs: Mapping[str, object] | None = None,
    token: str | None = None,
    timeout: float = 120.0,
    **options: Unpack[ConnectOptions],
) -> AnyEnv:
    """An environment at a server, or with `num_envs` a batch of them in one session.

    `url` is `http(s)://…`, `ws(s)://…`, `unix:///path`, `image:NAME` (a container is started, and ends with the
    environment), or a function that opens a transport. A server of many environments is told by `env`, or by
    `…/env/NAME`, which one. Stock OpenEnv servers are spoken to in their own way. `kwargs` go to the environment's
    constructor; all other keywords are of the connection (`ConnectOptions`). `timeout` holds for each request, new
    connections included.

    >>> from ludus.server.protocols.memory import LocalServer
    >>> with LocalServer("CartPole-v1") as server, connect(server) as env:
    ...     env.action_space
    Discrete(2)
    """
    opening = _opening(url, num_envs, env, kwargs, token, timeout, options)
    line = opening.line()
    try:
        session, codec = run_flow(_open(opening), line)
    except BaseException:
        let_go(line, opening)
        raise
    link = SessionLink(opening, line, session)
    spec = spec_of(getattr(session, "welcome", None))
    if isinstance(codec, BatchCodec):
        envs = RemoteVectorEnv(link, codec, episodes=options.get("episodes"), spec=spec)
        if opening.hello.session:
            envs.attached()
        return envs
    if num_envs is None:
        return RemoteEnv(link, codec, spec)
    again = partial(connect, url, env=env, kwargs=kwargs, token=token, timeout=timeout, **options)
    lanes = [lambda: RemoteEnv(link, codec, spec), *([again] * (num_envs - 1))]
    mode = options.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    envs = SerialVectorEnv(lanes, autoreset_mode=mode, episodes=options.get("episodes"))
    if isinstance(codec.observation_space, Record):  # the lanes' own, and no copies: what they learn of it, it learns
        envs.observation_space = Tuple([one.observation_space for one in envs.envs])
    return envs


async def aconnect(
    url: str | Opener,
    num_envs: int | None = None,
    *,
    env: str = "",
    kwargs: Mapping[str, object] | None = None,
    token: str | None = None,
    timeout: float = 120.0,
    **options: Unpack[ConnectOptions],
) -> "AsyncRemoteEnv":
    """The same for programs of asyncio, with the same options: an `AsyncRemoteEnv`, whose methods are awaited.

    >>> import asyncio
    >>> from ludus.server.protocols.memory import LocalServer
    >>> async def main():
    ...     async with await aconnect(server) as env:
    ...         return env.action_space
    >>> with LocalServer("CartPole-v1") as server:
    ...     asyncio.run(main())
    Discrete(2)
    """
    import asyncio  # here already: somebody awaits this

    from ludus.client.async_env import AsyncRemoteEnv  # here: programs without asyncio need not load it

    opening = await asyncio.to_thread(_opening, url, num_envs, env, kwargs, token, timeout, options)
    line = opening.async_line()
    try:
        session, codec = await run_flow_async(_open(opening), line)
        if num_envs is not None and not isinstance(codec, BatchCodec):
            await run_flow_async(session.close(), line)
            raise InvalidArgument(f"num_envs: expected None for {opening.where}, got {num_envs}: it has no batches")
    except BaseException:
        line.drop()
        await asyncio.to_thread(opening.end)
        raise
    return AsyncRemoteEnv(opening, line, session, codec)


def _open(opening: ConnectionConfig) -> Flow[tuple[ClientSession, EnvCodec]]:
    """Open the session, in the way that the server at the other end speaks."""
    session = opening.session()
    try:
        welcome = yield from session.open()
    except ConnectionLost as error:
        if not isinstance(opening.way, ServerAccess) or getattr(error.__cause__, "status", 0) not in OTHER_KIND:
            raise
        from ludus.client.openenv.remote import open_openenv  # most programs never meet a server of another kind

        return (yield from open_openenv(opening))
    try:
        return session, opening.codec(welcome)
    except BaseException:
        yield from session.close()
        raise


def _opening(
    url: str | Opener,
    num_envs: int | None,
    env: str,
    kwargs: Mapping[str, object] | None,
    token: str | None,
    timeout: float,
    options: ConnectOptions,
) -> ConnectionConfig:
    """All that was asked for, checked before anything is opened."""
    unknown = [name for name in options if name not in ConnectOptions.__annotations__]
    if unknown:
        raise InvalidArgument(
            f"connect: expected options of the connection ({listing(ConnectOptions.__annotations__, 20)}), got "
            f"{unknown[0]!r}; an argument of the environment's goes into kwargs={{{unknown[0]!r}: …}}"
        )
    arguments, session = dict(kwargs or {}), options.get("session", "")
    if num_envs is not None and (isinstance(num_envs, bool) or not num_envs > 0):
        raise InvalidArgument(f"num_envs: expected None or at least 1, got {shorten(num_envs)}")
    if arguments.get("render_mode") == "human":
        raise InvalidArgument("render_mode: expected 'rgb_array' or 'ansi', got 'human': its window would open there")
    if session and (num_envs is not None or env or arguments):
        raise InvalidArgument("session: expected nothing beside it, since it has its environment, got arguments too")
    Compression(options.get("compression", "none"))
    hello = HelloRequest(
        env=env,
        session=session,
        lanes=num_envs or 0,
        autoreset_mode=AutoresetMode.of(options.get("autoreset_mode", AutoresetMode.NEXT_STEP)).value,
        arguments=travelling(arguments, "kwargs"),
        compression=options.get("compression", "none"),
        takeover=bool(options.get("takeover", False)),
        planned=options.get("episodes") is not None,
    )
    way, where, name, end = _reached(url, token, options.get("tls"), options.get("image"), timeout)
    if name and not hello.env and not hello.session:
        hello.env = name
    return ConnectionConfig(
        way=way,
        hello=hello,
        terms=SessionTerms(where=where, timeout=timeout, deadline=options.get("deadline")),
        end=end,
        models=tuple(options.get("models", ())),
        spaces=tuple(options.get("spaces", ())),
    )


def _reached(
    url: str | Opener, token: str | None, tls: "SSLContext | None", image: "ImagePolicy | None", timeout: float
) -> tuple[ServerAccess | Opener, str, str, Callable[[], None]]:
    """How the server is reached, its address for messages, the environment in that, and what ends with it."""
    if not isinstance(url, str):
        if not callable(url):
            raise InvalidType(f"url: expected an address, or a function that opens a transport, got {shorten(url)}")
        return url, "a transport of one's own", "", _nothing
    if url.startswith(IMAGE):
        from ludus.client.image import start_image  # engines of containers are loaded when one is started

        running = start_image(url.removeprefix(IMAGE), image, timeout)
        return running.access(token), url, "", running.close
    address = read_address(url)
    return ServerAccess(address, token, tls), str(address), address.env, _nothing


def _nothing() -> None:
    """There is nothing to end."""
