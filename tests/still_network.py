"""Start a program that hears nothing of networks that come and go: `still_network.py PROGRAM ARGUMENT…`.

Other tests' containers join networks and leave them, and Chromium then drops every request that is under way, those to
this machine as well (ERR_NETWORK_CHANGED): a page misses an answer for no fault of its own. It learns of networks by
netlink; where it gets no such socket, it takes the network for one that is there and stays.
"""

import ctypes
import os
import platform
import struct
import sys

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR, NO_SUCH_FAMILY = 0x7FFF0000, 0x00050000, 97
NUMBER, FAMILY = 0, 16  # where in what a filter sees: the call, and the lower half of its first argument
AF_NETLINK = 16
SOCKET = {"x86_64": 41, "aarch64": 198}
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2


def refuse_netlink() -> None:
    """Have the kernel refuse sockets of netlink to this process and those that it starts."""
    steps = [
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 0, 3, SOCKET[platform.machine()]),
        (LOAD, 0, 0, FAMILY),
        (EQUAL, 0, 1, AF_NETLINK),
        (RETURN, 0, 0, ERROR | NO_SUCH_FAMILY),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    asked = ((PR_SET_NO_NEW_PRIVS, 1), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER))
    for option, value in asked:
        rest = ctypes.addressof(program) if option == PR_SET_SECCOMP else 0
        if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(rest), ctypes.c_ulong(0), ctypes.c_ulong(0)):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse_netlink()
    os.execv(sys.argv[1], sys.argv[1:])
