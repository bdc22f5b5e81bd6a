"""Modules that are found where they are known to be, without a look at the folder that they are in.

Python's own search lists that folder, and a sandbox may not let it: who may list one folder under Landlock may list all
that are below it. The same way a module is found whose file has another name, behind a link or an editable install.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import NamedTuple

__all__ = ["LocatedFinder", "Location"]


class Location(NamedTuple):
    """Where a module is: its file, and the folders of its submodules; a namespace package has no file.

    >>> Location("/srv/project/mine.py").places
    ['/srv/project/mine.py']
    """

    file: str | None
    folders: Sequence[str] | None = None

    @property
    def places(self) -> list[str]:
        """What has to be visible for it."""
        return list(self.folders) if self.folders else [self.file] if self.file else []


class LocatedFinder:
    """Finds outermost modules by name; it comes after what is built in, and before the search through folders.

    >>> finder = LocatedFinder({"mine": ("/srv/project/mine.py", None)})
    >>> finder.find_spec("mine").origin
    '/srv/project/mine.py'
    >>> finder.find_spec("other") is None
    True
    """

    def __init__(self, known: Mapping[str, tuple[str | None, Sequence[str] | None]]) -> None:
        self._known = {name: Location(*where) for name, where in known.items()}

    def install(self) -> None:
        """Have the import system ask it."""
        sys.meta_path.insert(len(sys.meta_path) - 1, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """As the import system asks."""
        del path, target
        where = self._known.get(name)
        if where is None:
            return None
        folders = None if where.folders is None else list(where.folders)
        if where.file is not None:
            return spec_from_file_location(name, where.file, submodule_search_locations=folders)
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = folders
        return spec
