"""Forges: one in a sandbox of its own, behind git's own `http-backend`, or one elsewhere by its URL."""

import base64
import json
import os
import re
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from ludus.envs.open.git.box import CONFIG, ForgeResponse, GitBox, GitRequest
from ludus.envs.open.git.objects import Repository, Seen, seen
from ludus.errors import ChannelError, EnvError, InvalidArgument, shorten

__all__ = ["HOST", "OWNER", "Forge", "LocalForge", "RemoteForge"]

HOST, OWNER = "forge.local", "team"
"""Where git inside a workspace finds the forge, whichever it is, and whose repositories they are."""
REQUEST_TIMEOUT_S = 20.0
MAX_BODY_BYTES = 32 << 20
PAGE, MAX_PAGES = 50, 20
"""Repositories that a forge tells at a time, and how often it is asked for more."""
GIT_PATH = re.compile(r"/[\w-][\w.-]*/[\w-][\w.-]*/(?:info/refs\?service=)?git-(?:upload|receive)-pack", re.ASCII)
"""What git asks a forge for: a repository's refs and packs, and none of the pages and none of the API that is there."""
PASSED = ("content-type", "content-encoding", "git-protocol", "accept")
BARE = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[http]\n\treceivepack = true\n[gc]\n\tauto = 0\n"


class Forge(ABC):
    """A host of repositories that speaks git's smart HTTP."""

    @abstractmethod
    def repos(self) -> list[dict[str, str]]:
        """What it has, as OpenEnv lists it."""

    @abstractmethod
    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ForgeResponse:
        """Answer a request of git."""

    def ask(self, request: GitRequest, body: bytes) -> ForgeResponse:
        """Answer what came out of a workspace: requests to the forge, and to nobody else."""
        where = urlsplit(request.url)
        if where.scheme != "http" or where.netloc != HOST or request.method not in ("GET", "POST", "HEAD"):
            return ForgeResponse(403, {"Content-Type": "text/plain"}, b"there is no network but the forge\n")
        path = where.path + (f"?{where.query}" if where.query else "")
        if GIT_PATH.fullmatch(path) is None:  # the agent speaks with the rights of whoever gave user and password
            return ForgeResponse(404, {"Content-Type": "text/plain"}, b"there is nothing here but repositories\n")
        headers = {name: value for name, value in request.headers.items() if name in PASSED}
        return self.answer(request.method, path, headers, body)

    def close(self) -> None:
        """End it; harmless twice."""
        return


class LocalForge(Forge):
    """Repositories in a sandbox that is kept from one episode to the next; each begins with an empty one.

    >>> repository = Repository()
    >>> tip = repository.commit("main", {"a.txt": "one"}, "Begin", author="Ada <ada@example.com>")
    >>> forge = LocalForge()
    >>> forge.fill({"atlas": repository})
    >>> forge.look("atlas").tip("main") == tip, forge.repos()[0]["clone_url"]
    (True, 'http://forge.local/team/atlas.git')
    >>> forge.close()
    """

    def __init__(self) -> None:
        self._box: GitBox | None = None
        self._names: list[str] = []

    def fill(self, repositories: dict[str, Repository]) -> None:
        """Have these repositories, and no other."""
        box = self._ready()
        left = box.call("clear")["left"]
        if left:
            raise EnvError(f"forge: expected to begin with no repository, got {shorten(left)}")
        files: dict[str, bytes] = {"~/.gitconfig": CONFIG.format(name="Forge", email="forge@example.com").encode()}
        for name, repository in repositories.items():
            files |= bare_files(f"{OWNER}/{name}.git/", repository, BARE)
        put(box, files)
        self._names = sorted(repositories)

    def repos(self) -> list[dict[str, str]]:
        return self.listed(self._names)

    def listed(self, names: Iterable[str]) -> list[dict[str, str]]:
        """Repositories of these names as it will list them, before it has them."""
        return [_listed(OWNER, name) for name in sorted(names)]

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ForgeResponse:
        try:
            told = self._ready().call(
                "http", body, method=method, path=path, headers=headers, deadline=REQUEST_TIMEOUT_S
            )
        except (ChannelError, OSError):
            return ForgeResponse(502)
        return ForgeResponse(told["status"], told["headers"], told["data"])

    def look(self, name: str) -> Seen:
        """A repository as it is now."""
        told = self._ready().call("look", name=f"{OWNER}/{name}.git")
        return seen(told["data"], told["sizes"], told["states"])

    def imported(self, files: Sequence[tuple[str, int, int]], data: bytes) -> Seen | None:
        """A repository that came out of a workspace, looked at here, where nothing of its configuration is."""
        try:
            told = self._ready().call("import", data, files=files)
        except OSError:
            return None
        beside, at = dict[str, str](), 0
        for path, _, size in files:
            if path.startswith("tree/"):
                beside[path[5:]] = data[at : at + size].decode("utf8", "replace")
            at += size
        return seen(told["data"], told["sizes"], told["states"], beside)

    def close(self) -> None:
        if self._box is not None:
            self._box.close()
            self._box = None

    def _ready(self) -> GitBox:
        if self._box is None:
            self._box = GitBox("server")
        return self._box


class RemoteForge(Forge):
    """A forge by its URL, as Gitea is one. User and password stay in this process: no workspace has them.

    >>> RemoteForge("http://localhost:3000", "openenv", "secret").base
    'http://localhost:3000'
    """

    def __init__(self, url: str, username: str = "", password: str = "") -> None:
        where = urlsplit(url)
        if where.scheme not in ("http", "https") or not where.netloc:
            raise InvalidArgument(f"Git forge: expected an http or https URL, got {shorten(url)}")
        self.base = url.rstrip("/")
        word = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {word}"} if username else {}

    def repos(self) -> list[dict[str, str]]:
        """By Gitea's API, which tells them page by page."""
        found: list[dict[str, object]] = []
        for page in range(1, MAX_PAGES + 1):
            found += (here := self._page(page))
            if len(here) < PAGE:
                break
        return [_listed(*str(one["full_name"]).split("/", 1), about=str(one["description"])) for one in found]

    def _page(self, page: int) -> list[dict[str, object]]:
        told = self._asked("GET", f"/api/v1/repos/search?limit={PAGE}&page={page}", {"accept": "application/json"}, b"")
        if told.status in (401, 403):
            raise EnvError(
                f"forge {self.base}: expected to be let in, got status {told.status}; give username= and password=, or "
                "GITEA_USERNAME and GITEA_PASSWORD"
            )
        if told.status != 200:
            said = told.body[:200].decode("utf8", "replace")
            raise EnvError(f"forge {self.base}: expected a list of repositories, got status {told.status} {said}")
        return json.loads(told.body)["data"]

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ForgeResponse:
        return self._asked(method, path, headers, body)

    def _asked(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ForgeResponse:
        request = urllib.request.Request(  # noqa: S310  (http or https, as was checked)
            self.base + path, body if method == "POST" else None, headers | self._headers, method=method
        )
        try:
            with _STRAIGHT.open(request, timeout=REQUEST_TIMEOUT_S) as told:
                kept = {name: value for name, value in told.headers.items() if name.lower() == "content-type"}
                return ForgeResponse(told.status, kept, told.read(MAX_BODY_BYTES))
        except urllib.error.HTTPError as error:
            return ForgeResponse(error.code)
        except OSError as error:
            return ForgeResponse(502, {"Content-Type": "text/plain"}, str(error).encode())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take user and password along, wherever it leads; its status is the answer."""

    def redirect_request(
        self, req: object, fp: object, code: object, msg: object, headers: object, newurl: object
    ) -> None:
        """None: nothing is asked for elsewhere."""
        del req, fp, code, msg, headers, newurl


_STRAIGHT = urllib.request.build_opener(_NoRedirect)


def forge_of(url: str | None, username: str | None, password: str | None) -> RemoteForge | None:
    """The forge that arguments or OpenEnv's variables name; None: one of our own."""
    address = url or os.environ.get("GITEA_URL")
    if not address:
        return None
    user = os.environ.get("GITEA_USERNAME", "") if username is None else username
    return RemoteForge(address, user, os.environ.get("GITEA_PASSWORD", "") if password is None else password)


def put(box: GitBox, files: dict[str, bytes]) -> None:
    """Write files into a box."""
    rows = [[path, 0o644, len(data)] for path, data in files.items()]
    box.call("put", b"".join(files.values()), files=rows)


def bare_files(prefix: str, repository: Repository, config: str) -> dict[str, bytes]:
    """A repository as files."""
    files = {f"{prefix}HEAD": f"ref: {repository.head}\n".encode(), f"{prefix}config": config.encode()}
    files |= {f"{prefix}{ref}": f"{target}\n".encode() for ref, target in repository.refs.items()}
    return files | repository.loose(prefix)


def _listed(owner: str, name: str, about: str = "") -> dict[str, str]:
    url = f"http://{HOST}/{owner}/{name}.git"
    return {"name": name, "owner": owner, "full_name": f"{owner}/{name}", "clone_url": url, "description": about}
