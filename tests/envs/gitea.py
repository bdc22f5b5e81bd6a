"""A server on a socket that speaks what is used of Gitea: its search by pages, its password, git's own smart HTTP."""

import base64
import json
import os
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD = "openenv", "secret-word"
MAX_PER_PAGE = 50
AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


def git(*words, **options) -> str:
    """Of this machine, with nothing of its configuration."""
    alone = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    return subprocess.run(
        ["git", *AUTHOR, *words], check=True, capture_output=True, text=True, env=alone, **options
    ).stdout


class Gitea:
    """The repositories that it has, and what it was asked."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder, self.names, self.asked, self.url = folder, names, [], ""
        self.leads = ""
        """Where it sends everybody, if anywhere."""
        begun = folder / "begun"
        git("init", "-q", "-b", "main", str(begun))
        (begun / "a.txt").write_text("one\n")
        git("add", ".", cwd=begun)
        git("commit", "-q", "-m", "Begin", cwd=begun)
        git("clone", "-q", "--bare", str(begun), str(self.place(names[0])))
        git("config", "http.receivepack", "true", cwd=self.place(names[0]))

    def place(self, name: str) -> Path:
        return self.folder / f"{name}.git"

    def file(self, name: str, path: str) -> str:
        """As it is on the branch main."""
        return git("show", f"main:{path}", cwd=self.place(name))

    def search(self, query: dict[str, list[str]]) -> bytes:
        """A page of repositories, never more than Gitea's most."""
        size = min(int(query.get("limit", ["30"])[0]), MAX_PER_PAGE)
        first = (int(query.get("page", ["1"])[0]) - 1) * size
        told = [{"full_name": one, "description": f"about {one.split('/')[1]}"} for one in self.names]
        return json.dumps({"ok": True, "data": told[first : first + size]}).encode()

    def owned(self) -> bytes:
        """What the user may clone, as OpenEnv's own environment asks for it."""
        urls = {one: f"{self.url}/{one}.git" for one in self.names}
        told = [{"name": one.split("/")[1], "full_name": one, "clone_url": url} for one, url in urls.items()]
        return json.dumps(told).encode()

    def backend(self, method: str, where, headers, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Git's own program for servers."""
        variables = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": USER,
            "REQUEST_METHOD": method,
            "PATH_INFO": where.path,
            "QUERY_STRING": where.query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
        }
        said = subprocess.run(
            ["git", "http-backend"], input=body, env=variables, capture_output=True, check=True
        ).stdout
        head, _, data = said.partition(b"\r\n\r\n")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().splitlines()]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        return status, [one for one in fields if one[0] != "Status"], data


@contextmanager
def gitea(folder: Path, names: list[str]):
    """It, for as long as it takes; the first of the repositories is there, the others are names."""
    forge = Gitea(folder, names)
    known = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            forge.asked.append(f"{self.command} {where.path}")
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if forge.leads:
                self.reply(302, [("Location", f"{forge.leads}{self.path}")], b"")
            elif where.path == "/":
                self.reply(200, [("Content-Type", "text/html")], b"Gitea")
            elif self.headers.get("authorization") != known:
                self.reply(401, [("WWW-Authenticate", 'Basic realm="Gitea"')], b'{"message": "invalid credentials"}')
            elif where.path == "/api/v1/repos/search":
                self.reply(200, [("Content-Type", "application/json")], forge.search(parse_qs(where.query)))
            elif where.path == "/api/v1/user/repos":
                self.reply(200, [("Content-Type", "application/json")], forge.owned())
            else:
                self.reply(*forge.backend(self.command, where, self.headers, body))

        do_POST = do_GET

        def reply(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Requests) as server:
        forge.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield forge
        finally:
            server.shutdown()
            thread.join()
