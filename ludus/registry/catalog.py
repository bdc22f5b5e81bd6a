"""Catalogs: data files that list a package's environments, read without importing the package."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ludus.core import EnvSpec
from ludus.core.spec import read_fields
from ludus.errors import EntryPointError, InvalidSpec, LudusError, listing, shorten
from ludus.spaces.kinds import is_dict

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["CatalogFile", "is_catalog", "locate", "read_catalog"]

Entry = tuple[str | None, EnvSpec | LudusError]
"""The id it is about, if it is about one, and the spec or what is wrong with it."""


def is_catalog(entry_point: str) -> bool:
    """Whether an entry point names a data file, as `package:ludus.toml` does, rather than code."""
    return entry_point.partition(":")[2].endswith((".toml", ".json"))


class CatalogFile(Protocol):
    """A file of a package, which may be in an archive."""

    @property
    def name(self) -> str:
        """Its last part."""
        ...

    def read_bytes(self) -> bytes:
        """All of it."""
        ...


def locate(entry_point: str, distribution: "Distribution") -> CatalogFile:
    """The file that `package.folder:name.toml` names, in the distribution or else where Python finds the package.

    Only the top package is looked up, because looking up a subpackage would run its parent.
    """
    from importlib.util import find_spec
    from pathlib import Path

    module, _, name = entry_point.partition(":")
    top, *folders = module.split(".")
    installed: Any = distribution.locate_file("/".join([top, *folders, name]))
    if installed.is_file():
        return installed
    found = find_spec(top) if top else None
    for place in (found and found.submodule_search_locations) or ():
        path = Path(place, *folders, name)
        if path.is_file():
            return path
    raise EntryPointError(
        f"{entry_point}: expected the file {name!r} in the package {module!r}, got none; is it in the wheel?"
    )


def read_catalog(path: CatalogFile) -> Iterator[Entry]:
    """What a catalog lists, in its order; an entry that is wrong does not keep the others from being read."""
    import msgspec

    try:
        content = path.read_bytes()
        data: object = msgspec.toml.decode(content) if path.name.endswith(".toml") else msgspec.json.decode(content)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield None, InvalidSpec(f"{path.name}: expected a readable catalog, got {type(error).__name__}: {error}")
        return
    envs: object = data.get("envs") if is_dict(data) else None
    if not is_dict(data) or not is_dict(envs):
        yield None, InvalidSpec(f'{path.name}: expected tables like [envs."my/Maze-v0"], got {shorten(data)}')
        return
    unknown = [name for name in data if name != "envs"]
    if unknown:
        yield (
            None,
            InvalidSpec(f"{path.name}: expected only 'envs' at the top, got {listing(map(repr, unknown))} as well"),
        )
    for name, fields in envs.items():
        yield name, _read(name, fields)


def _read(id: str, fields: object) -> EnvSpec | LudusError:
    try:
        if not is_dict(fields) or not isinstance(fields.get("entry_point"), str):
            raise InvalidSpec(f'{id}: expected a table with entry_point = "module:Class", got {shorten(fields)}')
        if "id" in fields:
            raise InvalidSpec(f"{id}: expected the id as the table's name only, got id = {shorten(fields['id'])} in it")
        return read_fields(EnvSpec, {"id": id, **fields}, id)
    except LudusError as error:
        return error
