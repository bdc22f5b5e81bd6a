"""What runs inside a sandbox of Git: it keeps files, runs git, relays HTTP, and answers through descriptor 3.

The text of this file is what is started there, by whatever Python is there, as one of two. The *workspace* is where the
agent's commands run; what git asks of the forge, over HTTP, goes through the channel. The *server* has the forge's bare
repositories and git's own `http-backend`, and looks into repositories for grading: nothing that the agent configured is
there, only objects, refs and an index.
"""

from __future__ import annotations

# An episode waits for two of these to start: without `subprocess`, `shutil` and `queue` that is a third shorter.
import json
import os
import re
import select
import signal
import socket
import stat
import sys
import threading
from _queue import SimpleQueue
from contextlib import suppress
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    Message = tuple[dict[str, Any], bytes]
    Files = list[tuple[str, int, int]]

__all__ = ["main"]

CHANNEL = 3
MAX_BODY_BYTES = 32 << 20
MAX_DUMP_BYTES = 16 << 20
MAX_FILES = 4000
ENTRY = re.compile(r"(HEAD|packed-refs|index|sharedindex\.[0-9a-f]+|objects/[0-9a-f]{2}/[0-9a-f]{38}"
                   r"|objects/pack/pack-[0-9a-f]+\.(pack|idx)|refs/[^\0]+|logs/refs/stash|(MERGE|CHERRY_PICK|REVERT)_HEAD"
                   r"|rebase-merge/head-name|rebase-apply/head-name)\Z")  # fmt: skip
"""Files of a repository that are looked at: no config, no hook, no attributes, no alternates."""


class Channel:
    """Frames to and from the host; who waits for an answer to a request of its own has a number."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0
        self.waiting: dict[int, SimpleQueue[Message]] = {}
        self.calls: SimpleQueue[Message] = SimpleQueue()

    def read(self) -> None:
        """Until the host closes."""
        while True:
            head = json.loads(taken(CHANNEL, int.from_bytes(taken(CHANNEL, 4), "big")))
            data = taken(CHANNEL, int.from_bytes(taken(CHANNEL, 4), "big"))
            if "answer" in head:
                waiting = self.waiting.pop(head["answer"], None)
                if waiting is not None:
                    waiting.put((head, data))
            else:
                self.calls.put((head, data))

    def send(self, head: dict[str, Any], data: bytes = b"") -> None:
        """One frame."""
        text = json.dumps(head).encode()
        view = memoryview(len(text).to_bytes(4, "big") + text + len(data).to_bytes(4, "big") + data)
        with self.lock:
            while view:
                view = view[os.write(CHANNEL, view) :]

    def ask(self, head: dict[str, object], data: bytes) -> Message:
        """Ask the host, and wait."""
        answer: SimpleQueue[Message] = SimpleQueue()
        with self.lock:
            self.count += 1
            number = self.count
        self.waiting[number] = answer
        self.send({"http": number, **head}, data)
        return answer.get()


def taken(number: int, size: int) -> bytes:
    """So many bytes of a descriptor; once it is closed this process ends."""
    data = bytearray()
    while len(data) < size:
        piece = os.read(number, min(1 << 18, size - len(data)))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


class ForgeProxy:
    """What git sees of the forge: an HTTP proxy on a loopback of this sandbox alone, or two pipes."""

    def __init__(self, channel: Channel, home: str, relay: str) -> None:
        self.channel, self.home, self.relay = channel, home, relay
        self.variables: dict[str, str] = {}
        self.descriptors: tuple[int, ...] = ()
        if not relay:
            self._listen()
        else:
            self._pipe()

    def _listen(self) -> None:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(16)
        self.variables = {"http_proxy": f"http://127.0.0.1:{self.listener.getsockname()[1]}"}
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection = self.listener.accept()[0]
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        try:
            while self._one(connection, stream):
                pass
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def _one(self, connection: socket.socket, stream: BinaryIO) -> bool:
        first = stream.readline(8192).decode("latin1").split()
        if len(first) != 3:
            return False
        headers: dict[str, str] = {}
        while True:
            line = stream.readline(8192).decode("latin1").strip()
            if not line:
                break
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = chunks(stream) if headers.get("transfer-encoding") else stream.read(length(headers))
        answer, data = self.channel.ask({"method": first[0], "url": first[1], "headers": headers}, body)
        kept = "".join(f"{name}: {value}\r\n" for name, value in answer["headers"].items())
        connection.sendall(
            f"HTTP/1.1 {answer['status']} OK\r\n{kept}Content-Length: {len(data)}\r\n\r\n".encode("latin1") + data
        )
        return True

    def _pipe(self) -> None:
        asked, asking = os.pipe()
        answering, answer = os.pipe()
        self.descriptors = (asking, answering)
        programs = os.path.join(self.home, ".programs")
        os.mkdir(programs)
        real = started(["git", "--exec-path"], self.home, dict(os.environ), b"", 10.0)[1][0].decode().strip()
        for name in os.listdir(real):
            os.symlink(os.path.join(real, name), os.path.join(programs, name))
        for name in ("git-remote-http", "git-remote-https"):
            path = os.path.join(programs, name)
            if os.path.lexists(path):
                os.remove(path)
            with open(path, "w") as file:
                file.write(f"#!{sys.executable} -S\n{self.relay}")
            os.chmod(path, 0o700)
        self.variables = {
            "GIT_EXEC_PATH": programs,
            "LUDUS_RELAY": f"{asking},{answering}",
            "LUDUS_RELAY_LOCK": os.path.join(self.home, ".relay"),
        }
        threading.Thread(target=self._relay, args=(asked, answer), daemon=True).start()

    def _relay(self, asked: int, answer: int) -> None:
        import base64

        while True:
            head, body = json.loads(taken(asked, int.from_bytes(taken(asked, 4), "big")))
            reply, data = self.channel.ask(head, base64.b64decode(body))
            text = json.dumps([reply["status"], base64.b64encode(data).decode()]).encode()
            view = memoryview(len(text).to_bytes(4, "big") + text)
            while view:
                view = view[os.write(answer, view) :]


def length(headers: dict[str, str]) -> int:
    """Of a body."""
    size = int(headers.get("content-length") or 0)
    if not 0 <= size <= MAX_BODY_BYTES:
        raise ValueError("too long")
    return size


def chunks(stream: BinaryIO) -> bytes:
    """A body in pieces."""
    data = b""
    while True:
        size = int(stream.readline(100).split(b";")[0], 16)
        if size == 0:
            stream.readline(100)
            return data
        if len(data) + size > MAX_BODY_BYTES:
            raise ValueError("too long")
        data += stream.read(size)
        stream.readline(100)


class Work:
    """The calls of the host, one at a time."""

    def __init__(self, role: str, relay: str) -> None:
        self.home = os.path.realpath(os.environ["HOME"])
        self.root = os.path.join(self.home, "workspace" if role == "workspace" else "repositories")
        os.mkdir(self.root)
        self.channel = Channel()
        self.forge = ForgeProxy(self.channel, self.home, relay) if role == "workspace" else None

    def serve(self) -> None:
        """Answer calls."""
        threading.Thread(target=self.channel.read, daemon=True).start()
        self.channel.send({"ready": True, "root": self.root})
        while True:
            head, data = self.channel.calls.get()
            try:
                answer, more = getattr(self, "do_" + head.pop("do"))(data, **head)
            except OSError as error:
                answer, more = {"failed": error.strerror or str(error)}, b""
            except ValueError as error:
                answer, more = {"failed": str(error)}, b""
            self.channel.send(answer, more)

    # --- files ---

    def place(self, path: str) -> str:
        """Where a path of the workspace is; never outside."""
        where = os.path.realpath(os.path.join(self.root, path))
        if where != self.root and not where.startswith(self.root + "/"):
            raise ValueError("expected a path inside of /workspace, got one that leads outside")
        return where

    def do_put(self, data: bytes, files: Files) -> Message:
        """Write files: path, mode and size of each, and all contents in a row."""
        at = 0
        for path, mode, size in files:
            where = os.path.join(self.home, path[2:]) if path.startswith("~/") else os.path.join(self.root, path)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "wb") as file:
                file.write(data[at : at + size])
            os.chmod(where, mode)
            at += size
        return {}, b""

    def do_write(self, data: bytes, path: str) -> Message:
        """Write a file of the workspace, with the folders above it."""
        where = self.place(path)
        if ".git" in os.path.relpath(where, self.root).split("/"):
            raise ValueError("expected a file outside of .git")
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "wb") as file:
            file.write(data)
        return {}, b""

    def do_read(self, data: bytes, path: str, limit: int) -> Message:
        """The beginning of a file."""
        where = self.place(path)
        if not stat.S_ISREG(os.stat(where).st_mode):
            raise ValueError("expected a file")
        with open(where, "rb") as file:
            return {"size": os.fstat(file.fileno()).st_size}, file.read(limit)

    def do_list(self, data: bytes, path: str) -> Message:
        """The names in a folder, a slash behind folders."""
        where = self.place(path)
        names = sorted(os.listdir(where))[:MAX_FILES]
        return {"names": [n + "/" * os.path.isdir(os.path.join(where, n)) for n in names]}, b""

    # --- commands ---

    def do_run(
        self, data: bytes, argv: list[str], folder: str, deadline: float, limit: int, variables: dict[str, str]
    ) -> Message:
        """Run git; what it prints is cut to the limit."""
        where = self.place(folder)
        if not os.path.isdir(where):
            raise ValueError(f"expected a folder of the workspace, got {folder!r}")
        forge = self.forge
        environment = {**os.environ, **variables, **(forge.variables if forge else {})}
        argv = [re.sub(r"(?<![\w.-])/workspace(?=/|$)", lambda _: self.root, one) for one in argv]
        code, streams, late = started(
            ["git", *argv], where, environment, data, deadline, forge.descriptors if forge else ()
        )
        texts = [one.replace(self.root.encode(), b"/workspace") for one in streams]
        kept = [one[:limit] for one in texts]
        return {
            "code": code,
            "late": late,
            "out": len(kept[0]),
            "dropped": sum(map(len, texts)) - sum(map(len, kept)),
        }, b"".join(kept)

    def do_setup(self, data: bytes, commands: list[list[str]], folder: str, variables: dict[str, str]) -> Message:
        """Commands that prepare a repository; those that fail are meant to, as a merge with a conflict is."""
        for argv in commands:
            started(["git", *argv], self.place(folder), {**os.environ, **variables}, b"", 10.0)
        return {}, b""

    def do_dump(self, data: bytes, folder: str) -> Message:
        """A repository as grading wants it: what git keeps, without what could run; and the files beside it."""
        where = self.place(folder)
        found: list[tuple[str, int, int]] = []
        parts: list[bytes] = []
        for path, prefix, base in entries(where):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and sum(map(len, parts)) + status.st_size <= MAX_DUMP_BYTES:
                with open(path, "rb") as file:
                    parts.append(file.read(MAX_DUMP_BYTES))
                mode = 0o755 if status.st_mode & 0o100 else 0o644
                found.append((prefix + os.path.relpath(path, base), mode, len(parts[-1])))
        return {"files": found}, b"".join(parts)

    # --- the server ---

    def do_http(self, data: bytes, method: str, path: str, headers: dict[str, str], deadline: float) -> Message:
        """A request, answered by git's own `http-backend`."""
        where, _, query = path.partition("?")
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": method,
            "PATH_INFO": where,
            "QUERY_STRING": query,
            "REMOTE_USER": "agent",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(data)),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        }
        _, streams, late = started(["git", "http-backend"], self.home, environment, data, deadline)
        head, _, body = streams[0].partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode("latin1").split("\r\n") if line]
        found = {name.title(): value for name, _, value in lines}
        status = 504 if late else int(found.pop("Status", "200").split()[0]) if head else 500
        return {"status": status, "headers": found}, body

    def do_clear(self, data: bytes) -> Message:
        """Remove every repository, and say that nothing is left."""
        removed(self.root)
        os.mkdir(self.root)
        return {"left": os.listdir(self.root)}, b""

    def do_import(self, data: bytes, files: Files) -> Message:
        """Look into a repository that came out of a workspace: a fresh one with its objects and refs."""
        place = os.path.join(self.home, "imported")
        removed(place)
        os.makedirs(place + "/objects/pack")
        os.makedirs(place + "/refs")
        at = 0
        for path, _, size in files:
            name = path[4:] if path.startswith("git/") else ""
            if ENTRY.match(name) and ".." not in name.split("/"):
                where = os.path.join(place, name)
                os.makedirs(os.path.dirname(where), exist_ok=True)
                with open(where, "wb") as file:
                    file.write(data[at : at + size])
            at += size
        with open(place + "/config", "w") as file:
            file.write("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        if not os.path.exists(place + "/HEAD"):
            return {"failed": "expected a repository"}, b""
        return self._looked(place)

    def do_look(self, data: bytes, name: str) -> Message:
        """Look into a repository of the forge."""
        return self._looked(os.path.join(self.root, name))

    def _looked(self, place: str) -> Message:
        commands = (
            ["cat-file", "--batch-all-objects", "--batch"],
            ["for-each-ref", "--format=%(refname) %(objectname)"],
            ["symbolic-ref", "-q", "HEAD"],
            ["rev-parse", "-q", "--verify", "HEAD"],
            ["ls-files", "--stage", "-z"],
        )
        found = [
            started(["git", f"--git-dir={place}", *one], self.home, dict(os.environ), b"", 20.0)[1][0]
            for one in commands
        ]
        states = [name for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
                  if os.path.exists(os.path.join(place, name))]  # fmt: skip
        return {"sizes": list(map(len, found)), "states": states}, b"".join(found)


def entries(where: str) -> list[tuple[str, str, str]]:
    """Files of a repository, and files beside it: path, prefix, and the folder it is under."""
    found: list[tuple[str, str, str]] = []
    git = os.path.join(where, ".git")
    for base, prefix in ((git, "git/"), (where, "tree/")):
        for path, names, files in os.walk(base):
            if prefix == "tree/" and ".git" in names:
                names.remove(".git")
            for name in sorted(files)[:MAX_FILES]:
                full = os.path.join(path, name)
                if prefix == "tree/" or ENTRY.match(os.path.relpath(full, base)):
                    found.append((full, prefix, base))
    return found[: MAX_FILES * 4]


def started(
    argv: list[str],
    folder: str,
    environment: dict[str, str],
    feed: bytes,
    seconds: float,
    descriptors: tuple[int, ...] = (),
) -> tuple[int, list[bytes], bool]:
    """Exit code, both streams, and whether it was killed for its time; its process group goes with it."""
    files = [os.memfd_create(name) for name in ("in", "out", "err")]
    view = memoryview(feed)
    while view:
        view = view[os.write(files[0], view) :]
    os.lseek(files[0], 0, 0)
    for one in descriptors:
        os.set_inheritable(one, True)
    os.chdir(folder)  # the child's: nothing else here goes by this process's own
    try:
        child = os.posix_spawnp(
            argv[0], argv, environment, file_actions=[(os.POSIX_SPAWN_DUP2, one, to) for to, one in enumerate(files)],
            setsid=True, setsigdef=[signal.SIGPIPE],
        )  # fmt: skip
    finally:
        os.chdir("/")
    late = not ended(child, monotonic() + seconds)
    with suppress(OSError):  # it was the last of its group
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    streams = [os.pread(one, MAX_BODY_BYTES, 0) for one in files[1:]]
    for one in files:
        os.close(one)
    return code, streams, late


def ended(child: int, until: float) -> bool:
    """Whether a child ended by then; it is not reaped, so that its group is still there to be killed."""
    try:
        descriptor = os.pidfd_open(child)
    except OSError:  # not in this sandbox, or an old kernel
        while monotonic() < until:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return True
            sleep(0.001)
        return False
    try:
        return bool(select.select([descriptor], [], [], max(0.0, until - monotonic()))[0])
    finally:
        os.close(descriptor)


def removed(place: str) -> None:
    """Remove a folder and what is in it; links are removed, not followed."""
    for path, folders, files in os.walk(place, topdown=False):
        for name in files:
            os.remove(os.path.join(path, name))
        for name in folders:
            where = os.path.join(path, name)
            os.remove(where) if os.path.islink(where) else os.rmdir(where)
    if os.path.isdir(place):
        os.rmdir(place)


def main(role: str, relay: str) -> None:
    """Serve the host; where `relay` is the text of a remote helper, git reaches the forge by that, without sockets."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.set_inheritable(CHANNEL, False)
    Work(role, relay).serve()
