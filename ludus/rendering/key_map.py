"""`KeyMap`: which key does which action, from the environment's author or by guessing from the action space."""

from collections.abc import Mapping, Set
from typing import TypeVar

import numpy as np

from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, shorten
from ludus.spaces import Box, Discrete, Space
from ludus.spaces.kinds import is_array, is_integer, is_iterable, is_mapping

__all__ = ["QUIT", "RESTART", "KeyMap"]

RESTART = frozenset({"r"})
QUIT = frozenset({"q", "escape"})
SIGNS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "enter": "↵"}
ALIASES = {" ": "space", "\r": "enter", "\n": "enter", "return": "enter"}
NAMED = frozenset({*SIGNS, "space", "escape", "tab", "backspace"})
ARROWS = {
    1: ("space",),
    2: ("left", "right"),
    3: ("left", "down", "right"),
    4: ("left", "down", "right", "up"),
    5: ("left", "down", "right", "up", "space"),
    6: ("left", "down", "right", "up", "space", "enter"),
}
LETTERS = {"left": "a", "right": "d", "up": "w", "down": "s"}
MORE = "0123456789abcdefghijklmnopstuvwxyz"
"""Keys for the actions of large spaces: not q, not r."""

KeyT = TypeVar("KeyT")
ActionT = TypeVar("ActionT")
Chord = frozenset[str]


class KeyMap:
    """Actions by the keys that are down together; the action of no key at all is the idle one.

    >>> keys = KeyMap({"left": 0, "right": 1})
    >>> keys.choose({"right"})
    1
    >>> keys.legend()
    ['← 0', '→ 1']
    """

    def __init__(self, actions: Mapping[KeyT, object], names: Mapping[ActionT, str] | None = None) -> None:
        self._actions = {_chord(keys): action for keys, action in actions.items()}
        self._names: dict[object, str] = dict((names or {}).items())
        taken = [keys for keys in self._actions if keys & (RESTART | QUIT)]
        if taken:
            raise InvalidArgument(
                f"keys_to_action: expected keys other than r (restarts), q and escape (quit), got {sorted(taken[0])}"
            )
        if not any(self._actions):
            raise InvalidArgument("keys_to_action: expected at least one key, got none")

    @classmethod
    def of(cls, env: AnyEnv, keys_to_action: Mapping[KeyT, object] | None = None) -> "KeyMap":
        """The keys given, else those of the environment's author, else keys that fit the action space.

        An author writes `metadata["keys_to_action"]`, or a method `get_keys_to_action()`.
        """
        given: object = keys_to_action
        if given is None and env.has_wrapper_attr("get_keys_to_action"):
            given = env.get_wrapper_attr("get_keys_to_action")()
        if given is None:
            given = env.metadata.get("keys_to_action") or _guessed(env.action_space)
        if not is_mapping(given):
            raise InvalidArgument(f"keys_to_action: expected actions by their keys, got {shorten(given)}")
        return cls(given, _action_names(env))

    @property
    def has_idle(self) -> bool:
        """Whether there is an action for no key."""
        return frozenset() in self._actions

    def choose(self, held: Set[str]) -> object:
        """The action of the keys that are down: of the most keys that fit; None when nothing fits."""
        fitting = [keys for keys in self._actions if keys <= held]
        return self._actions[max(fitting, key=len)] if fitting else None

    def legend(self) -> list[str]:
        """What each key does, one entry for each action, as it is shown to the player."""
        shown: dict[str, list[str]] = {}
        for keys, action in self._actions.items():
            if keys:
                shown.setdefault(self._label(action), []).append("+".join(SIGNS.get(key, key) for key in sorted(keys)))
        return [f"{'/'.join(keys[:2])} {label}" for label, keys in shown.items()]

    def _label(self, action: object) -> str:
        if is_array(action):
            return " ".join(f"{number:g}" for number in action.ravel())
        return self._names.get(int(action), str(action)) if is_integer(action) else str(action)


def _chord(keys: object) -> Chord:
    """Keys as everybody writes them: a name, a character, several characters, a tuple of these, or a key code."""
    if isinstance(keys, str):
        name = ALIASES.get(keys, keys)
        return frozenset({name}) if name in NAMED else frozenset(ALIASES.get(key, key) for key in name.lower())
    if isinstance(keys, int):
        return _chord(_coded(keys))
    if is_iterable(keys) and isinstance(keys, tuple | frozenset):
        return frozenset(key for one in keys for key in _chord(one))
    raise InvalidArgument(f"keys_to_action: expected names like 'left' or 'a', or tuples of them, got {shorten(keys)}")


def _coded(code: int) -> str:
    # SDL's codes for the arrows, which Gymnasium's environments use as numbers; other keys are their characters.
    arrows = {0x4000004F: "right", 0x40000050: "left", 0x40000051: "down", 0x40000052: "up"}
    if code in arrows:
        return arrows[code]
    if not 0 < code < 0x110000:
        raise InvalidArgument(f"keys_to_action: expected a key code, got {code}; write the key's name instead")
    return chr(code)


def _action_names(env: AnyEnv) -> dict[object, str]:
    """Names of discrete actions, where the author gave some."""
    given: object = env.metadata.get("action_names")
    if given is None and env.has_wrapper_attr("get_action_meanings"):
        given = env.get_wrapper_attr("get_action_meanings")()
    if given is None:
        return {}
    if is_mapping(given):
        return {action: str(name) for action, name in given.items()}
    if not is_iterable(given):
        raise InvalidArgument(f"action_names: expected a name for each action, got {shorten(given)}")
    start = int(env.action_space.start) if isinstance(env.action_space, Discrete) else 0
    return {start + place: str(name).lower() for place, name in enumerate(given)}


def _guessed(space: Space[object]) -> dict[str, object]:
    if isinstance(space, Discrete) and int(space.n) <= len(MORE):
        return _discrete_keys(int(space.n), int(space.start))
    if isinstance(space, Box) and space.shape == (1,):
        low, high = (
            float(end[0]) if np.isfinite(end[0]) else far for end, far in ((space.low, -1.0), (space.high, 1.0))
        )
        idle = min(max(0.0, low), high)
        return {key: np.array([at], dtype=space.dtype) for key, at in (("left", low), ("right", high), ("", idle))}
    raise InvalidArgument(
        f"play: expected Discrete actions, at most {len(MORE)}, or a Box of one number, got {shorten(space)}; "
        "pass keys_to_action, or give the environment metadata['keys_to_action']"
    )


def _discrete_keys(count: int, start: int) -> dict[str, object]:
    arrows = ARROWS.get(count, ())
    found: dict[str, object] = {key: start + place for place, key in enumerate(arrows)}
    found |= {LETTERS[key]: start + place for place, key in enumerate(arrows) if key in LETTERS}
    return found | {key: start + place for place, key in enumerate(MORE[:count]) if count <= 10 or not arrows}
