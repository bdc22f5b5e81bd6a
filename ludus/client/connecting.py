"""`connect` and `aconnect`: a service as an environment, by its address."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, overload

from ludus.client.access import Access
from ludus.client.address import read_address
from ludus.client.batch import Batch
from ludus.client.beginning import begin
from ludus.client.opening import Opening
from ludus.client.remote import travelling
from ludus.client.remote_env import RemoteEnv, let_go
from ludus.client.remote_vector_env import RemoteVectorEnv
from ludus.client.session import Terms
from ludus.client.talk import drive, drive_async
from ludus.core import AutoresetMode, Env, VectorEnv
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.vector import SerialVectorEnv
from ludus.wire.compression import Compression
from ludus.wire.network import HelloRequest

__all__ = ["aconnect", "connect"]

IMAGE = "image:"
START = "ludus.client.image:start_image"
ASYNC = "ludus.client.async_env:AsyncRemoteEnv"
"""By name: what they need is loaded when it is used."""


@overload
def connect(url: str | Callable[[], Any], num_envs: None = None, **arguments: Any) -> Env[Any, Any]: ...
@overload
def connect(url: str | Callable[[], Any], num_envs: int, **arguments: Any) -> VectorEnv[Any, Any]: ...
def connect(
    url: str | Callable[[], Any],
    num_envs: int | None = None,
    *,
    env: str = "",
    token: str | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    timeout: float = 120.0,
    **arguments: Any,
) -> Any:
    """An environment at a server, or with `num_envs` a batch of them in one session.

    `url` is `http(s)://…`, `ws(s)://…`, `unix:///path`, `image:NAME` (a container is started, and ends with the
    environment), or a function that opens a transport. A server of many environments is told by `env`, or by
    `…/env/NAME`, which one. Stock OpenEnv servers are spoken to in their own way. `timeout` holds for each request, new
    connections included.

    `arguments` go to the environment's constructor, but for these: `pictures="png"` and `compression="zstd"` make
    messages smaller; `deadline` is what the server may take for a request; `session` is the id of one to go on with,
    and `takeover=True` drives it though another client is connected to it; `tls` an `ssl.SSLContext`; `image` what a
    container may (`ludus.client.ImagePolicy`).

    >>> from ludus.serve.doors.memory import LocalServer
    >>> with LocalServer("CartPole-v1") as server, connect(server) as env:
    ...     env.action_space
    Discrete(2)
    """
    common: dict[str, Any] = {"env": env, "token": token, "timeout": timeout}
    opening = _opening(url, num_envs, autoreset_mode=autoreset_mode, **common, **arguments)
    line = opening.line()
    try:
        remote = drive(begin(opening), line)
    except BaseException:
        let_go(line, opening)
        raise
    if isinstance(remote, Batch):
        return RemoteVectorEnv(opening, line, remote)
    if num_envs is None:
        return RemoteEnv(opening, line, remote)
    others = [partial(connect, url, **common, **arguments) for _ in range(num_envs - 1)]
    return SerialVectorEnv([lambda: RemoteEnv(opening, line, remote), *others], autoreset_mode=autoreset_mode)


async def aconnect(url: str | Callable[[], Any], num_envs: int | None = None, **options: Any) -> Any:
    """The same for programs of asyncio, with the same options: an `AsyncRemoteEnv`, whose methods are awaited.

    >>> import asyncio
    >>> from ludus.serve.doors.memory import LocalServer
    >>> async def main():
    ...     async with await aconnect(server) as env:
    ...         return env.action_space
    >>> with LocalServer("CartPole-v1") as server:
    ...     asyncio.run(main())
    Discrete(2)
    """
    import asyncio  # here already: somebody awaits this

    opening = await asyncio.to_thread(partial(_opening, url, num_envs, **options))
    line = opening.async_line()
    try:
        remote = await drive_async(begin(opening), line)
        if num_envs is not None and not isinstance(remote, Batch):
            await drive_async(remote.close(), line)
            raise InvalidArgument(f"num_envs: expected None for {opening.where}, got {num_envs}: it has no batches")
    except BaseException:
        line.drop()
        await asyncio.to_thread(opening.end)
        raise
    return load_entry_point(ASYNC)(opening, line, remote)


def _opening(
    url: Any,
    num_envs: int | None,
    *,
    env: str = "",
    token: str | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    timeout: float = 120.0,
    pictures: Literal["raw", "png"] = "raw",
    compression: Literal["none", "zstd"] = "none",
    deadline: float | None = None,
    session: str = "",
    takeover: bool = False,
    tls: Any = None,
    image: Any = None,
    **arguments: Any,
) -> Opening:
    """All that was asked for, checked before anything is opened."""
    if num_envs is not None and (isinstance(num_envs, bool) or not num_envs > 0):
        raise InvalidArgument(f"num_envs: expected None or at least 1, got {shorten(num_envs)}")
    if pictures not in ("raw", "png"):
        raise InvalidArgument(f"pictures: expected 'raw' or 'png', got {shorten(pictures)}")
    if arguments.get("render_mode") == "human":
        raise InvalidArgument("render_mode: expected 'rgb_array' or 'ansi', got 'human': its window would open there")
    if session and (num_envs is not None or env or arguments):
        raise InvalidArgument("session: expected nothing beside it, since it has its environment, got arguments too")
    Compression(compression)
    hello = HelloRequest(
        env=env,
        session=session,
        lanes=num_envs or 0,
        autoreset_mode=AutoresetMode.of(autoreset_mode).value,
        arguments=travelling(arguments, "arguments"),
        pictures=pictures,
        compression=compression,
        takeover=takeover,
    )
    terms = Terms(where="", timeout=timeout, deadline=deadline)
    return _way(url, token, tls, image)(hello, terms)


def _way(url: Any, token: str | None, tls: Any, image: Any) -> Callable[[HelloRequest, Terms], Opening]:
    """How the server is reached; a container is started on the way."""
    if callable(url):
        return lambda hello, terms: Opening(way=url, hello=hello, terms=_at(terms, "a transport of one's own"))
    if not isinstance(url, str):
        raise InvalidType(f"url: expected an address, or a function that opens a transport, got {shorten(url)}")
    if url.startswith(IMAGE):
        name = url.removeprefix(IMAGE)

        def started(hello: HelloRequest, terms: Terms) -> Opening:
            running = load_entry_point(START)(name, image, terms.timeout)
            return Opening(way=running.access(token), hello=hello, terms=_at(terms, url), end=running.close)

        return started
    address = read_address(url)

    def reached(hello: HelloRequest, terms: Terms) -> Opening:
        return Opening(
            way=Access(address, token, tls),
            hello=_named(hello, address.env),
            terms=_at(terms, str(address)),
        )

    return reached


def _at(terms: Terms, where: str) -> Terms:
    return Terms(where=where, timeout=terms.timeout, deadline=terms.deadline)


def _named(hello: HelloRequest, env: str) -> HelloRequest:
    """The environment that the address names, where nothing else does."""
    if env and not hello.env and not hello.session:
        hello.env = env
    return hello
