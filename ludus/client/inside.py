"""Sockets inside another network: connected to a server there, and used from here."""

import os
import shutil
import socket
import subprocess
import sys
import threading

from ludus.errors import SandboxUnavailable

__all__ = ["link_inside"]

NEW_NET = 0x40000000
LOOPBACK = "127.0.0.1"
HAND_OVER = """
import socket, sys
port, seconds = int(sys.argv[1]), float(sys.argv[2])
found = socket.create_connection(("127.0.0.1", port), seconds)
socket.send_fds(socket.socket(fileno=0), [b"1"], [found.fileno()])
"""
"""What a helper inside does: connect, and hand the socket over."""


def link_inside(pid: int, port: int, seconds: float) -> socket.socket:
    """A socket that is connected to a port of the loopback that process `pid` sees; OSError where nobody listens.

    Root makes it in a thread that enters the network and ends; others by a helper in their engine's user namespace.
    """
    link = _made_inside(pid) if os.geteuid() == 0 else None
    if link is None:
        return _handed_over(pid, port, seconds)
    try:
        link.settimeout(seconds)
        link.connect((LOOPBACK, port))
    except BaseException:
        link.close()
        raise
    return link


def _made_inside(pid: int) -> socket.socket | None:
    """A socket of that network; None where we may not enter it. A socket stays where it was made."""
    import ctypes  # costs milliseconds, and is needed for nothing else

    found: list[socket.socket] = []
    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def enter() -> None:
        if libc.setns(network, NEW_NET) == 0:
            found.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM))

    try:
        thread = threading.Thread(target=enter)  # the network is the thread's, and ends with it
        thread.start()
        thread.join()
    finally:
        os.close(network)
    return found[0] if found else None


def _handed_over(pid: int, port: int, seconds: float) -> socket.socket:
    enter = shutil.which("nsenter")
    if enter is None:
        raise SandboxUnavailable(
            "container: expected root, or the program nsenter, to reach a server without a network, got neither; "
            "apt-get install util-linux, or ImagePolicy(network='open')"
        )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        user = ["--preserve-credentials", "-U"] if _is_of_another_user_namespace(pid) else []
        command = [enter, *user, "-n", "-t", str(pid), sys.executable, "-I", "-S", "-c"]
        helper = subprocess.run(
            [*command, HAND_OVER, str(port), str(seconds)],
            stdin=theirs.fileno(),
            capture_output=True,
            timeout=seconds + 5.0,
            check=False,
        )
        if helper.returncode:
            output = helper.stderr.decode("utf8", "replace").strip().splitlines()[-1:]
            raise ConnectionRefusedError(f"nobody listens inside: {output}")
        _, (descriptor,), _, _ = socket.recv_fds(ours, 1, 1)
    link = socket.socket(fileno=descriptor)
    link.settimeout(seconds)
    return link


def _is_of_another_user_namespace(pid: int) -> bool:
    return os.stat(f"/proc/{pid}/ns/user").st_ino != os.stat("/proc/self/ns/user").st_ino
