"""Probes: a package's environments run in a sandbox, and what they were seen to use. What comes out is not trusted."""

from collections.abc import Sequence

import msgspec

from ludus.core import EnvSpec
from ludus.errors import InvalidSpec
from ludus.registry.audit.permission import declared
from ludus.registry.audit.report import Declared, ProbeRun
from ludus.registry.isolated_programs.probe import ProbePlan
from ludus.registry.isolated_programs.run import run_isolated
from ludus.sandbox import Limits
from ludus.sandbox.environment.interpreter import Interpreter
from ludus.wire.failures import clean

__all__ = ["forged", "probe", "unrun"]

MIB_BYTES = 1 << 20
EPISODE_TIMEOUT_S = 20.0
SYSTEM = (
    "/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/net/dev", "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
)  # fmt: skip
"""What libraries read to find themselves and the size of the machine: no permission of an environment."""
MAX_TEXT_CHARS = 300
KINDS = {"connect": "network", "start": "subprocesses", "read": "files", "write": "files"}


def unrun(spec: EnvSpec, why: str = "") -> ProbeRun:
    """What an environment declares, without a run."""
    security = spec.security
    return ProbeRun(id=spec.id, isolation=security.isolation, declared=declared(security), ended=why)


def probe(specs: Sequence[EnvSpec], backend: str) -> list[ProbeRun]:
    """A run of each environment, in order."""
    written = [(spec, text) for spec in specs if (text := _written(spec)) is not None]
    modules = [name.partition(":")[0] for spec, _ in written for name in _entry_points(spec)]
    sight = [mount.where for mount in Interpreter(modules).mounts]
    plan = ProbePlan([text for _, text in written], [*SYSTEM, *sight], seconds=EPISODE_TIMEOUT_S)
    limits = Limits(wall=EPISODE_TIMEOUT_S * len(written) + 30, memory=2048 * MIB_BYTES, output=8 * MIB_BYTES)
    # Whom it would call is seen only where it has sockets to call with; they lead nowhere.
    network = "none" if backend == "landlock" else "loopback"
    done = run_isolated("probe", msgspec.json.encode(plan), backend, limits, modules, network) if written else None
    seen = [_Seen() for _ in written]
    for line in done.stdout.splitlines() if done is not None else ():
        _take(line, seen)
    # A limit that another run has hit takes nothing from what was reported before its end, or after it.
    whole = done is not None and not done.dropped
    runs = {spec.id: one.run(spec, whole) for (spec, _), one in zip(written, seen, strict=True)}
    return [runs.get(spec.id) or unrun(spec, "its spec names code that has no name") for spec in specs]


def _written(spec: EnvSpec) -> str | None:
    try:
        return spec.replace(isolation_record=None).to_json()
    except InvalidSpec:
        return None


def _entry_points(spec: EnvSpec) -> list[str]:
    found = EnvSpec.from_json(spec.to_json())
    names: list[object] = [found.entry_point, *(one.entry_point for one in found.additional_wrappers)]
    return [one for one in names if isinstance(one, str)]


class _Seen:
    """What was reported of one environment."""

    def __init__(self) -> None:
        self.uses: dict[str, set[str]] = {"network": set(), "files": set(), "subprocesses": set(), "native": set()}
        self.done, self.failed = False, ""

    def take(self, kind: str, detail: str) -> None:
        if kind in KINDS:
            self.uses[KINDS[kind]].add(f"{kind}:{detail}" if KINDS[kind] == "files" else detail)
        elif kind == "native":
            self.uses["native"].add(detail)
        elif kind == "done":
            self.done = True
        else:
            self.failed = self.failed or (f"not understood: {detail}" if kind == "unclear" else detail)

    def run(self, spec: EnvSpec, whole: bool) -> ProbeRun:
        ended = self.failed or ("" if self.done and whole else "its record breaks off")
        files = {one for one in self.uses["files"] if not self._is_own(one)}
        seen = Declared(
            network=tuple(sorted(self.uses["network"])),
            files=tuple(sorted(files)),
            subprocesses=tuple(sorted(self.uses["subprocesses"])),
        )
        native = tuple(sorted(self.uses["native"]))
        return msgspec.structs.replace(unrun(spec, ended), seen=seen, native=native)

    def _is_own(self, use: str) -> bool:
        """Whether it only reads what it wrote."""
        kind, _, path = use.partition(":")
        return kind == "read" and f"write:{path}" in self.uses["files"]


def _take(line: bytes, seen: list[_Seen]) -> None:
    """One line of the record; what is no such line is left out, and then the record has a hole."""
    try:
        number, kind, detail = msgspec.json.decode(line, type=tuple[int, str, str])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        number, kind, detail = -1, "", ""
    if 0 <= number < len(seen):
        seen[number].take(kind, clean(detail, MAX_TEXT_CHARS).replace("\n", " "))


def forged(pairs: list[tuple[str, str]], backend: str, modules: Sequence[str]) -> list[str] | None:
    """The compiled files that say something else than their sources; None where it could not be found out."""
    limits = Limits(wall=120.0, memory=1024 * MIB_BYTES, output=8 * MIB_BYTES)
    done = run_isolated("bytecode", msgspec.json.encode(pairs), backend, limits, modules)
    try:
        verdicts = [msgspec.json.decode(line, type=tuple[str, str]) for line in done.stdout.splitlines()]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not verdicts or verdicts[-1][0] != "end" or any(kind == "unread" for kind, _ in verdicts):
        return None
    known = {cache for cache, _ in pairs}
    return [cache for kind, cache in verdicts if kind == "forged" and cache in known]
