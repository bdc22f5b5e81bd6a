"""A policy in the words of the Docker API: everything that a container may not, beside what the policy lets it."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ludus.errors import InvalidArgument
from ludus.sandbox import relay
from ludus.sandbox.bwrap import ETC, HOME
from ludus.sandbox.containers.inside import StartCommand
from ludus.sandbox.containers.service import most_files, most_processes
from ludus.sandbox.launcher_process import variables
from ludus.sandbox.leftovers import identity
from ludus.sandbox.policy import Limits, Mount, Policy
from ludus.sandbox.proxy import PORT, Proxy
from ludus.sandbox.rlimits import Rlimit, rlimits

__all__ = ["LABEL", "EngineSetup", "check_places", "describe", "keepers", "own_limits", "way_out", "work"]

LABEL = "ludus.owner"
"""Says which process made a container."""

CONTROL = "/run/ludus"
"""Where the folder with the control socket is seen inside."""
RELAY, PROXY = f"{CONTROL}.relay.py", f"{CONTROL}.proxy"
START_PROCESSES = 32
"""Processes and threads that an engine may need to begin; the limit is tightened before the work starts."""
INSIDE = Path(__file__).with_name("inside.py")
HOSTS = Mount(str(ETC / "hosts"), "/etc/hosts")
"""Else an engine would leave it empty, or put names of the machine's network in it."""
SEPARATORS = set(",:")
"""Between the options of a mount, as podman writes them down: a path would be read as more than one."""
SMALL = "size=65536,mode=0755,nosuid,nodev,noexec"


class EngineSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Where the work is going to be: what depends on the engine, and not on the policy."""

    image: str
    python: str
    user: str
    mounts: tuple[Mount, ...]
    tasks: int | None
    """The host's processes and threads, as its control group counts them."""
    processes: int | None
    """The same for each user, as its own kernel counts them; None where that kernel is the host's, which counts the
    user's processes in all containers together."""


def keepers(policy: Policy) -> int:
    """Processes inside that are ours: the first one, and the relay where there are hosts to reach."""
    return 2 if policy.hosts else 1


def work(argv: Sequence[str], policy: Policy, python: str) -> StartCommand:
    """What is handed over, as the first process reads it; with hosts to reach, a relay is left behind on the way."""
    relay = [python, "-I", "-S", RELAY, str(PORT), PROXY] if policy.hosts else []
    return {
        "argv": [*relay, *argv],
        "environment": variables(policy, HOME, "/tmp"),  # noqa: S108  (its own)
        "folder": policy.folder or HOME,
    }


def way_out(proxy: Proxy) -> tuple[Mount, ...]:
    """What the relay needs inside."""
    return Mount(str(Path(relay.__file__)), RELAY), Mount(proxy.path, PROXY)


def describe(policy: Policy, place: EngineSetup, *, control: str) -> dict[str, object]:
    """The body of a create call: the work is not in it, and handed over when the isolation was verified."""
    limits = policy.limits
    return {
        "Image": place.image,
        "Entrypoint": [place.python, "-I", "-S", "-c", INSIDE.read_text(encoding="utf8"), CONTROL],
        "Cmd": [],
        "Env": [],
        "User": place.user,
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "Labels": {LABEL: identity()},
        "NetworkDisabled": True,
        "HostConfig": {
            "NetworkMode": "none",
            "IpcMode": "private",
            "CgroupnsMode": "private",
            "ReadonlyRootfs": True,
            "Privileged": False,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Init": False,
            "LogConfig": {"Type": "none"},
            "RestartPolicy": {"Name": "no"},
            "Mounts": _binds((Mount(control, CONTROL), HOSTS, *place.mounts, *policy.mounts)),
            "Tmpfs": _tmpfs(policy),
            "ShmSize": limits.disk or 0,
            "Ulimits": _ceilings(),
            **_cgroup(limits, place),
        },
    }


def check_places(policy: Policy) -> None:
    """Refuse mounts in the place of ours."""
    for mount in policy.mounts:
        if mount.where.startswith(CONTROL):
            raise InvalidArgument(f"mount target: expected a folder of its own, got {mount.where!r}, which is reserved")


def _cgroup(limits: Limits, place: EngineSetup) -> dict[str, int]:
    found: dict[str, int] = {}
    if limits.memory is not None:
        found.update(Memory=limits.memory, MemorySwap=limits.memory)
    found["PidsLimit"] = -1 if place.tasks is None else max(START_PROCESSES, place.tasks)
    return found


def own_limits(policy: Policy, place: EngineSetup) -> list[Rlimit]:
    """The limits of each process, which the first one sets for itself: podman without root ignores what it is asked."""
    found = rlimits(policy.limits, memory=False, processes=False)
    if place.processes is not None:
        found.append(Rlimit("NPROC", place.processes, place.processes))
    return found


def _ceilings() -> list[dict[str, object]]:
    """As high as they may be, and named: what podman would put in their place may be more than it may set."""
    most = {"nofile": most_files(), "nproc": most_processes()}
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in most.items()]


def _tmpfs(policy: Policy) -> dict[str, str]:
    """Its own folders; where a mount is put in the place of one, that one is not made."""
    size = "" if policy.limits.disk is None else f"size={policy.limits.disk},"
    own = {"/tmp": f"{size}mode=1777,exec,nosuid,nodev", HOME: f"{size}mode=1777,exec,nosuid,nodev"}  # noqa: S108
    closed = {"/run": SMALL, "/var/tmp": SMALL}  # noqa: S108  (podman would open both, without a limit)
    taken = {mount.where for mount in policy.mounts}
    return {path: options for path, options in {**own, **closed}.items() if path not in taken}


def _binds(mounts: Sequence[Mount]) -> list[dict[str, object]]:
    """As `Mounts`: in the place of a source that is gone by then, `Binds` would have the engine make a folder."""
    found: dict[str, dict[str, object]] = {}
    for mount in mounts:
        source = os.path.realpath(mount.source)
        for point in (source, *([] if mount.writable else _mounted_below(source))):
            where = mount.where + point[len(source) :]
            if set(point + where) & SEPARATORS:
                listed = " or ".join(sorted(SEPARATORS))
                raise InvalidArgument(
                    f"mount: expected paths without {listed} for a container, got {point!r} at {where!r}"
                )
            found[where] = {"Type": "bind", "Source": point, "Target": where, "ReadOnly": not mount.writable}
    return list(found.values())


def _mounted_below(source: str) -> list[str]:
    """What is mounted below a folder, each for its own: read-only would not hold for it otherwise."""
    points = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text(encoding="utf8").splitlines()]
    return [point for point in map(_unescaped, points) if point.startswith(f"{source.rstrip('/')}/")]


def _unescaped(path: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), path)
