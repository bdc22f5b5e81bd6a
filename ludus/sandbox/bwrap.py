"""The program `bwrap`: where it is, what it can do, and the options that isolate."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ludus.errors import SandboxUnavailable
from ludus.sandbox.launcher_process import variables
from ludus.sandbox.mounts import HOST_SETTINGS, system_links, system_mounts
from ludus.sandbox.policy import Mount, Policy
from ludus.sandbox.user import GROUP, USER

__all__ = ["HOME", "BwrapProgram", "options", "program", "start_script", "tool"]

HOME = "/home/box"
ETC = Path(__file__).parent / "rootfs" / "etc"
SEARCH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
MASKED = ("cmdline", "kcore", "keys", "latency_stats", "sched_debug", "sysrq-trigger", "timer_list")
"""In `/proc`: about the whole machine, and of no use inside."""
COVERED = ("/proc/pressure", HOST_SETTINGS)
"""How busy the machine is, with triggers that anybody may set; what is the host's own."""
KEPT_CAPABILITIES = ("DAC_READ_SEARCH", "SETUID", "SETGID", "SETPCAP")
SHARED_MEMORY_BYTES = 64 << 20
Options = list[str]


class BwrapProgram(NamedTuple):
    """The `bwrap` of this machine."""

    path: str
    version: str
    features: frozenset[str]

    def has(self, option: str) -> bool:
        """Whether it knows an option."""
        return option in self.features


@cache
def program() -> BwrapProgram:
    """Find it and ask it; SandboxUnavailable, with what to install, where there is none."""
    path = tool("bwrap", "bubblewrap")
    usage = subprocess.run([path, "--help"], capture_output=True, text=True, check=False, env={})
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, env={}).stdout
    return BwrapProgram(
        path, version.strip(), frozenset(re.findall(r"^\s+(--[\w-]+)", usage.stdout + usage.stderr, re.M))
    )


@cache
def tool(name: str, package: str) -> str:
    """A program of the system, by its whole path; it is never looked for in the caller's PATH."""
    found = shutil.which(name, path=SEARCH)
    if found is None:
        raise SandboxUnavailable(f"expected the program {name}, got none; install it: apt-get install {package}")
    return os.path.realpath(found)


def start_script(policy: Policy) -> bytes:
    """A script that sets the policy's variables and becomes the command.

    They are set last, by the user who is sandboxed: before, the loader would obey them in programs that are still root.
    """
    lines: list[str] = []
    strange: list[str] = []
    for name, value in policy.environment.items():
        quoted = shlex.quote(value)
        lines += [f"export {name}={quoted}"] if name.isascii() and name.isidentifier() else []
        strange += [] if name.isascii() and name.isidentifier() else [f"{shlex.quote(name)}={quoted}"]
    became = ["exec", *(["env", *strange] if strange else []), '"$@"']
    return "\n".join([*lines, " ".join(became), ""]).encode("utf8", "surrogateescape")


def options(policy: Policy, *, root: bool, sources: Mapping[Mount, int], extra: Mapping[str, str]) -> Options:
    """Everything from the namespaces to the environment.

    `sources` are the descriptors of the policy's mounts in their order; `extra` are files of ours, by place inside.
    """
    limits = policy.limits
    size = [] if limits.disk is None else ["--size", str(limits.disk)]
    found = _namespaces(root=root)
    found += ["--clearenv", *_environment(policy)]
    found += _system(system_mounts(policy))
    found += ["--perms", "1777", *size, "--tmpfs", "/tmp"]  # noqa: S108  (its own)
    found += ["--perms", "0777", *size, "--tmpfs", HOME]
    found += _files(extra)
    found += _mounts(sources, [mount.where for mount in system_mounts(policy)])
    found += _covers([mount.where for mount in system_mounts(policy)], [mount.where for mount in policy.mounts])
    found += ["--perms", "1777", "--size", str(limits.disk or SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108
    return [*found, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", policy.folder or HOME]


def _namespaces(*, root: bool) -> Options:
    """Root keeps what it takes to enter the folder and to become somebody else, which are the next things it does."""
    found = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    found += ["--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL"]
    if root:
        return [*found, *(option for cap in KEPT_CAPABILITIES for option in ("--cap-add", f"CAP_{cap}"))]
    nested = ["--disable-userns"] if program().has("--disable-userns") else []
    return [*found, "--unshare-user", "--uid", str(USER), "--gid", str(GROUP), *nested]


def _environment(policy: Policy) -> Options:
    """Ours; see `start_script` for the policy's."""
    own = msgspec.structs.replace(policy, environment={})
    given = variables(own, HOME, "/tmp")  # noqa: S108  (its own)
    return [option for name, value in given.items() for option in ("--setenv", name, value)]


@cache
def _system(mounts: tuple[Mount, ...]) -> tuple[str, ...]:
    """Programs and libraries, a few files of ours, the kernel's folders."""
    found = _folders([mount.where for mount in mounts], ())
    for mount in mounts:
        found += ["--ro-bind", mount.source, mount.where]
    for link, target in system_links().items():
        found += ["--symlink", target, link]
    found += _files({f"/etc/{file.name}": str(file) for file in sorted(ETC.iterdir())})
    found += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    for name in MASKED:
        if os.path.exists(f"/proc/{name}"):
            found += ["--ro-bind", os.devnull, f"/proc/{name}"]
    # The first process inside is bwrap's: of the same user, and without the limits, which the next one sets. Whoever
    # could write to its memory would be without them, too.
    found += ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    return (*found, "--dev", "/dev")


def _files(files: Mapping[str, str]) -> Options:
    found = _folders(files, ())
    return [*found, *(option for place, source in files.items() for option in ("--ro-bind", source, place))]


def _mounts(sources: Mapping[Mount, int], before: Iterable[str]) -> Options:
    """By descriptor where it can, so that what is mounted is what was looked at."""
    found = _folders([mount.where for mount in sources], before)
    for mount, descriptor in sources.items():
        way = "--bind" if mount.writable else "--ro-bind"
        if program().has("--bind-fd"):
            found += [f"{way}-fd", str(descriptor), mount.where]
        else:
            found += [way, mount.source, mount.where]
    return found


def _covers(shown: Iterable[str], named: Iterable[str]) -> Options:
    """What is covered, over whatever shows it: a policy that mounts all of `/usr` would bring it back otherwise.

    Who names such a folder itself, or what is in it, has it.
    """
    given = list(named)
    visible = ("/proc", *shown, *given)
    return [
        option
        for folder in COVERED
        if os.path.isdir(folder)
        and any(folder.startswith(f"{one}/") for one in visible)
        and not any(f"{one}/".startswith(f"{folder}/") for one in given)
        for option in ("--tmpfs", folder, "--remount-ro", folder)
    ]


def _folders(places: Iterable[str], before: Iterable[str]) -> Options:
    """The folders above some places, open to everybody, where they are not in a mount: made by root, inside."""
    places = list(places)
    mounted = (*before, *places)
    above = {str(folder) for place in places for folder in Path(place).parents}
    missing = sorted(one for one in above if one != "/" and not any(f"{one}/".startswith(f"{at}/") for at in mounted))
    return [option for one in missing for option in ("--perms", "0755", "--dir", one)]
