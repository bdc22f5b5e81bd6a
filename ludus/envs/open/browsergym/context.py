"""`Context`: the browser of one episode. Cookies, storage, caches and tabs are its own, and gone with it."""

import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple
from urllib.parse import urljoin

from ludus.envs.open.browsergym.chromium import Chromium
from ludus.envs.open.browsergym.devtools import ProtocolError, Reply
from ludus.envs.open.browsergym.tab import (
    QUIET_SECONDS,
    PageError,
    PageRequest,
    PageResponse,
    PageView,
    Serve,
    Tab,
    TabSettings,
)
from ludus.errors import ChannelError

__all__ = ["Ahead", "Context", "Spares", "Start"]

BLANK_PATH = "/.blank"
BLANK = PageResponse(200, (("Content-Type", "text/html"),), b"<!doctype html><title></title>")
NO_ICON = PageResponse(404, (), b"")
SETUP_SECONDS = 60.0
"""For making a context and its first page, which is no doing of the agent's."""
MAX_TABS = 8
MAX_SPARES = 4
POPUP_SECONDS = 3.0


class Ahead(NamedTuple):
    """What tasks of one host have in common, and can be loaded while nobody knows which of them comes."""

    path: str
    """A page of nothing to see."""
    page: Callable[[str, bool], str | None]
    """The document at an address, to be written in its place, which finds the libraries there, or has them in it; None
    where it has to be navigated to."""
    libraries: str = ""
    """A page that loads them, for a frame of the empty one."""


def no_document(*_: object) -> None:
    """Of an address at which there is none."""


class Start(NamedTuple):
    """With what a context begins: its settings, and an address that is loaded ahead, answered by `serve`."""

    settings: TabSettings
    url: str
    serve: Serve | None = None
    ahead: Ahead = Ahead(BLANK_PATH, no_document)

    @property
    def empty(self) -> "Start":
        """The same with an empty page of that host: what can be made ahead while nobody knows the task."""
        return self._replace(url=urljoin(self.url, self.ahead.path))


class Context:
    """A browser context: empty when it is made, disposed of when it is closed, never used for two episodes."""

    def __init__(self, browser: Chromium, start: Start) -> None:
        self.browser, self.tools, self.settings, self.serve = browser, browser.tools, start.settings, start.serve
        self._ahead = start.ahead if start == start.empty else None
        self._libraries: Reply | None = None
        self.opening = ""
        """What the page has to run before the task begins, in the same call: a page that is written costs a third of
        one that is navigated to, since nothing crosses from process to process."""
        self.dialogs: list[dict[str, object]] = []
        self.refused: list[str] = []
        self.tabs: list[Tab] = []
        self.active = 0
        self._closed = False
        self._changes = threading.Condition()
        self._expected, self._opened_one = 0, False
        self.id = str(self.tools.call("Target.createBrowserContext", {"disposeOnDetach": True})["browserContextId"])
        browser.openers[self.id] = self._opened
        browser.closers[self.id] = self._detached
        self.tools.post("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": self.id})
        self._open_tab(start.url)

    @property
    def tab(self) -> Tab:
        """The tab that actions are for."""
        return self.tabs[self.active]

    @contextmanager
    def setting_up(self) -> Generator[None]:
        """What its page is asked in the meantime is no doing of the agent's, and takes as long as it takes."""
        tab = self.tab
        tab.seconds = tab.patience = SETUP_SECONDS
        try:
            yield
        finally:
            tab.seconds, tab.patience = self.settings.seconds, QUIET_SECONDS

    def load_libraries(self) -> None:
        """Begin to load what tasks of its host have in common; nobody waits for it."""
        if self._ahead is not None and self._ahead.libraries:
            loaded = f"__ludus.shared('{self._ahead.libraries}')"
            self._libraries = self.tab.post("Runtime.evaluate", {"expression": loaded, "awaitPromise": True})

    @property
    def libraries_loaded(self) -> bool:
        """Whether they are there."""
        return self._libraries is not None and self._libraries.done

    def load(self, url: str) -> None:
        """Begin with a page, before which there was none: navigated to, or written by `opening` over the empty one."""
        page = None if self._ahead is None else self._ahead.page(url, self.libraries_loaded)
        if page is None:
            self._navigate(url)
        else:
            self.opening = f"await __ludus.write({json.dumps(url)},{json.dumps(page)});"

    def _navigate(self, url: str) -> None:
        with self.setting_up():
            self.tab.navigate(url)
        self.tab.post("Page.resetNavigationHistory")

    def _open_tab(self, url: str = "") -> None:
        seconds, held = SETUP_SECONDS, bool(url) and self.browser.holds_pages
        params = {"url": url if held else "about:blank", "browserContextId": self.id}
        target = str(self.tools.call("Target.createTarget", params, seconds=seconds)["targetId"])
        session = self.browser.attached(target, seconds)
        tab = Tab(self.tools, target, session, settings=self.settings, owner=self, loading=held)
        self.tabs.append(tab)
        tab.wait_prepared()
        if held:
            tab.wait_loaded(seconds)
        elif url:
            self._navigate(url)

    def new_tab(self) -> None:
        """Open an empty tab, and act there."""
        if len(self.tabs) >= MAX_TABS:
            raise PageError(f"there are {MAX_TABS} tabs already; close one with tab_close()")
        self._open_tab()
        self._focus(len(self.tabs) - 1)

    def focus_tab(self, index: int) -> None:
        """Act in another tab."""
        if not 0 <= index < len(self.tabs):
            raise PageError(f"there is no tab {index}; there are {len(self.tabs)}, from 0")
        self._focus(index)

    def close_tab(self) -> None:
        """Close the tab, and act in the one before; the last one is emptied instead."""
        if len(self.tabs) == 1:
            self.tab.navigate("about:blank")
            return
        tab = self.tabs.pop(self.active)
        tab.close()
        self.tools.post("Target.closeTarget", {"targetId": tab.target})
        self._focus(max(0, self.active - 1))

    def _focus(self, index: int) -> None:
        self.active = index
        self.tab.post("Page.bringToFront")

    def settle(self, milliseconds: float, look: str = "null") -> PageView | None:
        """Wait until the active tab is quiet, and give what an expression says then; a page that it opened is active.

        None where another page is the active one now, and nobody has looked at it.
        """
        tab = self.tab
        seen = tab.settle(milliseconds, look)
        with self._changes:
            self._changes.wait_for(lambda: self._expected <= 0, POPUP_SECONDS)
            self._expected, opened, self._opened_one = 0, self._opened_one, False
            self.tabs = [tab for tab in self.tabs if tab.gone != "it was closed"] or self.tabs
        if opened:
            self._focus(len(self.tabs) - 1)
            tab = self.tab
            seen = tab.settle(milliseconds, look)
        self.active = min(self.active, len(self.tabs) - 1)
        return seen if tab is self.tab else None

    def close(self) -> None:
        """Dispose of it, with all that its pages stored; harmless twice."""
        if self._closed:
            return
        self._closed = True
        self.browser.openers.pop(self.id, None)
        self.browser.closers.pop(self.id, None)
        for tab in self.tabs:
            tab.close()
            self.tools.forget(tab.session)
        with suppress(ChannelError):
            self.tools.post("Target.disposeBrowserContext", {"browserContextId": self.id})

    # --- from the reading thread ---

    def expect(self) -> None:
        """A page said that it opens another."""
        with self._changes:
            self._expected += 1

    def _opened(self, target: str, session: str) -> None:
        with self._changes:
            self._expected -= 1
            if len(self.tabs) >= MAX_TABS:
                self.tools.post("Target.closeTarget", {"targetId": target})
            else:
                self.tabs.append(Tab(self.tools, target, session, settings=self.settings, owner=self, loading=True))
                self._opened_one = True
            self._changes.notify_all()

    def _detached(self, session: str) -> None:
        for tab in self.tabs:
            if tab.session == session:
                tab.close()

    def answer(self, request: PageRequest) -> PageResponse | None:
        """What a page is answered; None refuses it."""
        if request.url.endswith(BLANK_PATH):
            return BLANK
        if request.url.endswith("/favicon.ico"):
            return NO_ICON
        response = self.serve(request) if self.serve is not None else None
        if response is None and len(self.refused) < 100:
            self.refused.append(request.url[:500])
        return response


class Spares:
    """Contexts that were made ahead, so that a reset finds one loaded. Each is handed out once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready: OrderedDict[Start, list[Context]] = OrderedDict()
        self._making: Counter[Start] = Counter()
        self._claimed: Counter[Start] = Counter()
        """How many wait for one under way: each of those is for one of them."""
        self.seconds = 0.0
        """What the last one took to make."""

    def take(self, browser: Chromium, start: Start) -> Context:
        """One that begins so: made ahead, under way, empty and then loaded, or made now."""
        found = self._made(browser, start)
        if found is None and start.empty != start:
            found = self._made(browser, start.empty)
            if found is not None:
                found.load(start.url)
        return Context(browser, start) if found is None else found

    def _made(self, browser: Chromium, start: Start) -> Context | None:
        with self._changed:
            found = self._pop(browser, start)
            if found is None and self._making[start] > self._claimed[start]:
                self._claimed[start] += 1
                under_way = self._making[start]
                self._changed.wait_for(lambda: self._ready.get(start) or self._making[start] < under_way, SETUP_SECONDS)
                self._claimed[start] -= 1
                found = self._pop(browser, start)
            return found

    def _pop(self, browser: Chromium, start: Start) -> Context | None:
        kept = self._ready.get(start, [])
        found = next((one for one in kept if one.browser is browser and one.tab.gone is None), None)
        if found is not None:
            kept.remove(found)
        return found

    def prepare(self, browser: Chromium, start: Start, *, bare: bool = False) -> threading.Thread | None:
        """Have one made in the background, unless one is there or for nobody yet; `bare`: without libraries.

        Who makes it, for a caller with nothing better to do than to wait.
        """
        with self._changed:
            there = sum(one.browser is browser for one in self._ready.get(start, []))
            if there + self._making[start] - self._claimed[start] > 0:
                return None
            self._making[start] += 1
        maker = threading.Thread(target=partial(self._make, browser, start, bare=bare), name="ludus-spare", daemon=True)
        maker.start()
        return maker

    def _make(self, browser: Chromium, start: Start, *, bare: bool) -> None:
        made: list[Context] = []
        begun = time.monotonic()
        with suppress(ProtocolError, ChannelError, PageError):  # the next use makes it, and hears why it fails
            made.append(Context(browser, start))
            self.seconds = time.monotonic() - begun
            if not bare:
                made[0].load_libraries()
        dropped: list[Context] = []
        with self._changed:
            self._making[start] -= 1
            self._ready.setdefault(start, []).extend(made)
            self._ready.move_to_end(start)
            while sum(map(len, self._ready.values())) > MAX_SPARES:
                dropped += self._ready.popitem(last=False)[1]
            for one in list(self._ready.values()):
                dropped += [each for each in one if not each.browser.lives]
                one[:] = [each for each in one if each.browser.lives]
            self._changed.notify_all()
        for one in dropped:
            one.close()

    def wait(self, seconds: float = 30.0) -> bool:
        """Wait until none is being made, and tell whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._making.total(), seconds)
