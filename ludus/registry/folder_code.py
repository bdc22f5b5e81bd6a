"""Code of a folder: where this process finds it, and that it runs none of it here where that has to be isolated.

A folder at the head of `sys.path` is asked for every module that is not loaded yet, so that its `shlex.py` runs as soon
as anything needs shell quoting: what has to be isolated is never put there. Its module is located, and not loaded.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from ludus.registry.trust import IsolationRequirement, required_in_folder

__all__ = ["IsolatedFinder", "enter_folder"]


class IsolatedFinder:
    """Tells where the module of a folder is, and lets nobody run it in this process; without a name, any of them.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "maze.py").write_text("")
    ...     IsolatedFinder("maze", [folder]).find_spec("maze").has_location
    True
    """

    def __init__(self, module: str, folders: Sequence[str]) -> None:
        self.module, self.folders = module, list(folders)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """As the import system asks."""
        del target
        matches = name == self.module or (not self.module and path is None)
        found = PathFinder.find_spec(name, self.folders) if matches else None
        if found is not None:
            found.loader = self  # pyright: ignore[reportAttributeAccessIssue]
        return found

    def create_module(self, spec: ModuleSpec) -> None:
        """As any other is."""

    def exec_module(self, module: ModuleType) -> None:
        """Refuse; one that nobody named as if there were none, so that whoever can do without it does."""
        kind = ImportError if self.module else ModuleNotFoundError
        raise kind(
            f"{module.__name__}: expected code that may run in this process, got that of {self.folders[-1]}, which has "
            "to be isolated; pass isolation='none' if you trust the folder",
            name=module.__name__,
        )


def enter_folder(folders: Sequence[str], target: str, isolation: object = None) -> IsolationRequirement:
    """Have Python find the code of a folder, for the rest of this process; what trust asks for, for its code.

    `target` is `module:name`, as its manifest says. Where nothing is asked for, or where `isolation` is "none", the
    folder goes before all others that are imported from; else its module is only located. Without a target, which a
    file may have, the folder comes after all others.
    """
    module = target.partition(":")[0].partition(".")[0]
    _leave(module, folders)
    if set(folders) <= set(sys.path):  # somebody's own doing
        return required_in_folder(target)
    sys.meta_path.insert(0 if module else len(sys.meta_path), IsolatedFinder(module, folders))
    required = required_in_folder(target)
    if (required.isolation if isolation is None else isolation) == "none":
        _leave(module, folders)
        place = 0 if module else len(sys.path)
        sys.path[place:place] = [path for path in folders if path not in sys.path]
    return required


def _leave(module: str, folders: Sequence[str]) -> None:
    """Forget what was located there before."""
    sys.meta_path[:] = [
        one
        for one in sys.meta_path
        if not (isinstance(one, IsolatedFinder) and (one.module, one.folders) == (module, list(folders)))
    ]
