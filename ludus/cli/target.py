"""Targets of verbs that make one environment here: ids, `module:Env`, and folders with a manifest."""

from typing import NamedTuple

from ludus.core import EnvSpec
from ludus.packaging.manifest import is_folder, read_manifest
from ludus.server.openenv_target import folder_spec

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
        return Meant(text)
    manifest = read_manifest(text)
    asked = manifest.enter(isolation).isolation
    if manifest.kind != "asgi":
        return Meant(manifest.target)
    # The spec names an adapter of ours: the code is the folder's.
    return Meant(folder_spec(manifest), None if asked == "none" else asked)
