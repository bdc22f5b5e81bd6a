"""Virtual modules: `gymnasium` and all under it, made of names that lead to Ludus and are looked up when used."""

from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

from ludus.interop.as_gymnasium.names import ABSENT, MIRRORS, MODULES, RENAMED, VERSION

__all__ = ["Finder", "Mirror", "VirtualModule", "virtual_module"]

TOP = "gymnasium"
PAGE = "docs/interop.md lists what differs"


class Finder:
    """Finds `gymnasium` and its submodules, before anything on the path."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of a virtual module; a module that Gymnasium has and Ludus has not is an error that says so."""
        del path, target
        top, _, rest = fullname.partition(".")
        if top != TOP:
            return None
        if rest not in MODULES and rest not in MIRRORS:
            parent, _, name = fullname.rpartition(".")
            raise ImportError(f"cannot import {name!r} from {parent!r}: {_missing(parent, name)}", name=parent)
        # All are packages, since only for those does `from … import …` ask here what to say of a missing name.
        return ModuleSpec(fullname, self, origin=__name__.rpartition(".")[0], is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, empty but for what it knows."""
        rest = spec.name.partition(".")[2]
        return Mirror(spec.name, MIRRORS[rest]) if rest in MIRRORS else VirtualModule(spec.name, MODULES[rest])

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: names are looked up when they are used."""


class VirtualModule(ModuleType):
    """A module whose every name is an entry point."""

    __ludus__ = True

    def __init__(self, name: str, groups: Sequence[tuple[str, str]]) -> None:
        super().__init__(name, f"Ludus in the place of `{name}`.")
        targets: dict[str, str] = {}
        for module, names in groups:
            for one in names.split():
                shown, _, target = one.partition("=")
                targets[shown] = f"{module}:{target or shown}"
        self._targets = targets
        if name == TOP:
            self.__version__ = VERSION

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [one for one in self._targets if hasattr(self, one)]
        if name in self._targets:
            value = self._load(name)
        elif (inside := f"{self.__name__}.{name}".partition(".")[2]) in MODULES or inside in MIRRORS:
            value = import_module(f"{self.__name__}.{name}")
        else:
            raise AttributeError(_missing(self.__name__, name), name=name, obj=self)
        super().__setattr__(name, value)
        return value

    def _load(self, name: str) -> Any:
        module, _, target = self._targets[name].partition(":")
        try:
            return getattr(import_module(module), target)
        except (ModuleNotFoundError, AttributeError) as error:
            if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("ludus."):
                raise
            raise AttributeError(_missing(self.__name__, name), name=name, obj=self) from error

    def __reduce__(self) -> tuple[object, ...]:
        """By its name: functions that travel to another process carry the modules they use."""
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: object) -> None:
        # Where a function and the module it is in have one name, the package shows the function.
        if not (isinstance(value, VirtualModule) and name in self._targets):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        inside = self.__name__.partition(".")[2]
        start = f"{inside}." if inside else ""
        below = [one.removeprefix(start) for one in (*MODULES, *MIRRORS) if one.startswith(start) and one != inside]
        return sorted({*self._targets, *[one for one in below if "." not in one], *self.__dict__})


class Mirror(ModuleType):
    """A module that shows another and passes on what is set: programs set `gymnasium.logger.min_level`."""

    __ludus__ = True

    def __init__(self, name: str, shown: str) -> None:
        super().__init__(name, f"Ludus in the place of `{name}`.")
        self.__dict__["_shown"] = import_module(shown)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_shown"], name)

    def __reduce__(self) -> tuple[object, ...]:
        """By its name, as above."""
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: object) -> None:
        shown = self.__dict__.get("_shown")
        if shown is not None and hasattr(shown, name) and not name.startswith("__"):
            setattr(shown, name, value)
        else:
            super().__setattr__(name, value)


def virtual_module(name: str) -> ModuleType:
    """A module of Gymnasium's, made anew."""
    spec = Finder().find_spec(name)
    if spec is None:
        raise ImportError(f"virtual module: expected {TOP!r} or one under it, got {name!r}", name=name)
    return module_from_spec(spec)


def _missing(module: str, name: str) -> str:
    """What to say of a name that is not there."""
    renamed = RENAMED.get(f"{module.partition('.')[2]}.{name}")
    if renamed is not None:
        return f"{name!r} has been renamed with {renamed!r}"
    reason = ABSENT.get(f"{module}.{name}".partition(".")[2], "Ludus, which stands in for Gymnasium here, has none")
    return f"module {module!r} has no attribute {name!r}: {reason}; {PAGE}"
