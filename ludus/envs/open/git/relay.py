"""A remote helper of git that speaks smart HTTP through two pipes: for sandboxes in which there is no socket at all.

The text of this file is what is started inside; git calls it as `git-remote-http NAME URL` and speaks to it as to its
own helper. `connect` and `capabilities` are git's words.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import sys

__all__ = ["main"]

LONG_COMMAND = 90
"""Of a push: shorter lines name no two objects."""


class PipedRepository:
    """One repository, behind two pipes that all helpers share."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asking, self.answering = map(int, os.environ["LUDUS_RELAY"].split(","))

    def exchange(self, method: str, path: str, *, body: bytes = b"", kind: str = "", protocol: str = "") -> bytes:
        """A request, and the body of its answer; what is no success ends this program."""
        headers = {"content-type": kind, "git-protocol": protocol}
        head = {"method": method, "url": self.url + path, "headers": headers}
        text = json.dumps([head, base64.b64encode(body).decode()]).encode()
        with open(os.environ["LUDUS_RELAY_LOCK"], "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            view = memoryview(len(text).to_bytes(4, "big") + text)
            while view:
                view = view[os.write(self.asking, view) :]
            status, data = json.loads(self._taken(int.from_bytes(self._taken(4), "big")))
        if status == 404:
            fail(f"repository '{self.url}/' not found")
        if status != 200:
            fail(f"unable to access '{self.url}/': The requested URL returned error: {status}")
        return base64.b64decode(data)

    def _taken(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = os.read(self.answering, size - len(data))
            if not piece:
                fail("the forge is gone")
            data += piece
        return data

    def advertised(self, service: str, protocol: str) -> bytes:
        """What a repository has, without the line that names the service."""
        data = self.exchange("GET", f"/info/refs?service={service}", protocol=protocol)
        return data[int(data[:4], 16) + 4 :] if data[4:14] == b"# service=" else data

    def post(self, service: str, body: bytes, protocol: str) -> bytes:
        """A request to a service."""
        kind = f"application/x-{service}-request"
        return self.exchange("POST", f"/{service}", body=body, kind=kind, protocol=protocol)


def fail(reason: str) -> None:
    """End as git's own helper would."""
    sys.stderr.write(f"fatal: {reason}\n")
    sys.exit(128)


def say(data: bytes) -> None:
    """Say something to git."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def packet() -> bytes:
    """A packet from git, with its length; empty at the end."""
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        return b""
    return head + (sys.stdin.buffer.read(int(head, 16) - 4) if int(head, 16) > 4 else b"")


def packets() -> list[bytes]:
    """Packets up to a flush, or to the end."""
    found = [packet()]
    while found[-1] not in (b"", b"0000"):
        found.append(packet())
    return found


def fetch(forge: PipedRepository) -> None:
    """Questions and answers of protocol 2, until git has heard enough."""
    say(b"\n" + forge.advertised("git-upload-pack", "version=2"))
    while True:
        request = packets()
        if not request[-1] or len(request) == 1:
            return
        say(forge.post("git-upload-pack", b"".join(request), "version=2"))


def push(forge: PipedRepository) -> None:
    """Commands, objects unless all are deletions, and a report."""
    say(b"\n" + forge.advertised("git-receive-pack", ""))
    request = packets()
    if len(request) < 2 or not request[-1]:
        return
    commands = [one[4:].split(b"\0")[0].split() for one in request[:-1] if len(one) > LONG_COMMAND]
    deletes = all(fields[1].strip(b"0") == b"" for fields in commands)
    say(forge.post("git-receive-pack", b"".join(request) + (b"" if deletes else sys.stdin.buffer.read()), ""))


def main(url: str) -> None:
    """Answer git's commands."""
    forge = PipedRepository(url)
    while True:
        line = sys.stdin.buffer.readline().decode().strip()
        if line == "capabilities":
            say(b"connect\n\n")
        elif line == "connect git-upload-pack":
            return fetch(forge)
        elif line == "connect git-receive-pack":
            return push(forge)
        elif line.startswith("connect"):
            say(b"fallback\n")
        else:
            return None


if __name__ == "__main__":
    main(sys.argv[2])
