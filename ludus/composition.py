"""What a room below needs of one above is registered here, and loaded when it is first used. `import ludus` does it."""

from typing import TYPE_CHECKING

from ludus.core import EnvSpec
from ludus.registry.extensions import Extensions, register_extensions
from ludus.registry.libraries import Library, register_library

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

__all__ = ["compose"]

OF_GYMNASIUM = frozenset(
    (
        *("ALE", "phys2d", "tabular"),
        *("BipedalWalker", "BipedalWalkerHardcore", "CarRacing", "LunarLander", "LunarLanderContinuous"),
        *("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum", "InvertedPendulum"),
        *("Pusher", "Reacher", "Swimmer", "Walker2d"),
    )
)
"""What Gymnasium has, with Box2D, MuJoCo and the Arcade Learning Environment, and Ludus makes by it alone."""


def compose() -> None:
    """Tell the registry who has Gymnasium's namespace, and servers where their pages and OpenEnv's adapters are."""
    register_library("gymnasium", Library("ludus.interop.gymnasium", _gymnasium_spec, OF_GYMNASIUM))
    register_extensions(Extensions(_pages, "ludus.interop.openenv:create", "ludus.interop.openenv:create_folder"))


def _gymnasium_spec(id: str) -> EnvSpec:
    from ludus.interop.gymnasium import resolve  # Gymnasium is loaded where somebody asks for one of its environments

    return resolve(id)


def _pages() -> "list[BaseRoute]":
    from ludus.web.pages import routes  # a web server's packages are loaded by servers alone

    return list(routes())
