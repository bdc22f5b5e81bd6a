"""Targets: `module:Id` and `module:Class`, environments of a module that may not have registered them."""

import re
from collections.abc import Callable
from types import ModuleType

from ludus.core import Env, EnvId, EnvSpec
from ludus.core.entry_point import import_named, member
from ludus.errors import (
    EntryPointError,
    LudusError,
    MalformedId,
    NameNotFound,
    UnknownEnvironment,
    VersionNotFound,
    did_you_mean,
    listing,
    shorten,
)
from ludus.registry.ownership import owner

__all__ = ["adhoc_spec", "read_target"]

Find = Callable[[EnvId], EnvSpec]


def read_target(target: str, find: Find) -> EnvSpec:
    """Import the module, then take what it registered under the name, else its class or function of that name.

    A class of the module goes before an environment that another package registered under the same name.
    """
    name, _, rest = target.partition(":")
    if not name or not rest:
        raise MalformedId(f"id: expected 'module:Id' or 'module:Class', as in 'my_module:MyEnv', got {target!r}")
    module = import_named(name, target)
    registered = _registered(rest, find)
    if isinstance(registered, EnvSpec) and owner(registered) == name.partition(".")[0]:
        return registered
    if hasattr(module, rest.partition(".")[0]):
        return _from_member(member(module, rest, target), rest, target)
    if isinstance(registered, EnvSpec):
        return registered
    if isinstance(registered, UnknownEnvironment | MalformedId) and not isinstance(registered, VersionNotFound):
        raise _nothing(module, rest) from registered
    raise registered


def adhoc_spec(creator: Callable[..., object]) -> EnvSpec:
    """A spec for a class or function that is not registered; its name is the id."""
    name = str(getattr(creator, "__name__", None) or type(creator).__name__)
    return EnvSpec(re.sub(r"[^\w.-]", "", name), entry_point=creator)


def _registered(text: str, find: Find) -> EnvSpec | LudusError:
    try:
        return find(EnvId.parse(text))
    except LudusError as error:
        return error


def _from_member(found: object, path: str, target: str) -> EnvSpec:
    if isinstance(found, EnvSpec):
        return found
    if not callable(found):
        raise EntryPointError(f"{target}: expected an Env class or a function that returns one, got {shorten(found)}")
    return EnvSpec(path.rpartition(".")[2], entry_point=target)


def _nothing(module: ModuleType, name: str) -> NameNotFound:
    public = [one for one in dir(module) if not one.startswith("_")]
    classes = [one for one in public if isinstance(kind := getattr(module, one), type) and issubclass(kind, Env)]
    own = [one for one in classes if getattr(module, one).__module__ == module.__name__]
    has = f"its environments are {listing(own)}" if own else "it defines no Env"
    return NameNotFound(
        f"no environment '{module.__name__}:{name}': the module neither registers nor defines {name!r}"
        f"{did_you_mean(name, own) or ';'} {has}"
    )
