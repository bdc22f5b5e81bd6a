"""Settings of a console, checked, and those that OpenEnv's server reads from variables."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from ludus.errors import InvalidArgument, shorten
from ludus.spaces.kinds import is_list_or_tuple

__all__ = ["ObsType", "Settings", "settings_of"]

ObsType = Literal["rgb", "grayscale", "ram"]
MAX_SKIP = 60
MAX_NOOPS = 1000
VARIABLES = {
    "game": "ATARI_GAME",
    "obs_type": "ATARI_OBS_TYPE",
    "full_action_space": "ATARI_FULL_ACTION_SPACE",
    "mode": "ATARI_MODE",
    "difficulty": "ATARI_DIFFICULTY",
    "repeat_action_probability": "ATARI_REPEAT_ACTION_PROB",
    "frameskip": "ATARI_FRAMESKIP",
}
"""Of OpenEnv's server: what an argument leaves open is taken from them."""


@dataclass(frozen=True)
class Settings:
    """How a game is played."""

    game: str = "pong"
    obs_type: ObsType = "rgb"
    full_action_space: bool = False
    mode: int | None = None
    difficulty: int | None = None
    repeat_action_probability: float = 0.0
    frameskip: int | tuple[int, int] = 4
    noop_max: int = 30
    terminal_on_life_loss: bool = False


def settings_of(given: Mapping[str, object]) -> Settings:
    """The arguments, then the variables, then what is usual; raises InvalidArgument."""
    names = [one.name for one in fields(Settings)]
    unknown = given.keys() - set(names)
    if unknown:
        raise InvalidArgument(f"Atari: expected some of {names} as settings, got {sorted(unknown)}")
    told = {name: _read(name, os.environ[key]) for name, key in VARIABLES.items() if os.environ.get(key)}
    asked = {**told, **{name: one for name, one in given.items() if one is not None}}
    known = replace(Settings(), **asked)
    _check(known)
    return known


def _read(name: str, text: str) -> int | float | bool | str:
    try:
        if name in ("mode", "difficulty", "frameskip"):
            return int(text)
        if name == "repeat_action_probability":
            return float(text)
    except ValueError:
        raise InvalidArgument(f"{VARIABLES[name]}: expected a number, got {shorten(text)}") from None
    if name != "full_action_space":
        return text
    if text.lower() not in ("true", "false", "1", "0"):
        raise InvalidArgument(f"{VARIABLES[name]}: expected true or false, got {shorten(text)}")
    return text.lower() in ("true", "1")


def _check(one: Settings) -> None:
    if one.obs_type not in get_args(ObsType):
        raise InvalidArgument(f"Atari obs_type: expected one of {list(get_args(ObsType))}, got {shorten(one.obs_type)}")
    for name in ("full_action_space", "terminal_on_life_loss"):
        if not isinstance(getattr(one, name), bool):
            raise InvalidArgument(f"Atari {name}: expected True or False, got {shorten(getattr(one, name))}")
    chance = one.repeat_action_probability
    if not _is_number(chance) or not 0 <= chance < 1:
        raise InvalidArgument(f"Atari repeat_action_probability: expected 0 to less than 1, got {shorten(chance)}")
    skips = _pair(one.frameskip)
    numbers = [skip for skip in skips if type(skip) is int]
    if len(skips) != 2 or len(numbers) != 2 or not 1 <= numbers[0] <= numbers[1] <= MAX_SKIP:
        raise InvalidArgument(
            f"Atari frameskip: expected 1 to {MAX_SKIP} frames, or two such numbers to draw between, "
            f"got {shorten(one.frameskip)}"
        )
    if type(one.noop_max) is not int or not 0 <= one.noop_max <= MAX_NOOPS:
        raise InvalidArgument(f"Atari noop_max: expected 0 to {MAX_NOOPS} frames, got {shorten(one.noop_max)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pair(given: object) -> Sequence[object]:
    return given if is_list_or_tuple(given) else (given, given)
