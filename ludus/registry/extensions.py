"""What rooms above a server add to it: `ludus.composition` registers it here, and it is loaded when it is used."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ludus.errors import ServiceError

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

__all__ = ["Extensions", "extensions", "register_extensions"]


class Extensions(NamedTuple):
    """The rooms above, as far as a server uses them."""

    pages: "Callable[[], list[BaseRoute]]"
    """The routes of the pages that a browser sees."""
    openenv_class: str
    """The entry point that makes an environment of a class that was written for OpenEnv."""
    openenv_folder: str
    """The same of a folder."""


_registered: list[Extensions] = []


def register_extensions(found: Extensions) -> None:
    """Use these from now on."""
    _registered[:] = [found]


def extensions() -> Extensions:
    """What was registered; `import ludus` does that, whatever is imported of it.

    >>> import ludus
    >>> extensions().openenv_class
    'ludus.interop.openenv:create'
    """
    if not _registered:
        raise ServiceError("server: expected `import ludus` before a server is made, got the room by itself")
    return _registered[0]
