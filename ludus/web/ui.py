"""`show`: the pages over some environments, on this machine alone, until they are stopped."""

from collections.abc import Callable, Sequence

from ludus.registry import list_envs, registry
from ludus.registry.ownership import DISTRIBUTION
from ludus.server.config import ServerConfig
from ludus.server.listen_config import ListenConfig
from ludus.server.run import run
from ludus.server.served_env import ServedEnv
from ludus.server.server_plan import ServerPlan

__all__ = ["built_in", "show"]

FAMILIES_OF_MANY = ("atari", "openspiel")
"""Families with an id for each game of one class, which is in the family `open`, and plays any of them."""


def built_in() -> list[str]:
    """The environments that come with the library, a class of many games once; pages say what is not installed.

    >>> "CartPole-v1" in built_in(), "open/Atari-v0" in built_in(), "open/Atari-pong-v0" in built_in()
    (True, True, False)
    """
    offered = (one for one in list_envs() if registry.package(one) == DISTRIBUTION)
    return [one.id for one in offered if one.family not in FAMILIES_OF_MANY and not one.deprecated]


def show(targets: Sequence[str], *, port: int = 8000, ready: Callable[[str], object] = lambda _: None) -> None:
    """Serve the targets, or all that is built in, on loopback; `ready` is called with the address.

    Targets that cannot be made are refused; of what is built in, each page tells what it lacks.
    """
    chosen = targets or [ServedEnv(one) for one in built_in()]
    run(ServerPlan(chosen, ServerConfig(listen=ListenConfig(port=port))), ready)
