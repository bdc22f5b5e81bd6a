"""The host's packages: what of this interpreter's installed packages an image needs, as files to copy."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from ludus.errors import MissingExtra
from ludus.packaging.requirements import name_of
from ludus.registry.ownership import DISTRIBUTION, MODULE
from ludus.sandbox.mounts import PACKAGE

__all__ = ["closure", "copy_packages"]

EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
EXTRAS = re.compile(r"^[^\[;]*\[([^\]]*)\]")


def closure(requirements: Sequence[str]) -> list[Distribution]:
    """The installed packages that the requirements stand for, with all that those require in turn, by name.

    What a requirement asks for on some machines only is taken where it is installed. MissingExtra names what is not.
    """
    found: dict[str, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    waiting = list(requirements)
    while waiting:
        one = waiting.pop()
        name = name_of(one)
        package = found[name] if name in found else _installed(one, name)
        if package is None:
            continue
        found[name] = package
        for extra in _extras(one):
            if (name, extra) not in asked:
                asked.add((name, extra))
                waiting += _required(package, extra)
    return [found[name] for name in sorted(found)]


def copy_packages(packages: Sequence[Distribution], target: Path) -> None:
    """Copy their files to a folder that can be on the path; Ludus itself from where it runs."""
    ours = [one for one in packages if name_of(str(one.metadata["Name"])) == DISTRIBUTION]
    for package in packages:
        for source, name in _files(package):
            if package not in ours or not name.startswith(f"{MODULE}/"):
                _copy(source, target / name)
    if ours:
        shutil.copytree(PACKAGE, target / MODULE, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.nb[ci]"))


def _installed(requirement: str, name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        if ";" in requirement:  # for another system or Python
            return None
        raise MissingExtra(
            f"base host: expected {requirement!r} to be installed in this interpreter, got no package {name!r}; "
            f"pip install {requirement!r}, or build on an image of a registry (--base IMAGE)"
        ) from error


def _extras(requirement: str) -> list[str]:
    """The extras that are asked for; the empty one stands for the package itself."""
    match = EXTRAS.match(requirement)
    return ["", *(one.strip() for one in match[1].split(",") if one.strip())] if match else [""]


def _required(package: Distribution, extra: str) -> Iterator[str]:
    own = _of_sources() if name_of(str(package.metadata["Name"])) == DISTRIBUTION else None
    if own is not None:
        yield from own.optional_dependencies.get(extra, []) if extra else own.dependencies
        return
    for one in package.requires or ():
        extras = EXTRA.findall(one.partition(";")[2])
        if (extra in extras) if extra else not extras:
            yield one


class Project(msgspec.Struct, rename="kebab"):
    """What the `pyproject.toml` of Ludus's sources says that it needs."""

    dependencies: list[str]
    optional_dependencies: dict[str, list[str]]


def _of_sources() -> Project | None:
    """The project that Ludus runs from, where it runs from its sources: what was installed once may be out of date."""
    path = PACKAGE.parent / "pyproject.toml"
    if not path.is_file():
        return None
    project: dict[str, object] = msgspec.toml.decode(path.read_bytes()).get("project", {})
    return msgspec.convert(project, Project) if project.get("name") == DISTRIBUTION else None


def _files(package: Distribution) -> Iterator[tuple[Path, str]]:
    """Where each file is, and its name in the folder of packages; programs and links to sources are left out."""
    for one in package.files or ():
        path, name = Path(str(package.locate_file(one))), one.as_posix()
        if not name.startswith(("../", "/")) and not name.endswith(".pth") and path.is_file():
            yield path, name


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)  # nothing is written to it: it goes from here into the image
    except OSError:
        shutil.copy2(source, target)
