"""Services of the host that nobody in a sandbox may reach: they listen, and tell afterwards whether somebody came."""

import ctypes
import os
import socket
from contextlib import suppress
from typing import Any

from tests.attacks.canaries import secret

__all__ = ["Listeners"]

CREATE, REMOVE, SIZE = 0o1000, 0, 4096


class Listeners:
    """Sockets of every kind, and a piece of System V shared memory."""

    def __init__(self, folder: str) -> None:
        self._word = os.urandom(8).hex()
        self._path = f"{folder}/socket"
        self.sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "permitted": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self._word}"),
            "socket": _bound(socket.AF_UNIX, socket.SOCK_STREAM, self._path),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "names": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract_datagrams": _bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{self._word}-datagrams"),
        }
        os.chmod(self._path, 0o777)
        self.memory_secret = secret()
        self._memory = _shared_memory(self.memory_secret)

    def heard(self, *names: str) -> str:
        """Those at which somebody came; empty where nobody."""
        return ", ".join(name for name in names if _came(self.sockets[name]))

    def aim(self) -> dict[str, Any]:
        """Where they are."""
        ports = {name: self.sockets[name].getsockname()[1] for name in ("tcp", "permitted", "udp", "names")}
        return {
            **ports,
            "abstract": self._word,
            "abstract_datagrams": f"{self._word}-datagrams",
            "socket": self._path,
            "shared_memory": self._memory,
        }

    def close(self) -> None:
        """Close all of them."""
        for one in self.sockets.values():
            one.close()
        ctypes.CDLL(None).shmctl(self._memory, REMOVE, None)


def _bound(family: int, kind: int, address: Any) -> socket.socket:
    one = socket.socket(family, kind)
    one.bind(address)
    if kind == socket.SOCK_STREAM:
        one.listen(8)
    one.setblocking(False)
    return one


def _came(one: socket.socket) -> bool:
    with suppress(BlockingIOError):
        if one.type == socket.SOCK_STREAM:
            one.accept()[0].close()
        else:
            one.recv(SIZE)
        return True
    return False


def _shared_memory(text: str) -> int:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    number = int(libc.shmget(0, SIZE, CREATE | 0o666))
    place = libc.shmat(number, None, 0)
    ctypes.memmove(place, text.encode(), len(text))
    libc.shmdt(ctypes.c_void_p(place))
    return number
