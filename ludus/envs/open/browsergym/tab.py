"""`Tab`: one page of an episode. It navigates, runs scripts of ours in the page, and waits until the page is quiet."""

import base64
import json
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Required, TypedDict

from ludus.envs.open.browsergym.devtools import DevTools, Event, ProtocolError, Reply, part
from ludus.spaces.kinds import is_dict, is_list

__all__ = ["ElementBox", "PageError", "PageRequest", "PageView", "PageResponse", "Serve", "Tab", "TabSettings"]

QUIET_SECONDS = 5.0
"""A page that has not loaded what it asked for by then is taken as it is."""
NAVIGATED = ("navigated or closed", "context was destroyed", "Cannot find context", "context with specified id")
NEXT = "next"
"""Any document that comes after this one."""
REFUSED_PAGE = (
    b"<!doctype html><title>Refused</title><h1>Refused</h1><p>This address is not part of the environment.</p>"
)


class PageRequest(NamedTuple):
    """What a page asks for."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class PageResponse(NamedTuple):
    """What it is answered."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class TabSettings(NamedTuple):
    """How a page is shown, and how its dialogs are answered."""

    width: int
    height: int
    accept_dialogs: bool
    seconds: float


Serve = Callable[[PageRequest], PageResponse | None]


class ElementBox(NamedTuple):
    """Where an element is in the picture of its page."""

    bid: str
    x: float
    y: float
    wide: float
    high: float


class PageView(TypedDict, total=False):
    """What our script in a page tells of it; of a page without our script the address alone."""

    tree: str
    html: str
    boxes: list[tuple[str, float, float, float, float]]
    url: Required[str]
    probed: Required[object]


class PageError(Exception):
    """An action did not fit the page; the text is for the agent."""


class TabOwner(Protocol):
    """What a page tells, and asks, of the context that it is in."""

    dialogs: list[dict[str, object]]

    def expect(self) -> None:
        """Another page is being opened."""
        ...

    def answer(self, request: PageRequest) -> PageResponse | None:
        """What is at an address; None where nothing is."""
        ...


class Tab:
    """A page, with the session that drives it. Its events come by another thread; its methods are one thread's."""

    def __init__(
        self,
        tools: DevTools,
        target: str,
        session: str,
        *,
        settings: TabSettings,
        owner: TabOwner,
        loading: bool = False,
    ) -> None:
        self.tools, self.target, self.session, self.settings = tools, target, session, settings
        self.owner, self.seconds = owner, settings.seconds
        self.patience = QUIET_SECONDS
        """Seconds that a document may take to load; more where it is no doing of the agent's."""
        self.gone: str | None = None
        self._changes = threading.Condition()
        self._loading = False
        self._awaited: str | None = None
        """The document whose loading is waited for; events of the one before it are late, and no answer."""
        self._committed = self._finished = ""
        self._frame = target
        self._frames_loading: set[str] = set()
        """Of the frames in the page, those that are on the way to another document."""
        if loading:  # it was opened with an address, and waits for us before it goes there
            self._expect(NEXT)
        tools.subscribe(session, self._on_event)
        self._prepare()

    def _prepare(self) -> None:
        width, height = self.settings.width, self.settings.height
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        for method, params in (
            ("Page.enable", {}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _scripts()}),
            ("Runtime.runIfWaitingForDebugger", {}),
        ):
            self._prepared = self.post(method, params)

    def wait_prepared(self) -> None:
        """Wait until it is watched: a navigation before that would escape our scripts."""
        self._prepared.result(max(60.0, self.seconds))

    # --- calls ---

    def post(self, method: str, params: Mapping[str, object] | None = None) -> Reply:
        """Send a call without waiting."""
        return self.tools.post(method, params, self.session)

    def call(self, method: str, params: Mapping[str, object] | None = None) -> Event:
        """Send a call and wait."""
        if self.gone is not None:
            raise ProtocolError(f"the page is gone: {self.gone}")
        return self.post(method, params).result(self.seconds)

    def evaluate(self, expression: str) -> Any:
        """What an expression gives in the page, awaited; PageError where it throws."""
        params = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        result = self.call("Runtime.evaluate", params)
        if "exceptionDetails" in result:
            thrown = part(result, "exceptionDetails")
            exception = part(thrown, "exception") if "exception" in thrown else {}
            description = str(exception.get("description", thrown.get("text", "it failed")))
            raise PageError(description.partition("\n")[0].removeprefix("Error: "))
        return part(result, "result").get("value")

    def view(self, look: str) -> PageView:
        """What one sees of the page, by the expression that looks."""
        return self.evaluate(look)

    def ask(self, function: str, *arguments: object) -> Any:
        """Call one of our functions in the page."""
        return self.evaluate(f"__ludus.{function}({','.join(map(json.dumps, arguments))})")

    # --- navigation ---

    def navigate(self, url: str) -> None:
        """Go to an address, and wait until it has loaded."""
        self._expect(NEXT)
        try:
            answer = self.call("Page.navigate", {"url": url})
        except ProtocolError as error:
            self._expect_nothing()
            if "invalid URL" in str(error):
                raise PageError(f"'{url}' is no address") from None
            raise
        if answer.get("errorText") or "loaderId" not in answer:
            self._expect_nothing()
        else:
            self._expect(str(answer["loaderId"]))
        if answer.get("errorText"):
            raise PageError(f"'{url}' could not be opened: {answer['errorText']}")
        self.wait_loaded()

    def _expect(self, document: str) -> None:
        with self._changes:
            self._awaited, self._loading = document, self._finished != document

    def _expect_nothing(self) -> None:
        with self._changes:
            self._awaited, self._loading = None, False

    def history(self, by: int) -> None:
        """Go back or forward; PageError where there is nothing."""
        history = self.call("Page.getNavigationHistory")
        index, entries = history["currentIndex"], history["entries"]
        if not isinstance(index, int) or not is_list(entries):
            raise ProtocolError("expected a history of the page, got none")
        at, ids = index + by, [entry["id"] for entry in entries if is_dict(entry)]
        if not 0 <= at < len(ids):
            raise PageError("there is no page to go back to" if by < 0 else "there is no page to go forward to")
        self._expect(NEXT)
        self.call("Page.navigateToHistoryEntry", {"entryId": ids[at]})
        self.wait_loaded()

    @property
    def loading(self) -> bool:
        """Whether the page, or a frame in it, is on the way to another document."""
        return self._loading or bool(self._frames_loading)

    def wait_loaded(self, seconds: float | None = None) -> None:
        """Wait for a navigation under way, as long as a page may take."""
        with self._changes:
            quiet = partial(self._changes.wait_for, lambda: not self.loading or self.gone is not None)
            self.tools.patience.wait(quiet, seconds or self.patience)
            self._awaited, self._loading = None, False
            self._frames_loading.clear()

    def settle(self, milliseconds: float, look: str = "null") -> PageView | None:
        """Let time pass in the page, wait for whatever that sets going, and give what an expression says then."""
        until = time.monotonic() + self.settings.seconds
        while self.gone is None:
            self.wait_loaded()
            try:
                passed = f"__ludus.advance({milliseconds},{QUIET_SECONDS * 1000:g})"
                seen = self.evaluate(f"window.__ludus?{passed}.then(()=>({look})):({look})")
            except ProtocolError as error:
                if self.gone is None and any(word in str(error) for word in NAVIGATED) and time.monotonic() < until:
                    continue
                raise
            if not self.loading:
                return seen
            if time.monotonic() > until:
                raise ProtocolError(f"the page was not quiet within {self.settings.seconds:g} s")
        return None

    def screenshot(self) -> bytes:
        """What is in view, as PNG."""
        shot = self.call("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(str(shot["data"]))

    def close(self) -> None:
        """Hear nothing of it any more."""
        self.tools.unsubscribe(self.session)
        self._end("it was closed")

    # --- events, from the reading thread ---

    def _on_event(self, method: str, params: Event) -> None:
        if method == "Fetch.requestPaused":
            self._answer(params)
        elif method == "Page.javascriptDialogOpening":
            self._on_dialog(params)
        elif method == "Page.windowOpen":
            self.owner.expect()
        elif method == "Inspector.targetCrashed":
            self._end("it crashed")
        elif method == "Page.frameNavigated" and part(params, "frame")["id"] == self._frame:
            self._on_document(str(part(params, "frame").get("loaderId", "")))
        elif method == "Page.loadEventFired" or params.get("frameId") == self._frame:
            self._on_load(method, params)
        elif "frameId" in params:
            self._on_frame(method, str(params["frameId"]), str(params.get("disposition", "currentTab")))

    def _on_document(self, document: str) -> None:
        with self._changes:
            if self._awaited is not None:  # the one that is waited for, or one to which that sent the browser on
                self._awaited = document if self._awaited in (NEXT, self._committed) else self._awaited
            self._committed = document

    def _on_load(self, method: str, params: Event) -> None:
        with self._changes:
            if method == "Page.frameRequestedNavigation" and params.get("disposition", "currentTab") == "currentTab":
                self._loading = True
            elif method == "Page.navigatedWithinDocument":
                self._awaited, self._loading = None, False
            elif method in ("Page.loadEventFired", "Page.frameStoppedLoading"):
                self._finished = self._committed
                if self._awaited in (None, self._committed):
                    self._awaited, self._loading = None, False
            self._changes.notify_all()

    def _on_frame(self, method: str, frame: str, disposition: str) -> None:
        begins = method == "Page.frameRequestedNavigation" and disposition == "currentTab"
        with self._changes:
            if begins or method == "Page.frameStartedLoading":
                self._frames_loading.add(frame)
            elif method in ("Page.frameStoppedLoading", "Page.frameDetached", "Page.navigatedWithinDocument"):
                self._frames_loading.discard(frame)
            self._changes.notify_all()

    def _end(self, reason: str) -> None:
        with self._changes:
            self.gone = self.gone or reason
            self._changes.notify_all()

    def _on_dialog(self, params: Event) -> None:
        accept = self.settings.accept_dialogs or params["type"] == "beforeunload"
        self.owner.dialogs.append(
            {"type": params["type"], "message": str(params["message"])[:1000], "accepted": accept}
        )
        answer: dict[str, object] = {"accept": accept}
        if params["type"] == "prompt":
            answer["promptText"] = params.get("defaultPrompt", "")
        self.post("Page.handleJavaScriptDialog", answer)

    def _answer(self, params: Event) -> None:
        request = part(params, "request")
        posted = request.get("postDataEntries")
        body = b"".join(_posted(one) for one in posted) if is_list(posted) else b""
        headers = {name: str(value) for name, value in part(request, "headers").items()} if "headers" in request else {}
        response = self.owner.answer(PageRequest(str(request["method"]), str(request["url"]), headers, body))
        if response is None and params.get("resourceType") == "Document":
            response = PageResponse(403, (("Content-Type", "text/html; charset=utf-8"),), REFUSED_PAGE)
        if response is None:
            self.post("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "BlockedByClient"})
            return
        fields: dict[str, object] = {
            "requestId": params["requestId"],
            "responseCode": response.status,
            "responseHeaders": [{"name": name, "value": value} for name, value in response.headers],
            "body": base64.b64encode(response.body).decode("ascii"),
        }
        self.post("Fetch.fulfillRequest", fields)


def _posted(entry: object) -> bytes:
    return base64.b64decode(str(entry.get("bytes", ""))) if is_dict(entry) else b""


@cache
def _scripts() -> str:
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf8") for name in ("clock.js", "page.js"))
