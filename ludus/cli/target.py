"""Targets of verbs that make one environment here: ids, `module:Env`, classes of OpenEnv's, and folders."""

from typing import NamedTuple

from ludus.core import EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import LudusError
from ludus.packaging.manifest import is_folder, read_manifest
from ludus.registry.trust import required_before_import
from ludus.server.openenv_target import folder_spec, is_openenv, openenv_spec

__all__ = ["Meant", "meant"]


class Meant(NamedTuple):
    """What `make` takes, and the isolation that it has to have where nobody says which."""

    target: str | EnvSpec
    isolation: str | None = None


def meant(text: str, isolation: str | None = None) -> Meant:
    """What a word of the command line means: a folder stands for the environment that its manifest names.

    `isolation` is what it will be made in, where somebody says so.

    >>> meant("CartPole-v1")
    Meant(target='CartPole-v1', isolation=None)
    """
    if not is_folder(text):
        return Meant(_class_of_openenv(text, isolation) or text)
    manifest = read_manifest(text)
    level = manifest.enter(isolation).isolation
    if manifest.kind != "asgi":
        return Meant(manifest.target)
    # The spec names an adapter of ours: the code is the folder's.
    return Meant(folder_spec(manifest), None if level == "none" else level)


def _class_of_openenv(text: str, isolation: str | None) -> EnvSpec | None:
    """The spec of `module:Class` where that was written for OpenEnv, and may be imported here to see so."""
    if ":" not in text or isolation not in (None, "none") or required_before_import(text).isolation != "none":
        return None
    try:
        found: object = load_entry_point(text)
    except LudusError:  # making it says better what is wrong
        return None
    return openenv_spec(text, found) if is_openenv(found) else None
