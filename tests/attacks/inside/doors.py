"""Attacks on the kernel's rarely used doors: calls that a sandbox has no use for. None of them changes anything."""

import ctypes
import errno
import mmap
import os
import platform
import signal
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.attacks.inside.kernel import call, libc
from tests.attacks.inside.trying import any_of

Aim = dict[str, Any]
Way = Callable[[], str]
NEW = {"mnt": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
SHUT = (errno.EPERM, errno.EACCES, errno.ENOSYS)
"""What a door that is shut answers; anything else is somebody behind it."""
DETACH = 2


def mount(aim: Aim) -> str:
    """Mount a file system, by the old calls and the new; take off what is mounted over something else."""
    folder, other = aim["shared"].encode(), aim["shown"].encode()

    def old() -> str:
        call("mount", b"none", folder, b"tmpfs", 0, None)
        call("umount2", folder, DETACH)
        return "mounted a tmpfs"

    def bind() -> str:
        call("mount", other, folder, None, 0x1000, None)  # MS_BIND
        call("umount2", folder, DETACH)
        return "mounted one folder over another"

    def new(name: str, *arguments: Any) -> str:
        os.close(call(name, *arguments))
        return f"{name} went through"

    def off(path: str) -> str:
        call("umount2", path.encode(), DETACH)
        return f"unmounted {path}"

    points = _mounted() if os.getuid() else []  # root could, and would take the machine apart
    ways: list[Way] = [partial(new, "fsopen", b"tmpfs", 0), partial(new, "open_tree", -100, b"/", 1)]
    return any_of([old, bind, *ways, *(partial(off, path) for path in points)])


def _mounted() -> "list[str]":
    try:
        with open("/proc/self/mounts") as file:
            return [line.split(" ")[1] for line in file]
    except OSError:
        return ["/", "/proc", "/dev", "/tmp"]


def new_namespaces(aim: Aim) -> str:
    """Make namespaces, in which one would be root: by unshare, clone and clone3."""
    del aim

    def unshare(kind: str) -> str:
        child = os.fork()
        if child == 0:
            try:
                call("unshare", NEW[kind])
                os._exit(0)
            except OSError as error:
                os._exit(error.errno or 1)
        return _succeeded(child, f"unshare {kind}")

    def clone() -> str:
        child = call("clone", NEW["user"] | signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        return _succeeded(child, "clone")

    def clone3() -> str:
        arguments = struct.pack("8Q", NEW["user"], 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        child = call("clone3", arguments, len(arguments))
        if child == 0:
            os._exit(0)
        return _succeeded(child, "clone3")

    return any_of([*(partial(unshare, kind) for kind in NEW), clone, clone3])


def _succeeded(child: int, what: str) -> str:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, os.strerror(abs(code)), what)
    return f"{what} went through"


def enter_namespaces(aim: Aim) -> str:
    """Enter the namespaces of other processes."""

    def enter(pid: int, kind: str) -> str:
        descriptor = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        call("setns", descriptor, 0)
        return f"entered {kind} of {pid}"

    return any_of(
        partial(enter, pid, kind) for pid in aim["pids"]["memory"] for kind in ("net", "uts", "ipc", "cgroup")
    )


def change_root(aim: Aim) -> str:
    """Change the root folder, the first step out of a weaker one."""
    call("chroot", aim["shared"].encode())
    return "changed the root"


def load_bpf(aim: Aim) -> str:
    """Load programs into the kernel: make a map, the first step of it."""
    del aim
    attributes = struct.pack("IIIII", 2, 4, 4, 1, 0).ljust(128, b"\0")  # BPF_MAP_TYPE_ARRAY
    os.close(call("bpf", 0, attributes, len(attributes)))
    return "made a map"


def ring(aim: Aim) -> str:
    """Set up io_uring, whose calls no filter sees."""
    del aim
    parameters = ctypes.create_string_buffer(120)
    os.close(call("io_uring_setup", 4, parameters))
    return "set up a ring"


def use_keys(aim: Aim) -> str:
    """Use the kernel's key rings, which know no namespaces."""
    del aim

    def keep() -> str:
        return f"key {call('add_key', b'user', b'ludus', b'x', 1, -1)}"  # of this thread alone

    def ask() -> str:
        return f"key ring {call('keyctl', 0, -4, 0, 0, 0)}"  # KEYCTL_GET_KEYRING_ID of the user

    return any_of([keep, ask])


def count_events(aim: Aim) -> str:
    """Count events of the processor, which tell about others."""
    del aim
    attributes = struct.pack("IIQ", 1, 112, 0).ljust(112, b"\0")  # a software clock
    os.close(call("perf_event_open", attributes, 0, -1, -1, 0))
    return "counts events"


def catch_faults(aim: Aim) -> str:
    """Catch page faults in user space: the tool of many an exploit."""
    del aim
    os.close(call("userfaultfd", os.O_CLOEXEC))
    return "catches faults"


def administer(aim: Aim) -> str:
    """Knock at the calls of an administrator, with arguments that do nothing."""
    del aim
    calls: dict[str, tuple[Any, ...]] = {
        "reboot": (0, 0, 0, None),
        "settimeofday": (None, None),
        "swapoff": (b"/ludus/none",),
        "syslog": (10, None, 0),
        "kexec_load": (0, 0, None, 0xFFFF),
    }

    def knock(name: str) -> str:
        try:
            call(name, *calls[name])
        except OSError as error:
            if error.errno in SHUT:
                raise
        return f"{name} is open"

    return any_of(partial(knock, name) for name in calls)


def load_module(aim: Aim) -> str:
    """Load a module into the kernel, here an empty one."""
    del aim
    try:
        call("init_module", b"", 0, b"")
    except OSError as error:
        if error.errno in SHUT:
            raise
    return "init_module is open"


def old_numbers(aim: Aim) -> str:
    """Make a call by the numbers of another architecture, which a careless filter does not know."""
    del aim
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "no other numbers on this machine")
    return any_of([_int80, _x32])


def _int80() -> str:
    """In a child, since a filter may kill: unshare(uts) through the gate of 32-bit programs."""
    child = os.fork()
    if child == 0:
        #   push rbx; mov eax, 310; mov ebx, 0x4000000; int 0x80; pop rbx; ret
        code = bytes.fromhex("53b836010000bb00000004cd805bc3")
        memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        os._exit(-result if result < 0 else 0)
    return _succeeded(child, "int 0x80")


def _x32() -> str:
    child = os.fork()
    if child == 0:
        result = libc.syscall(ctypes.c_long(0x40000000 | 272), ctypes.c_long(NEW["uts"]))
        os._exit(ctypes.get_errno() if result < 0 else 0)
    return _succeeded(child, "x32 unshare")


def type_into_terminal(aim: Aim) -> str:
    """Type into the terminal that is its input, for the shell behind it to execute."""
    import fcntl
    import termios

    for letter in aim["typed"].encode():
        fcntl.ioctl(0, termios.TIOCSTI, bytes([letter]))
    return "typed"


def compare(aim: Aim) -> str:
    """Compare what two processes hold, which gives away where the kernel keeps it."""
    call("kcmp", os.getpid(), aim["pids"]["memory"][0], 1, 0, 0)
    return "compared"
