"""Check a lock file, as in `lock.py requirements/dev.lock`.

It has to satisfy pyproject.toml, have a hash for every entry and name no place, and be what is installed here.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
EXTRA = "dev"


class Entry(NamedTuple):
    """One package of the lock."""

    requirement: Requirement
    hashes: int

    @property
    def name(self) -> str:
        """As indexes compare it."""
        return canonicalize_name(self.requirement.name)

    @property
    def pin(self) -> str:
        """The one version, or nothing where it is not pinned to one."""
        pins = [one for one in self.requirement.specifier if one.operator == "==" and "*" not in one.version]
        return pins[0].version if len(self.requirement.specifier) == len(pins) == 1 else ""

    @property
    def applies(self) -> bool:
        """Whether this interpreter is to have it."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def read(text: str) -> tuple[list[Entry], list[str]]:
    """The entries of a lock, and what is wrong with its lines."""
    entries, problems = [], []
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    for line in (line.partition(" #")[0].strip() for line in lines if not line.lstrip().startswith("#")):
        if not line:
            continue
        words = HASH.sub("", line).strip()
        try:
            requirement = Requirement(words)
        except InvalidRequirement:
            problems.append(f"expected NAME==VERSION with hashes, got {words!r}")
            continue
        if requirement.url:
            problems.append(f"{requirement.name}: expected a version, got a place: {requirement.url}")
        entries.append(Entry(requirement, len(HASH.findall(line))))
    return entries, problems


def wanted(project: dict[str, Any], extra: str = EXTRA) -> Iterator[Requirement]:
    """What a project requires with an extra, its other extras resolved, and what it is built by."""
    about = project["project"]
    name, extras = canonicalize_name(about["name"]), about.get("optional-dependencies", {})
    waiting = [*about.get("dependencies", []), *project["build-system"]["requires"], *extras[extra]]
    while waiting:
        one = Requirement(waiting.pop())
        if canonicalize_name(one.name) == name:
            waiting += [requirement for each in sorted(one.extras) for requirement in extras[each]]
        elif one.marker is None or one.marker.evaluate():
            yield one


def complete(entries: list[Entry], project: dict[str, Any]) -> Iterator[str]:
    """What the project requires and the lock does not give."""
    pins = {entry.name: entry.pin for entry in entries if entry.applies}
    for one in wanted(project):
        pin = pins.get(canonicalize_name(one.name), "")
        if not pin or not one.specifier.contains(pin, prereleases=True):
            yield f"pyproject.toml wants {one}, the lock has {pin or 'none'}"


def hashed(entries: list[Entry]) -> Iterator[str]:
    """Entries that do not say which file they mean."""
    for entry in entries:
        if not entry.pin:
            yield f"{entry.requirement}: expected one version, as in {entry.name}==1.0"
        if not entry.hashes:
            yield f"{entry.requirement}: expected hashes, got none"


def installed(entries: list[Entry]) -> Iterator[str]:
    """Entries that are not what is installed beside this interpreter."""
    for entry in entries:
        if entry.applies and (found := _version(entry.name)) != entry.pin:
            yield f"{entry.name}: the lock has {entry.pin}, installed is {found or 'none'}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def main(path: str) -> int:
    """Print what is wrong; the exit code."""
    entries, problems = read(Path(path).read_text(encoding="utf8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    stale = [*problems, *complete(entries, project), *hashed(entries)]
    foreign = list(installed(entries))
    for problem in [*stale, *foreign]:
        print(f"{path}: {problem}", file=sys.stderr)
    if stale:
        print("run `make lock` and commit what it writes", file=sys.stderr)
    elif foreign:
        print("what is installed did not come from the lock: make distclean, then make again", file=sys.stderr)
    else:
        print(f"{path}: {len(entries)} packages, {sum(entry.hashes for entry in entries)} hashes, as installed")
    return 1 if stale or foreign else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
