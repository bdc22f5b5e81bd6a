"""`Room`: this room, which is also the function: `ludus.serve("CartPole-v1")`."""

from importlib import import_module
from types import ModuleType
from typing import Any

from ludus.errors import MissingExtra

__all__ = ["Room", "loaded"]

SERVE = "ludus.serve.run:serve"


class Room(ModuleType):
    """The import system gives the name `ludus.serve` to the room as soon as anything in it is imported: it is both."""

    def __call__(self, *targets: Any, **options: Any) -> Any:
        """`ludus.serve.run.serve`, loaded when it is used."""
        return loaded(SERVE)(*targets, **options)


def loaded(entry_point: str) -> Any:
    """What needs a web server; MissingExtra where there is none.

    >>> loaded("ludus.serve.app:create_app").__name__
    'create_app'
    """
    module, _, name = entry_point.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        package = (error.name or "server").partition(".")[0]
        raise MissingExtra(
            f"serve: expected the packages of the extra 'serve', got no {package}; pip install 'ludus-rl[serve]'"
        ) from error
