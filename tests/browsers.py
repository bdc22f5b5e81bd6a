"""A real browser for tests: pages are waited for as long as anything here, and made slow for whoever looks for races.

`LUDUS_SLOW_PAGES=7` has whatever a page sends wait for up to 0.8 s, so that answers come in another order with each
seed; `LUDUS_SLOW_PAGES=7:6` has scripts take six times as long too. Nothing of a test or a page may depend on either.
"""

import asyncio
import os
import random
import shlex
import sys
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from ludus.envs.open.browsergym.chromium import program
from tests.patience import PATIENCE_S

SEED, _, SLOWDOWN = os.environ.get("LUDUS_SLOW_PAGES", "").partition(":")
MAX_DELAY_S = 0.8
CONNECTED = b"\x05\x00\x00\x01\0\0\0\0\0\0"


@contextmanager
def chromium() -> Generator[Browser, None, None]:
    """A browser; while it is there an event loop is running."""
    expect.set_options(timeout=PATIENCE_S * 1000)
    with sync_playwright() as driver, delays() as proxy, TemporaryDirectory() as folder:
        browser = driver.chromium.launch(
            executable_path=in_still_network(folder), args=["--no-sandbox"], proxy=proxy, timeout=PATIENCE_S * 1000
        )
        yield browser
        browser.close()


def in_still_network(folder: str) -> str:
    """A program in a folder that starts the browser by way of `tests/still_network.py`."""
    words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("still_network.py")), program()]
    path = Path(folder, "chromium")
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf8")
    path.chmod(0o755)
    return str(path)


def new_page(browser: Browser, **options: Any) -> Page:
    """A page in a context of its own, which ends with the page's `context.close()`."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    if SLOWDOWN:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": float(SLOWDOWN)})
    return page


def settle(page: Page) -> None:
    """Wait until what has happened is drawn: two frames, since what the first one measures is laid out in the next."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@contextmanager
def delays() -> Generator[Any, None, None]:
    """A proxy that delays, as Playwright wants it; none where nobody looks for races.

    A proxy and not routes of Playwright, which know no WebSockets and whose handlers would wait one after the other.
    """
    if not SEED:
        yield None
        return
    ready: Future[tuple[int, Callable[[], object]]] = Future()
    thread = Thread(target=asyncio.run, args=(Delay(int(SEED)).serve(ready),))
    thread.start()
    port, stop = ready.result(PATIENCE_S)
    yield {"server": f"socks5://127.0.0.1:{port}"}
    stop()
    thread.join()


class Delay:
    """Tunnels of SOCKS 5 in which all that a browser sends waits for a while, each piece for its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    async def serve(self, ready: Future[tuple[int, Callable[[], object]]]) -> None:
        """Listen until what is told, beside the port, is called."""
        server = await asyncio.start_server(self.tunnel, "127.0.0.1", 0)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        ready.set_result((server.sockets[0].getsockname()[1], lambda: loop.call_soon_threadsafe(ended.set)))
        await ended.wait()
        server.close()

    async def tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection of the browser until either side ends it."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError), closing(writer):
            there, back = await self.connect(reader, writer)
            with closing(back):
                await asyncio.gather(self.pass_on(reader, back, MAX_DELAY_S), self.pass_on(there, writer, 0.0))

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        """The connection that the browser asks for: no greeting but the one without passwords."""
        methods = (await reader.readexactly(2))[1]
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        if kind == 1:
            host = ".".join(map(str, await reader.readexactly(4)))
        else:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        port = int.from_bytes(await reader.readexactly(2))
        found = await asyncio.open_connection(host, port)
        writer.write(CONNECTED)
        return found

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: float) -> None:
        """All that comes, in its order, each piece after a delay; the end as well."""
        try:
            while piece := await reader.read(1 << 16):
                await asyncio.sleep(most * self.random.random())
                writer.write(piece)
                await writer.drain()
        finally:
            writer.close()
