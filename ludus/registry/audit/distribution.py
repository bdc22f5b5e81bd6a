"""Distributions: installed packages as their metadata describe them."""

import re
from importlib.metadata import Distribution, distributions

import msgspec

from ludus.errors import InvalidArgument, listing
from ludus.registry.ownership import DISTRIBUTION
from ludus.registry.plugins import announcing
from ludus.spaces.kinds import is_dict
from ludus.wire.failures import clean

__all__ = ["chosen", "is_editable", "licence", "name_of", "needed", "normal", "version_of"]

MAX_NAME_CHARS = 80
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def normal(name: str) -> str:
    """A name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def chosen(names: tuple[str, ...]) -> list[Distribution]:
    """The packages of these names; without names, Ludus and all that announce environments."""
    installed = _installed()
    if not names:
        found = [normal(package) for package, _ in announcing()]
        return [installed[name] for name in dict.fromkeys([*sorted(found), DISTRIBUTION]) if name in installed]
    unknown = [name for name in names if normal(name) not in installed]
    if unknown:
        raise InvalidArgument(f"audit: expected installed packages, got {listing(map(repr, unknown))}")
    return [installed[name] for name in dict.fromkeys(map(normal, names))]


def needed(chosen: list[Distribution]) -> list[Distribution]:
    """These packages and all that they require and that is installed, extras left out."""
    installed, found = _installed(), dict[str, Distribution]()
    waiting = list(chosen)
    while waiting:
        one = waiting.pop()
        if normal(name_of(one)) not in found:
            found[normal(name_of(one))] = one
            names = [normal(match[0]) for text in one.requires or [] if (match := NAME.match(text)) and _applies(text)]
            waiting += [installed[name] for name in names if name in installed]
    return [found[name] for name in sorted(found)]


def _applies(requirement: str) -> bool:
    return "extra ==" not in requirement.partition(";")[2].replace("extra==", "extra ==")


def _installed() -> dict[str, Distribution]:
    """By name; of two with one name, the one that Python would import."""
    found: dict[str, Distribution] = {}
    for one in distributions():
        try:
            found.setdefault(normal(str(one.metadata["Name"])), one)
        except Exception:  # noqa: S112  (unreadable metadata of a package that nobody asked for)
            continue
    return found


def name_of(distribution: Distribution) -> str:
    """The name, fit to be printed."""
    return clean(str(distribution.metadata["Name"]), MAX_NAME_CHARS)


def version_of(distribution: Distribution) -> str:
    """The version, fit to be printed."""
    return clean(str(distribution.metadata["Version"] or ""), MAX_NAME_CHARS)


def licence(distribution: Distribution) -> str:
    """The licence that the metadata state: an expression, a word, or classifiers; empty where there is none."""
    metadata = distribution.metadata
    for name in ("License-Expression", "License"):
        text = str((metadata.get_all(name) or [""])[0]).strip()
        if text and text.upper() != "UNKNOWN":
            return clean(text.splitlines()[0], MAX_NAME_CHARS)
    classifiers = [str(one) for one in metadata.get_all("Classifier") or ()]
    said = [one.rpartition("::")[2].strip() for one in classifiers if one.startswith("License ::")]
    return clean(", ".join(said), MAX_NAME_CHARS)


def is_editable(distribution: Distribution) -> bool:
    """Whether the package's code lies elsewhere, where its author works on it."""
    try:
        data = msgspec.json.decode(distribution.read_text("direct_url.json") or "{}", type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    info = data.get("dir_info")
    return is_dict(info) and bool(info.get("editable"))
