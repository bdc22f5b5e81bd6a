"""MiniWoB++: the pages of the `miniwob` wheel, served from its files. This is the one file that knows the package."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ludus.envs.open.browsergym.tab import PageRequest, PageResponse
from ludus.errors import InvalidArgument, MissingExtra, did_you_mean, shorten

__all__ = [
    "FLAWED",
    "HOST",
    "LIBRARIES_PATH",
    "begin_script",
    "miniwob_page",
    "miniwob_tasks",
    "serve_miniwob",
    "task_url",
]

HOST = "miniwob.test"
LEFT_OUT = {"flight.AA", "flight.Alaska", "flight.Alaska-auto"}
FLAWED: dict[str, str] = {}
"""Tasks whose pages have a defect of their own, with what it is."""
LIBRARIES_PATH = "/.libraries"
"""For a frame of an empty page: the window of the page itself sees none of them."""
LIBRARIES = (
    "core/core.js",
    "core/d3.v3.min.js",
    "core/jquery-ui/external/jquery/jquery.js",
    "core/jquery-ui/jquery-ui.min.js",
    "core/jquery-ui-hacks.js",
    "common/ui_utils.js",
)
"""Scripts of many tasks, two thirds of the time that a page takes to load. A renderer compiles each of them once if it
is a file of its own that may be kept."""
STYLES = ("core/jquery-ui/jquery-ui.min.css",)
KEPT = ("Cache-Control", "max-age=86400")
MAX_PAGES = 16
"""Of tasks, that a process remembers: one is 0.4 MiB with its libraries in it, and put together in a millisecond."""
SCRIPT = re.compile(rb"""<script\s+src=["']([^"']+)["']\s*>\s*</script>""")
STYLE = re.compile(rb"""<link\s[^>]*href=["']([^"']+\.css)["'][^>]*>""")


@cache
def _folder() -> Path:
    found = find_spec("miniwob")
    if found is None or found.origin is None:
        raise MissingExtra('MiniWoB: expected the package miniwob, got none; pip install "ludus-rl[browser]"')
    return (Path(found.origin).parent / "html").resolve()  # by way of a link no file would be in it


@cache
def miniwob_tasks() -> tuple[str, ...]:
    """The names of all tasks of the wheel."""
    plain = sorted(path.stem for path in (_folder() / "miniwob").glob("*.html"))
    flights = sorted(f"flight.{path.parent.name}" for path in (_folder() / "flight").glob("*/wrapper.html"))
    return (*plain, *flights)


def task_url(task: str) -> str:
    """The address of a task; InvalidArgument where there is none of that name."""
    if task not in miniwob_tasks():
        meant = did_you_mean(task, list(miniwob_tasks()))
        raise InvalidArgument(
            f"BrowserGym task: expected one of {len(miniwob_tasks())} of miniwob, got {shorten(task)}{meant}"
        )
    if task.startswith("flight."):
        return f"http://{HOST}/flight/{task.removeprefix('flight.')}/wrapper.html"
    return f"http://{HOST}/miniwob/{task}.html"


def begin_script(seed: int, time_limit: float | None) -> str:
    """What begins an episode in the page that waits at its START cover: seed, time, nothing that is for people only."""
    limit = 1e9 if time_limit is None else time_limit * 1000
    return (
        f"Math.seedrandom({seed});core.EPISODE_MAX_TIME={limit:g};"
        "for(const id of ['reward-display','sync-task-cover','click-canvas']){"
        "const one=document.getElementById(id);if(one){one.setAttribute('data-ludus-hidden','');"
        "one.style.visibility='hidden'}}"
        "core.hideDisplay();"
        f"const limit=core.EPISODE_MAX_TIME;core.startEpisodeReal();core.EPISODE_MAX_TIME=limit;"
    )


def serve_miniwob(request: PageRequest) -> PageResponse | None:
    """A file of the wheel; anything else is refused."""
    address = urlsplit(request.url)
    return _served(unquote(address.path)) if address.hostname == HOST and request.method == "GET" else None


@lru_cache(MAX_PAGES)
def miniwob_page(url: str, shared: bool) -> str | None:
    """The page of a task as it is written into an empty one, which has the libraries, or has not; None for others."""
    file = _folder() / urlsplit(url).path.lstrip("/")
    if file.parent.name != "miniwob" or not file.is_file():
        return None
    return _inlined(file.read_bytes(), file.parent, besides=LIBRARIES if shared else ()).decode()


@lru_cache(MAX_PAGES)
def _served(path: str) -> PageResponse | None:
    root = _folder()
    file = (root / path.lstrip("/")).resolve()
    if path == LIBRARIES_PATH:
        return PageResponse(200, (("Content-Type", "text/html; charset=utf-8"),), _libraries())
    if not file.is_relative_to(root) or not file.is_file():
        return None
    data, kind = file.read_bytes(), guess_type(file.name)[0] or "application/octet-stream"
    if file.suffix == ".html" and file.parent.name == "miniwob":
        data = _inlined(data, file.parent)
    headers = (("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind),)
    return PageResponse(200, headers if file.suffix == ".html" else (*headers, KEPT), data)


def _libraries() -> bytes:
    styles = "".join(f'<link rel="stylesheet" href="/{one}">' for one in STYLES)
    scripts = "".join(f'<script src="/{one}"></script>' for one in LIBRARIES)
    return f"<!doctype html>{styles}{scripts}".encode()


def _inlined(page: bytes, folder: Path, besides: Sequence[str] = ()) -> bytes:
    """The page with its scripts and styles in it: one request instead of ten, each of which would cross two pipes."""
    left = {(_folder() / one).resolve() for one in besides}

    def script(found: re.Match[bytes]) -> bytes:
        file = (folder / found[1].decode()).resolve()
        if file in left or not file.is_file() or b"</script" in (text := file.read_bytes()):
            return found[0]
        return b"<script>" + text + b"\n</script>"

    def style(found: re.Match[bytes]) -> bytes:
        file = (folder / found[1].decode()).resolve()
        if not file.is_file() or b"url(" in (text := file.read_bytes()):
            return found[0]
        return b"<style>" + text + b"\n</style>"

    return STYLE.sub(style, SCRIPT.sub(script, page))
