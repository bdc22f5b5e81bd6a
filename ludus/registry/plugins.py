"""Plugins: what installed packages announce in the entry-point group `ludus.envs`; none of their code is imported."""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, NamedTuple

from ludus.core import EnvId, EnvSpec
from ludus.errors import EntryPointError, LudusError, MalformedId
from ludus.registry.catalog import Entry, is_catalog, locate, read_catalog
from ludus.registry.ownership import DISTRIBUTION

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["Claim", "Findings", "PluginProblem", "announcing", "discover", "nobody_announces"]

GROUP = "ludus.envs"
OPEN = "envs/open"
BUILT_IN = ("envs/catalog.toml", f"{OPEN}/openspiel/games.json", f"{OPEN}/atari/games.json", "tasks/catalog.toml")
"""Catalogs of what comes with the library."""
INFO_FOLDERS, INFO_FILE = (".dist-info", ".egg-info"), "entry_points.txt"
"""In which installed packages announce entry points."""


class Claim(NamedTuple):
    """A package says that an id is its."""

    package: str
    spec: EnvSpec
    announced: bool = False
    """Whether the package is an installed one that said so in its metadata, not code that called `register`."""


class PluginProblem(NamedTuple):
    """Something a package announced that cannot be used; shown when it is asked for."""

    package: str
    error: LudusError
    id: str | None = None
    """The id that is concerned, where one is known."""
    modules: tuple[str, ...] = ()
    """Namespaces the package is likely to use, where no id is known."""

    def __str__(self) -> str:
        return f"{self.package}: {self.error}"

    def concerns(self, id: EnvId) -> bool:
        """Whether it explains why `id` is not known."""
        if self.id is not None:
            return self.id in (str(id), id.base) or (id.version is None and self.id.startswith(f"{id.base}-v"))
        return id.namespace is not None and _plain(id.namespace) in map(_plain, (self.package, *self.modules))


class Findings:
    """What a look around found, in the order of packages; nothing is decided yet."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.problems: list[PluginProblem] = []

    def take(self, package: str, entries: Iterable[Entry], modules: tuple[str, ...] = ()) -> None:
        """Sort the entries of one announcement into claims and problems."""
        for name, entry in entries:
            if isinstance(entry, EnvSpec):
                self.claims.append(Claim(package, entry, announced=True))
            else:
                self.problems.append(PluginProblem(package, entry, name, modules))


def discover() -> Findings:
    """The built-in environments and tasks, then those of installed packages, by package name."""
    from pathlib import Path

    findings = Findings()
    for name in BUILT_IN:
        findings.take(DISTRIBUTION, read_catalog(Path(__file__).parents[1] / name))
    for package, distribution in sorted(announcing(), key=lambda one: one[0]):
        _read_distribution(package, distribution, findings)
    return findings


def announcing() -> Iterator[tuple[str, "Distribution"]]:
    """The distributions with entry points for us; of two with one name, the one that Python would import."""
    if nobody_announces(GROUP):
        return
    from importlib.metadata import distributions  # and with it the parsers of e-mail, tables and archives

    seen: set[str] = set()
    for distribution in distributions():
        try:
            # The text first: parsing the metadata of every installed package would cost more than all the rest.
            if f"[{GROUP}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            package = str(distribution.metadata["Name"])
        except Exception:  # noqa: S112  (another package's metadata is unreadable: nothing of ours can be read from it)
            continue
        if _plain(package) not in seen:
            seen.add(_plain(package))
            yield package, distribution


def _read_distribution(package: str, distribution: "Distribution", findings: Findings) -> None:
    try:
        entry_points = [one for one in distribution.entry_points if one.group == GROUP]
    except Exception as error:  # whatever a malformed file makes the standard library raise
        problem = EntryPointError(f"expected a readable entry_points.txt, got {type(error).__name__}: {error}")
        findings.problems.append(PluginProblem(package, problem))
        return
    for one in entry_points:
        modules = (one.value.partition(":")[0].partition(".")[0],)
        findings.take(package, _entries(one.name, one.value, distribution), modules)


def _entries(name: str, value: str, distribution: "Distribution") -> Iterator[Entry]:
    """What one line of entry_points.txt stands for: a catalog, or one environment."""
    if not is_catalog(value):
        yield _from_line(name, value)
        return
    try:
        yield from read_catalog(locate(value, distribution))
    except LudusError as error:
        yield None, error
    except Exception as error:  # an import hook of theirs, asked where a package is, may raise anything
        yield (
            None,
            EntryPointError(f"{value}: expected a package that can be found, got {type(error).__name__}: {error}"),
        )


def _from_line(name: str, value: str) -> Entry:
    target, _, extras = value.partition("[")
    listed = tuple(one.strip() for one in extras.strip(" ]").split(",") if one.strip())
    try:
        return name, EnvSpec(name, entry_point=target.strip(), extras=listed)
    except LudusError as error:
        return (None if isinstance(error, MalformedId) else name), error


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def nobody_announces(group: str) -> bool:
    """Whether no installed package has entry points in a group; False as well wherever a look does not settle it.

    Loading `importlib.metadata` takes longer than this look at all files, and most installations announce nothing.

    >>> nobody_announces("console_scripts")
    False
    """
    others = (one for one in sys.meta_path if one is not PathFinder)
    if any(hasattr(one, "find_distributions") for one in others):  # packages that are not where Python looks for them
        return False
    return not any(_may_announce(place, f"[{group}]".encode()) for place in sys.path)


def _may_announce(place: object, heading: bytes) -> bool:
    """Whether an entry of the path announces something, or is an archive or an egg, which is not looked into here."""
    if not isinstance(place, str) or os.path.isfile(place) or place.lower().endswith(".egg"):
        return True
    try:
        names = os.listdir(place or os.curdir)
    except OSError:  # nothing is imported from there either
        return False
    infos = (name for name in names if name.lower().endswith(INFO_FOLDERS))
    return any(_contains(os.path.join(place, name, INFO_FILE), heading) for name in infos)


def _contains(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return text in file.read()
    except OSError:
        return False
