"""Attacks over sockets: the host's services, names, other networks, other kinds of socket."""

import os
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.attacks.inside.trying import any_of, ready

Aim = dict[str, Any]
Way = Callable[[], str]
SECONDS = 2.0
ANY = "0.0.0.0"
FAMILIES = {
    "netlink": (16, socket.SOCK_RAW, 0),
    "packet": (17, socket.SOCK_RAW, 0),
    "vsock": (40, socket.SOCK_STREAM, 0),
    "crypto": (38, socket.SOCK_SEQPACKET, 0),
    "key": (15, socket.SOCK_RAW, 2),
    "bluetooth": (31, socket.SOCK_RAW, 1),
    "can": (29, socket.SOCK_RAW, 1),
    "xdp": (44, socket.SOCK_RAW, 0),
    "tipc": (30, socket.SOCK_SEQPACKET, 0),
    "rds": (21, socket.SOCK_SEQPACKET, 0),
    "kernel connections": (41, socket.SOCK_SEQPACKET, 0),
}
"""Kinds of socket with much kernel behind them, that nothing inside has a use for."""


def call_loopback(aim: Aim) -> str:
    """Connect to a service on the host's loopback."""
    return any_of(partial(_call, socket.AF_INET, (host, aim["tcp"])) for host in ("127.0.0.1", "localhost", ANY))


def pass_proxy(aim: Aim) -> str:
    """Reach what the proxy may not, by every spelling of it; where there is no proxy, without one."""
    port, permitted = aim["tcp"], aim["permitted"]
    proxy = os.environ.get("HTTP_PROXY", "").rpartition("/")[2].partition(":")
    lines = [
        *(f"CONNECT {host}:{port} HTTP/1.1" for host in ("127.0.0.1", "localhost", "127.1", ANY, "[::ffff:127.0.0.1]")),
        f"CONNECT 127.0.0.1:{permitted}@127.0.0.1:{port} HTTP/1.1",
        f"CONNECT 127.0.0.1:{permitted}\t127.0.0.1:{port} HTTP/1.1",
        f"GET http://127.0.0.1:{permitted}@127.0.0.1:{port}/ HTTP/1.1",
        f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{permitted}",
        f"GET http://127.0.0.1:{port}#127.0.0.1:{permitted} HTTP/1.1",
    ]

    def ask(line: str) -> str:
        with socket.create_connection((proxy[0], int(proxy[2])), timeout=SECONDS) as one:
            one.sendall(f"{line}\r\n\r\nhello".encode())
            return "let through" if b" 200 " in one.recv(200) else ""

    asked = [partial(ask, line) for line in lines] if proxy[2] else []
    return any_of([partial(_call, socket.AF_INET, ("127.0.0.1", port)), *asked])


def call_abstract(aim: Aim) -> str:
    """Connect to a socket of the host that has a name and no file."""
    return any_of([partial(_call, socket.AF_UNIX, "\0" + aim["abstract"])])


def call_path(aim: Aim) -> str:
    """Connect to a socket of the host in a folder that everybody may enter."""
    return any_of(partial(_call, socket.AF_UNIX, path) for path in (aim["socket"], "/run/ludus/control"))


def _call(family: int, address: Any) -> str:
    with socket.socket(family) as one:
        one.settimeout(SECONDS)
        one.connect(address)
        one.send(b"hello")
    return f"connected to {address!r}"


def send_datagrams(aim: Aim) -> str:
    """Send datagrams to a service of the host, on its loopback and by a name without a file."""

    def send(family: int, address: Any) -> str:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.sendto(b"hello", address)
        return f"sent to {address!r}"

    def by_pair() -> str:
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.sendto(b"hello", "\0" + aim["abstract_datagrams"])
        return "sent by a pair"

    there: tuple[tuple[int, Any], ...] = (
        (socket.AF_INET, ("127.0.0.1", aim["udp"])),
        (socket.AF_UNIX, "\0" + aim["abstract_datagrams"]),
    )
    return any_of([*(partial(send, *one) for one in there), by_pair])


def ask_names(aim: Aim) -> str:
    """Tell a secret to a name server, as part of the name that is asked for."""
    words = [b"secret", b"example", b"org"]
    question = b"".join(bytes([len(word)]) + word for word in words) + b"\0" + struct.pack(">HH", 1, 1)
    query = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + question

    def ask() -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(query, ("127.0.0.1", aim["names"]))
        return "asked"

    return any_of([ask])


def find_route(aim: Aim) -> str:
    """Find a way to the outside; nothing is sent."""
    del aim

    def route(family: int, host: str) -> str:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.connect((host, 53))
            return f"has a route to {host} from {one.getsockname()[0]}"

    return any_of([partial(route, socket.AF_INET, "192.0.2.1"), partial(route, socket.AF_INET6, "2001:db8::1")])


def open_raw(aim: Aim) -> str:
    """Open raw sockets, which see and forge the packets of others."""
    del aim
    kinds = ((socket.AF_INET, 1), (socket.AF_INET, 255), (socket.AF_INET6, 58))
    return any_of(partial(_open, "raw", family, socket.SOCK_RAW, protocol) for family, protocol in kinds)


def open_odd_kinds(aim: Aim) -> str:
    """Open sockets of rare kinds: to the hypervisor, to the kernel, to the network's insides."""
    del aim
    return any_of(partial(_open, name, *kind) for name, kind in FAMILIES.items())


def _open(name: str, family: int, kind: int, protocol: int) -> str:
    with socket.socket(family, kind, protocol):
        return f"opened {name}"


def listen_on_host(aim: Aim) -> str:
    """Take a port of the host, and answer in the place of a service."""
    listener = socket.socket()
    listener.bind((ANY, aim["free_port"]))
    listener.listen(1)
    ready(os.getpid())
    return ""
