"""`Site`: a web site without a port. Requests of pages are answered from data of one episode, which nobody shares."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import numpy as np

from ludus.envs.open.browsergym.tab import PageRequest, PageResponse

__all__ = [
    "Redirect",
    "Site",
    "SiteTask",
    "Visit",
    "field_row",
    "link",
    "options",
    "page_links",
    "post_form",
    "search_form",
]

S = TypeVar("S", bound="Site")
COOKIE = "session"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
MAX_FORM = 100_000


class Redirect(NamedTuple):
    """An answer that sends the browser elsewhere, as after every form that changed something."""

    to: str
    cookie: str = ""


@dataclass
class Visit:
    """A request as a site reads it."""

    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    forms: Mapping[str, list[str]]
    user: str
    """Who is signed in; empty for a guest."""

    def number(self, name: str, default: int = 0) -> int:
        """A number of the query or form."""
        text = self.form.get(name) or self.query.get(name) or ""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


@dataclass(frozen=True)
class SiteTask(Generic[S]):
    """What is asked of a site: the goal, a check of what the site holds, and the actions that do it.

    `check` takes the site and what was said to the user, and reads nothing that a page says.
    """

    goal: str
    check: Callable[[S, list[str]], bool]
    actions: tuple[str, ...]
    answer: bool = False
    """Whether what is asked for is a message."""
    infeasible: bool = False


Handler = Callable[..., "str | Redirect | None"]


@dataclass
class Site(ABC):
    """A site with the data of one episode. `changes` has every change of its data that a visitor made."""

    rng: np.random.Generator
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    changes: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    notice: str = ""

    name: ClassVar[str]
    title: ClassVar[str]
    user: ClassVar[str]
    password: ClassVar[str] = "correct-horse"  # noqa: S105  (of a user who is made up)
    routes: ClassVar[tuple[tuple[str, str, str], ...]]

    @property
    def host(self) -> str:
        """Where it is."""
        return f"{self.name}.test"

    def __call__(self, request: PageRequest) -> PageResponse | None:
        """Answer a request; None refuses what is for another host."""
        address = urlsplit(request.url)
        if address.hostname != self.host:
            return None
        if address.path == "/style.css":
            return PageResponse(200, (("Content-Type", "text/css"),), _style())
        try:
            return self._respond(self._visit(request), request.method)
        except UnicodeDecodeError:
            return self._page_response(400, "Bad request", "<p>The request could not be read.</p>", "")

    def _visit(self, request: PageRequest) -> Visit:
        address = urlsplit(request.url)
        body = request.body[:MAX_FORM].decode("utf8") if request.method == "POST" else ""
        pairs = dict(parse_qsl(body, keep_blank_values=True))
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in request.headers.items()}
        user = self.sessions.get(_cookie(headers.get("cookie", "")), "")
        return Visit(address.path, query, pairs, parse_qs(body), user)

    def _respond(self, visit: Visit, method: str) -> PageResponse:
        for allowed, pattern, name in self.routes:
            found = re.fullmatch(pattern, visit.path)
            if found is None or allowed != method:
                continue
            handler: Handler = getattr(self, name)
            if method == "POST" and not visit.user and name != "sign_in":
                return _redirect(Redirect("/login"))
            given = handler(visit, *(int(one) for one in found.groups()))
            if given is None:
                break
            if isinstance(given, Redirect):
                return _redirect(given)
            title, _, body = given.partition("\0")
            return self._page_response(200, title, body, visit.user)
        return self._page_response(404, "Not found", "<p>There is no such page.</p>", visit.user)

    def _page_response(self, status: int, title: str, body: str, user: str) -> PageResponse:
        notice, self.notice = self.notice, ""
        banner = f'<p class="notice" role="status">{escape(notice)}</p>' if notice else ""
        leave = post_form("/logout", "", "Sign out")
        account = f'<a href="/account">{escape(user)}</a>{leave}' if user else '<a href="/login">Sign in</a>'
        page = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · {self.title}</title>'
            f'<link rel="stylesheet" href="/style.css"></head><body class="{self.name}"><header>'
            f'<a class="brand" href="/">{self.title}</a>{self.navigation()}{account}</header>'
            f"<main>{banner}<h1>{escape(title)}</h1>{body}</main></body></html>"
        )
        return PageResponse(status, HTML, page.encode())

    @abstractmethod
    def navigation(self) -> str:
        """What stands in the head of every page."""

    # --- signing in ---

    def login(self, visit: Visit) -> str:
        """The page at which one signs in."""
        del visit
        fields = field_row("username", "User name") + field_row("password", "Password", kind="password")
        return "Sign in\0" + post_form("/login", fields, "Sign in", kind="stack card")

    def sign_in(self, visit: Visit) -> Redirect:
        """Begin a session."""
        if visit.form.get("username") != self.user or visit.form.get("password") != self.password:
            self.notice = "User name or password are wrong."
            return Redirect("/login")
        return Redirect("/", self.open_session())

    def open_session(self) -> str:
        """A new session of the user, as the value of its cookie."""
        token = self.rng.bytes(12).hex()
        self.sessions[token] = self.user
        return token

    def sign_out(self, visit: Visit) -> Redirect:
        """End all sessions."""
        del visit
        self.sessions.clear()
        return Redirect("/login")

    def change(self, *entry: object, notice: str = "") -> None:
        """Note a change that a visitor made."""
        self.changes.append(entry)
        self.notice = notice


def _redirect(to: Redirect) -> PageResponse:
    cookie = (("Set-Cookie", f"{COOKIE}={to.cookie}; Path=/; HttpOnly"),) if to.cookie else ()
    return PageResponse(303, (("Location", to.to), *cookie), b"")


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


@cache
def _style() -> bytes:
    return Path(__file__).with_name("style.css").read_bytes()


# --- pieces of pages ---


def link(to: str, text: str) -> str:
    """A link."""
    return f'<a href="{escape(to)}">{escape(text)}</a>'


def options(name: str, values: Iterable[str], chosen: str = "", *, label: str = "") -> str:
    """A choice of one."""
    each = "".join(f"<option{' selected' if one == chosen else ''}>{escape(one)}</option>" for one in values)
    return f'<select name="{name}" aria-label="{escape(label or name)}">{each}</select>'


def field_row(name: str, label: str, value: str = "", kind: str = "text") -> str:
    """A field with its label."""
    return f'<label>{escape(label)} <input type="{kind}" name="{name}" value="{escape(value)}"></label>'


def post_form(action: str, fields: str, button: str, *, kind: str = "row") -> str:
    """A form that changes something."""
    return f'<form class="{kind}" method="post" action="{action}">{fields}<button>{escape(button)}</button></form>'


def page_links(path: str, query: Mapping[str, str], page: int, pages: int) -> str:
    """Links to the page before and after."""
    rest = {key: value for key, value in query.items() if key != "page" and value}

    def to(number: int, text: str) -> str:
        return link(f"{path}?{urlencode({**rest, 'page': number})}", text)

    before = to(page - 1, "Previous") if page > 1 else ""
    after = to(page + 1, "Next") if page < pages else ""
    return f'<nav class="pages" aria-label="Pages">{before}<span>Page {page} of {pages}</span>{after}</nav>'


def search_form(path: str, label: str) -> str:
    """The search in the head of a page."""
    field = f'<input name="q" aria-label="{label}" placeholder="{label}">'
    return f'<form action="{path}">{field}<button>Search</button></form>'
