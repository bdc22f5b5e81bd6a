"""What an environment's code has to find installed, from all the places where its folder may say so."""

import re
from pathlib import Path

import msgspec

from ludus.core.foreign_file import read_foreign_file, read_foreign_toml
from ludus.errors import InvalidSpec, shorten
from ludus.packaging.manifest import Manifest
from ludus.registry.ownership import DISTRIBUTION, MODULE
from ludus.spaces.kinds import is_list
from ludus.version import __version__

__all__ = ["name_of", "requirements"]

PROJECT = "pyproject.toml"
OPENENV_FILE = "server/requirements.txt"
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._, -]*\])?\s*([<>=!~;@(].*)?")


def requirements(manifest: Manifest) -> list[str]:
    """Ludus itself with what serves, then those of the manifest, of the package and of OpenEnv's file.

    >>> requirements(Manifest(Path("maze"), "maze", "maze:Maze"))[0].partition("==")[0]
    'ludus-rl[serve]'
    """
    dependencies = [*manifest.security.dependencies, *_of_project(manifest.folder), *_of_openenv(manifest)]
    found: dict[str, str] = {}
    for one in dependencies:
        if not REQUIREMENT.fullmatch(one.strip()):
            raise InvalidSpec(f"dependencies: expected a requirement like 'numpy>=2', got {shorten(one)}")
        found.setdefault(name_of(one), one.strip())
    if MODULE in found:
        raise InvalidSpec(f"dependencies: expected {DISTRIBUTION!r}, got {MODULE!r}, which is another's package")
    found.pop(DISTRIBUTION, None)
    return [f"{DISTRIBUTION}[serve]=={__version__}", *found.values()]


def name_of(requirement: str) -> str:
    """The name in a requirement, as package indexes compare names."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def _of_project(folder: Path) -> list[str]:
    path = folder / PROJECT
    if not path.is_file():
        return []
    try:
        data: object = read_foreign_toml(read_foreign_file(path))
        found: object = data.get("project", {}).get("dependencies", [])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, AttributeError) as error:
        raise InvalidSpec(
            f"{path}: expected TOML with a [project] table, got {type(error).__name__}: {error}"
        ) from error
    texts = [one for one in found if isinstance(one, str)] if is_list(found) else []
    if not is_list(found) or len(texts) < len(found):
        raise InvalidSpec(f"{path}: project.dependencies: expected a list of text, got {shorten(found)}")
    return texts


def _of_openenv(manifest: Manifest) -> list[str]:
    if manifest.kind != "asgi":
        return []
    path = manifest.folder / OPENENV_FILE
    try:
        lines = read_foreign_file(path).decode("utf8").splitlines() if path.is_file() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{path}: expected a list of requirements, got {error}") from error
    named = [line.partition(" #")[0].strip() for line in lines]
    return ["openenv", *(line for line in named if line and not line.startswith(("#", "-")))][::-1]
