"""The restrictions that a process puts on itself: another user, Landlock, a filter of system calls.

Imported by the launcher, beside which it lies, in an interpreter that knows nothing of Ludus. Each is for good: what is
executed afterwards is behind it too.
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, PATH_BENEATH = 444, 445, 446, 1
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 22, 24, 28, 38, 47
NO_SETUID_FIXUP = 1 << 2
"""Capabilities do not follow from the user; without it `access` would deny what they allow."""
AMBIENT_RAISE, AMBIENT_CLEAR, MODE_FILTER = 2, 4, 2
READ_SEARCH = 2
"""The capability to read any file and to enter any folder."""
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522
NEW_MOUNTS, BIND, RECURSIVE, PRIVATE, NO_SETUID, NO_DEVICES = 0x20000, 0x1000, 0x4000, 1 << 18, 2, 4

ruleset: list[int] = []
pinned: dict[str, int] = {}


class RulesetAttribute(ctypes.Structure):
    """What a ruleset is about."""

    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathAttribute(ctypes.Structure):
    """What is allowed beneath a path."""

    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class FilterProgram(ctypes.Structure):
    """A filter of system calls."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def checked(result: int, call: str) -> int:
    """The result of a system call, or its failure: a restriction that cannot be set ends the start."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")
    return result


def prctl(option: int, *values: int) -> int:
    """`prctl`, with arguments as wide as the kernel's."""
    filled = (*values, 0, 0, 0, 0)[:4]
    return libc.prctl(option, *(ctypes.c_ulong(value) for value in filled))


def become(user: str, group: str, *kept: int) -> None:
    """Become another user, without any capability but those that are kept, which are of the first 32."""
    for capability in range(CAPABILITIES):
        if capability not in kept and prctl(PR_CAPBSET_DROP, capability) < 0:
            break  # the kernel has no more
    if kept:
        checked(prctl(PR_SET_SECUREBITS, NO_SETUID_FIXUP), "keep capabilities")
    os.setgroups([])
    os.setresgid(int(group), int(group), int(group))
    os.setresuid(int(user), int(user), int(user))
    checked(prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR), "ambient capabilities")
    header, bits = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), sum(1 << capability for capability in kept)
    checked(libc.capset(header, (ctypes.c_uint32 * 6)(bits, bits, bits)), "capset")
    for capability in kept:  # else it would be lost to whatever is executed
        checked(prctl(PR_CAP_AMBIENT, AMBIENT_RAISE, capability), "ambient capability")


def become_reader(user: str, group: str) -> None:
    """Become another user, who may read what root may."""
    become(user, group, READ_SEARCH)


def own_mounts() -> None:
    """See mounts that nobody else sees."""
    checked(libc.unshare(NEW_MOUNTS), "unshare")
    mount(None, "/", None, PRIVATE | RECURSIVE)


def hold(path: str, descriptor: str) -> None:
    """What is at a path is held by a descriptor already: that is meant, whatever is there by now."""
    pinned[path] = int(descriptor)


def pin(path: str) -> None:
    """Hold on to what is about to be covered, as the mounts of this process have it: only those can be shown again."""
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if path in pinned and not os.path.samestat(os.fstat(found), os.fstat(pinned[path])):
        raise OSError(f"{path}: expected it as it was checked, got something else in its place")
    pinned[path] = found


def cover(folder: str) -> None:
    """Put an empty folder, which anybody may enter, over one that only root may."""
    mount("tmpfs", folder, "tmpfs", NO_SETUID | NO_DEVICES, "mode=0755,size=1m")


def show(path: str) -> None:
    """Show what was held on to, at the place where it was."""
    held = f"/proc/self/fd/{pinned[path]}"
    folder = os.path.isdir(held)
    os.umask(0o022)
    os.makedirs(path if folder else os.path.dirname(path), exist_ok=True)
    if not folder:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
    mount(held, path, None, BIND | RECURSIVE)


def own_home(path: str, size: str, files: str, user: str, group: str) -> None:
    """Put a home of a limited size, in memory, over the empty one: no file in it is out of the kernel's count."""
    before = os.fstat(pinned[path])
    is_folder = os.path.samestat(os.stat("."), before)
    options = f"mode=0700,size={size},nr_inodes={files},uid={user},gid={group}"
    mount("tmpfs", path, "tmpfs", NO_SETUID | NO_DEVICES, options)
    pinned[path] = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    if os.fstat(pinned[path]).st_dev == before.st_dev:
        raise OSError(f"{path}: expected a home of its own, got another folder in its place")
    if is_folder:
        os.chdir(path)


def mount(source: "str | None", target: str, kind: "str | None", flags: int, data: "str | None" = None) -> None:
    """`mount`, with texts."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    checked(libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def make_ruleset(size: str, files: str, network: str, scoped: str) -> None:
    """Begin with everything forbidden."""
    attribute = RulesetAttribute(int(files), int(network), int(scoped))
    made = libc.syscall(CREATE_RULESET, ctypes.byref(attribute), ctypes.c_size_t(int(size)), 0)
    ruleset.append(checked(made, "landlock_create_ruleset"))


def allow(path: str, rights: str) -> None:
    """Allow what is beneath a path."""
    descriptor = pinned[path] if path in pinned else os.open(path, os.O_PATH | os.O_CLOEXEC)
    attribute = PathAttribute(int(rights), descriptor)
    checked(libc.syscall(ADD_RULE, ruleset[0], PATH_BENEATH, ctypes.byref(attribute), 0), f"landlock_add_rule {path}")
    if path not in pinned:  # the limit on open files, which may be a few, is in force already
        os.close(descriptor)


def restrict() -> None:
    """Put the rules in force: what was not allowed is out of reach from here on."""
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")
    checked(libc.syscall(RESTRICT_SELF, ruleset[0], 0), "landlock_restrict_self")
    os.close(ruleset[0])


def filter_calls(program: str) -> None:
    """Refuse system calls."""
    instructions = bytes.fromhex(program)
    attribute = FilterProgram(len(instructions) // 8, instructions)
    checked(prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(attribute)), "seccomp")


WORDS = {
    "mounts": (own_mounts, 0),
    "hold": (hold, 2),
    "pin": (pin, 1),
    "cover": (cover, 1),
    "show": (show, 1),
    "home": (own_home, 5),
    "user": (become, 2),
    "reader": (become_reader, 2),
    "ruleset": (make_ruleset, 4),
    "allow": (allow, 2),
    "restrict": (restrict, 0),
    "filter": (filter_calls, 1),
}
