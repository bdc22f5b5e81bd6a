"""Installed packages that an agent's Python has: those that its task names, and nothing else of the host's.

Whole `site-packages` would be simpler, and would bring in whatever lies there, the graders of our own tasks first of
all. So each distribution is looked up, its outermost folders and files are mounted read-only in one folder, and Ludus
itself, where a task asks for it, comes without its tasks.
"""

import os
import re
import sys
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from ludus.errors import InvalidArgument, shorten
from ludus.sandbox import Mount
from ludus.sandbox.mounts import PACKAGE, base_mounts

__all__ = ["PACKAGES", "agent_python", "hiding_mounts", "package_mounts"]

PACKAGES = "/opt/packages"
"""Where they are seen."""
OWN_DISTRIBUTION = "ludus-rl"
HIDDEN = ("tasks", "__pycache__")
NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")


def package_mounts(requirements: tuple[str, ...], where: str = PACKAGES) -> tuple[Mount, ...]:
    """Mounts of the distributions and all they need themselves, extras left out.

    >>> any(mount.where == "/opt/packages/numpy" for mount in package_mounts(("numpy",)))
    True
    """
    sources: dict[str, Path] = {}
    for name in _closure(requirements):
        sources |= _ours() if _plain(name) == OWN_DISTRIBUTION else _outermost(_found(name))
    return tuple(Mount(os.path.realpath(path), f"{where}/{name}") for name, path in sorted(sources.items()))


@cache
def _closure(requirements: tuple[str, ...]) -> tuple[str, ...]:
    """The names of everything that is needed, once each."""
    found: dict[str, str] = {}
    todo = [_name(one) for one in requirements]
    while todo:
        name = todo.pop()
        if _plain(name) in found:
            continue
        found[_plain(name)] = name
        todo += [_name(one) for one in _found(name).requires or () if "extra ==" not in one and _present(one)]
    return tuple(found.values())


def _present(requirement: str) -> bool:
    """Whether it is there: what is meant for another platform or Python is not."""
    try:
        distribution(_name(requirement))
    except PackageNotFoundError:
        return False
    return True


def _name(requirement: str) -> str:
    match = NAME.match(requirement)
    if match is None:
        raise InvalidArgument(f"requirements: expected names of distributions, got {shorten(requirement)}")
    return match[1]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _found(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        raise InvalidArgument(
            f"requirements: expected distributions that are installed here, got {name!r}; pip install it beside Ludus"
        ) from error


@cache
def _outermost(found: Distribution) -> dict[str, Path]:
    """The outermost names of a distribution, with where they are."""
    tops = {file.parts[0] for file in found.files or () if file.parts and file.parts[0] not in ("..", "__pycache__")}
    located = {top: Path(str(found.locate_file(top))) for top in tops if not top.endswith(".pth")}
    return {top: path for top, path in located.items() if path.exists()}


def _ours() -> dict[str, Path]:
    """Ludus without its tasks: graders and reference solutions lie there."""
    return {f"ludus/{one.name}": one for one in PACKAGE.iterdir() if one.name not in HIDDEN}


def hiding_mounts(empty: str) -> tuple[Mount, ...]:
    """An empty folder over our tasks, where the interpreter's own packages hold them."""
    tasks = str(PACKAGE / "tasks")
    return (Mount(empty, tasks),) if any(tasks.startswith(f"{one.where}/") for one in base_mounts()) else ()


@cache
def agent_python() -> str:
    """The interpreter that an agent's sandbox has: this one, without its virtual environment."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = [Path(sys.base_prefix, "bin", one) for one in (name, "python3")]
    known = [str(one) for one in candidates if one.exists()]
    return known[0] if known else "python3"
