"""`Chromium`: one warm browser for the process, in a sandbox without network, with a spare context in hand.

It runs as a user of no rights in namespaces of its own, with no network at all: whatever a page asks for is answered by
this process through the pipe, or refused. Inside, its own sandbox is off, since it would need the user namespaces that
ours forbids: a page that breaks out of its renderer finds itself in an empty root without network, and could reach
the pages of other sessions of the same process. The profile is in a file system in memory, and gone with it.
"""

import atexit
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ludus.envs.open.browsergym.devtools import DevTools, Event, ProtocolError, part
from ludus.envs.open.browsergym.launch import launch
from ludus.envs.open.browsergym.patience import Patience
from ludus.errors import ChannelError, MissingExtra, SandboxError

__all__ = ["Chromium", "acquire", "program", "release", "shut_down"]

VARIABLE = "LUDUS_CHROMIUM"
NAMES = ("chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DEBIAN = (Path("/usr/lib/chromium/chromium-headless-shell"), Path("/usr/lib/chromium/chromium"))
"""What Debian's scripts start after reading settings that are none of ours. The shell is the same engine without the
windows of a desktop: a context costs it a fifth of the time, a call a sixth."""
SHELL = "HeadlessChrome/"
"""What the shell calls itself, and the whole browser, with windows or without, does not."""
START_SECONDS = 60.0
LINGER_SECONDS = 20.0
"""A browser that nobody uses is kept so long for the next user."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-breakpad",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-site-isolation-trials",
    "--v8-cache-options=none",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--mute-audio",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--lang=en-US",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-features=Translate,MediaRouter,OptimizationHints,BackForwardCache,DialMediaRouteProvider,"
    "SpareRendererForSitePerProcess,IsolateOrigins,site-per-process,PaintHolding,Prerender2,AutofillServerCommunication",
)
"""No `--disable-frame-rate-limit`: frames without end took a third of the processor's time, and nothing waits for one.
No cache of compiled scripts, since no context lives to read it."""


def program() -> str:
    """The browser's program: the variable LUDUS_CHROMIUM, Debian's headless shell or Chromium, or what is on the path.

    MissingExtra with the line to type where there is none.
    """
    named = os.environ.get(VARIABLE, "")
    if named:
        if not os.access(named, os.X_OK):
            raise MissingExtra(f"{VARIABLE}: expected the path of a Chromium, got {named!r}, which is no program")
        return named
    for path in DEBIAN:
        if os.access(path, os.X_OK):
            return str(path)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise MissingExtra(
            "BrowserGym: expected Chromium on this machine, got none; apt-get install chromium-headless-shell "
            f"(or chromium), or set {VARIABLE}=/path/to/chromium"
        )
    return os.path.realpath(found)


class Chromium:
    """A browser under way. Contexts are made by its users."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.process, channel = launch(program(), FLAGS)
        self.tools = DevTools(channel, Patience(self.process.pid))
        self._attached: dict[str, str] = {}
        self._arrivals = threading.Condition()
        self.openers: dict[str, Callable[[str, str], None]] = {}
        """What is called for a page that a page opened, by browser context."""
        self.closers: dict[str, Callable[[str], None]] = {}
        """What is called for a page that is gone."""
        self.tools.subscribe("", self._on_event)
        try:
            self.version = str(self.tools.call("Browser.getVersion", seconds=START_SECONDS)["product"])
            attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
            self.tools.call("Target.setAutoAttach", attach, seconds=START_SECONDS)
        except (ProtocolError, ChannelError) as error:
            self.close()
            raise SandboxError(f"browser: expected Chromium to start in the sandbox, got: {error}") from None

    @property
    def holds_pages(self) -> bool:
        """Whether a page that is made with an address waits for us before it goes there.

        The whole browser is on its way by the time we watch it: what it asks for first is then answered by nobody.
        """
        return self.version.startswith(SHELL)

    @property
    def lives(self) -> bool:
        """Whether it can be used, in this process."""
        return self.tools.lost is None and self.pid == os.getpid()

    def attached(self, target: str, seconds: float) -> str:
        """The session of a page that was just made."""
        with self._arrivals:
            if not self._arrivals.wait_for(lambda: target in self._attached, seconds):
                raise ProtocolError(f"a page was not there within {seconds:g} s")
            return self._attached.pop(target)

    def _on_event(self, method: str, params: Event) -> None:
        if method == "Target.detachedFromTarget":
            for closer in list(self.closers.values()):
                closer(str(params["sessionId"]))
        if method != "Target.attachedToTarget":
            return
        target, session = part(params, "targetInfo"), str(params["sessionId"])
        opener = self.openers.get(str(target.get("browserContextId", "")))
        if target["type"] == "page" and opener is not None and target.get("openerId"):
            opener(str(target["targetId"]), session)
        elif target["type"] == "page":
            with self._arrivals:
                self._attached[str(target["targetId"])] = session
                self._arrivals.notify_all()
        else:
            self.tools.post("Runtime.runIfWaitingForDebugger", session=session)

    def close(self) -> None:
        """Kill it, and all that it started; harmless twice."""
        if self.pid == os.getpid():
            self.tools.close()
            self.process.close()


class _Shared:
    """The browser of this process, and how many use it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.browser: Chromium | None = None
        self.users = 0
        self.timer: threading.Timer | None = None


_shared = _Shared()


def acquire() -> Chromium:
    """The browser of this process, begun where there is none; `release` it as often."""
    with _shared.lock:
        if _shared.timer is not None:
            _shared.timer.cancel()
            _shared.timer = None
        if _shared.browser is not None and not _shared.browser.lives:
            if _shared.browser.pid != os.getpid():
                _shared.users = 0
            _shared.browser.close()
            _shared.browser = None
        if _shared.browser is None:
            _shared.browser = Chromium()
            atexit.unregister(shut_down)
            atexit.register(shut_down)
        _shared.users += 1
        return _shared.browser


def release() -> None:
    """Use it no more; the last one leaves it running for a while."""
    with _shared.lock:
        _shared.users = max(0, _shared.users - 1)
        if _shared.users == 0 and _shared.browser is not None and _shared.timer is None:
            _shared.timer = threading.Timer(LINGER_SECONDS, _idle)
            _shared.timer.daemon = True
            _shared.timer.start()


def _idle() -> None:
    with _shared.lock:
        if _shared.users == 0:
            shut_down()


def shut_down() -> None:
    """End the browser of this process now; episodes under way lose their pages."""
    with _shared.lock:
        browser, _shared.browser = _shared.browser, None
        if _shared.timer is not None:
            _shared.timer.cancel()
            _shared.timer = None
        if browser is not None:
            with suppress(OSError):
                browser.close()
