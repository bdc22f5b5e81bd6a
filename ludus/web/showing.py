"""`show`: the pages over some environments, on this machine alone, until they are stopped."""

from collections.abc import Callable, Sequence
from typing import Any

from ludus.registry import list_envs, registry
from ludus.registry.ownership import DISTRIBUTION
from ludus.serve.access import Access
from ludus.serve.listening import Listening
from ludus.serve.plan import Plan
from ludus.serve.run import run
from ludus.serve.settings import Settings

__all__ = ["built_in", "show"]


def built_in() -> list[str]:
    """The environments that come with the library and need nothing else.

    >>> "CartPole-v1" in built_in()
    True
    """
    offered = (one for one in list_envs() if registry.package(one) == DISTRIBUTION)
    return [one.id for one in offered if not one.extras and not one.deprecated]


def show(targets: Sequence[str], *, port: int = 8000, ready: Callable[[str], Any] = lambda _: None) -> None:
    """Serve the targets, or all that is built in, on loopback; `ready` is told the address."""
    run(Plan(targets or built_in(), Settings(), Access(), Listening(port=port)), ready)
