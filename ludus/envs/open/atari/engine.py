"""The Arcade Learning Environment: opened when a game is, and nowhere else in Ludus (it is GPL, and an extra)."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ludus.errors import InvalidArgument, MissingExtra, did_you_mean, shorten

if TYPE_CHECKING:
    import ale_py

__all__ = ["console", "engine", "game_names"]

OF_SEVERAL = frozenset({"combat", "joust", "maze_craze", "warlords"})
"""Games of several players, which the engine does not know: asked for one, it ends the process."""


class Roms(Protocol):
    """What is used of the module `ale_py.roms`."""

    def get_all_rom_ids(self) -> list[str]:
        """Every game."""
        ...

    def get_rom_path(self, name: str, /) -> Path | None:
        """The file of a game."""
        ...


class AtariModule(Protocol):
    """What is used of the module `ale_py`."""

    ALEInterface: "type[ale_py.ALEInterface]"

    @property
    def roms(self) -> Roms:
        """Its module of the same name."""
        ...


@cache
def engine() -> AtariModule:
    """The module `ale_py`, set to print errors alone; raises MissingExtra with what to type."""
    try:
        import ale_py  # lazily: who plays something else may not have it
    except ImportError as error:
        raise MissingExtra(
            'open/Atari: expected the package ale-py, got none; pip install "ludus-rl[atari]"', name="ale_py"
        ) from error
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    return ale_py


@cache
def game_names() -> tuple[str, ...]:
    """The games whose ROMs come with the engine and that one player can play."""
    return tuple(sorted(set(engine().roms.get_all_rom_ids()) - OF_SEVERAL))


def console(game: object) -> "ale_py.ALEInterface":
    """A console with a game in it; raises InvalidArgument for what is none."""
    known = game_names()
    if not isinstance(game, str) or game not in known:
        hint = did_you_mean(game, list(known)) if isinstance(game, str) else ""
        why = ", which needs several players" if isinstance(game, str) and game in OF_SEVERAL else ""
        raise InvalidArgument(
            f"Atari game: expected one of {len(known)} games of ale-py, like 'pong', got {shorten(game)}{why}{hint}; "
            "`ludus list --family atari` shows them"
        )
    ale = engine().ALEInterface()
    ale.setInt("random_seed", 0)  # sticky actions and no-ops are drawn from our stream: nothing of the engine's is
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("max_num_frames_per_episode", 0)
    ale.loadROM(engine().roms.get_rom_path(game))
    return ale
