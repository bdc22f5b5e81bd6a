"""A server that speaks the calls by which `huggingface_hub` publishes a Space: enough of them, and no more."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TOKEN = "hf_" + "t" * 20


class Hub:
    """Repositories in memory, and every call that was made."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict] = {}
        self.calls: list[tuple[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"hub": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.calls.append(("GET", path))
        parts = path.split("/")
        if path == "/api/whoami-v2":
            return self.answer(200, {"name": "ada", "type": "user"})
        name = "/".join(parts[3:5])
        if parts[:3] == ["", "api", "spaces"] and name in self.hub.repositories:
            known = self.hub.repositories[name]["files"]
            if parts[5:6] == ["tree"]:
                return self.answer(
                    200, [{"type": "file", "path": one, "size": len(known[one]), "oid": "0" * 40} for one in known]
                )
            files = [{"rfilename": one} for one in known]
            return self.answer(200, {"id": name, "sha": "0" * 40, "siblings": files, "private": False})
        return self.answer(404, {"error": f"no {path}"})

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self.chunks()
        self.hub.calls.append(("POST", path))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "Invalid username or password."})
        if path == "/api/validate-yaml":
            return self.answer(200, {"errors": [], "warnings": []})
        if path == "/api/repos/create":
            return self.create(json.loads(body))
        name, what = "/".join(path.split("/")[3:5]), path.split("/")[5]
        repository = self.hub.repositories.get(name)
        if repository is None:
            return self.answer(404, {"error": "Repository not found"})
        if what == "preupload":
            asked = json.loads(body)["files"]
            files = [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in asked]
            return self.answer(200, {"files": files})
        for line in body.splitlines():
            self.change(repository, json.loads(line))
        url = f"{self.hub.url}/spaces/{name}/commit/{'1' * 40}"
        return self.answer(200, {"commitUrl": url, "commitOid": "1" * 40, "success": True})

    def create(self, asked: dict) -> None:
        name = f"{asked.get('organization') or 'ada'}/{asked['name']}"
        url = f"{self.hub.url}/spaces/{name}"
        if name in self.hub.repositories:
            return self.answer(409, {"error": "You already created this space", "url": url})
        self.hub.repositories[name] = {"files": {".gitattributes": b""}, "asked": asked, "messages": []}
        return self.answer(200, {"url": url, "name": name, "id": name})

    def change(self, repository: dict, line: dict) -> None:
        value = line["value"]
        if line["key"] == "header":
            repository["messages"].append(value["summary"])
        elif line["key"] == "file":
            repository["files"][value["path"]] = base64.b64decode(value["content"])
        elif line["key"] == "deletedFile":
            del repository["files"][value["path"]]

    def chunks(self) -> bytes:
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def answer(self, status: int, data: dict | list) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
