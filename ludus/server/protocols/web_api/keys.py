"""Keys: which key of a browser does which action, and what the actions are called."""

from collections.abc import Callable
from itertools import chain, combinations
from string import ascii_lowercase, digits
from typing import TypedDict

from ludus.core.env import AnyEnv
from ludus.rendering.key_map import QUIT, RESTART, KeyMap
from ludus.server.protocols.web_api.page_json import plain
from ludus.spaces import Discrete
from ludus.spaces.kinds import is_iterable, is_mapping

__all__ = ["KeyTable", "key_table"]

NAMED = ("left", "right", "up", "down", "space", "enter", "backspace")
SINGLE = tuple(key for key in (*NAMED, *digits, *ascii_lowercase, *".,;-+") if key not in RESTART | QUIT)
MAX_KEYS = 12
"""Of those that act alone; chords are looked for among no more."""
MAX_BUTTONS = 64


class KeyRow(TypedDict):
    """Keys that are held together, and what they do."""

    keys: list[str]
    action: object


class Button(TypedDict):
    """A discrete action and its name."""

    action: int
    label: str


class KeyTable(TypedDict):
    """Keys, the action of no key, and the names of actions."""

    keys: list[KeyRow]
    idle: object
    has_idle: bool
    buttons: list[Button]


def key_table(env: AnyEnv) -> KeyTable:
    """Keys, the action of no key, and the names of actions, as JSON; empty where keys make no sense.

    >>> from ludus.registry import make
    >>> key_table(make("CartPole-v1"))["keys"][:2]
    [{'keys': ['left'], 'action': 0}, {'keys': ['right'], 'action': 1}]
    """
    table: KeyTable = {"keys": [], "idle": None, "has_idle": False, "buttons": _buttons(env)}
    try:
        keys = KeyMap.of(env)
        table["keys"] = _rows(keys, lambda action: plain(env.action_space.encode(action, binary=False)))
        if keys.has_idle:
            table["idle"] = plain(env.action_space.encode(keys.choose(frozenset()), binary=False))
            table["has_idle"] = True
    except Exception:  # no keys fit the actions, or the author's own table is broken: there is a form
        table["keys"] = []
    return table


def _rows(keys: KeyMap, written: Callable[[object], object]) -> list[KeyRow]:
    """Every key that acts alone, then every pair and triple that does something else than its parts."""
    idle = keys.choose(frozenset())
    alone = [key for key in SINGLE if (action := keys.choose({key})) is not None and action is not idle]
    found = {frozenset({key}): written(keys.choose({key})) for key in alone}
    rows: list[KeyRow] = [{"keys": [key], "action": found[frozenset({key})]} for key in alone]
    for chord in chain(combinations(alone, 2), combinations(alone, 3)) if len(alone) <= MAX_KEYS else ():
        action = found[frozenset(chord)] = written(keys.choose(set(chord)))
        if not any(action == found[frozenset(part)] for part in combinations(chord, len(chord) - 1)):
            rows.append({"keys": list(chord), "action": action})
    return rows


def _buttons(env: AnyEnv) -> list[Button]:
    """Discrete actions by name."""
    space = env.action_space
    if not isinstance(space, Discrete) or int(space.n) > MAX_BUTTONS:
        return []
    start, count = int(space.start), int(space.n)
    names = _names(env, start)
    return [{"action": action, "label": names.get(action, str(action))} for action in range(start, start + count)]


def _names(env: AnyEnv, start: int) -> dict[int, str]:
    try:
        given: object = env.metadata.get("action_names")
        if given is None and env.has_wrapper_attr("get_action_meanings"):
            given = env.get_wrapper_attr("get_action_meanings")()
        listed = given if is_iterable(given) else ()
        pairs = given.items() if is_mapping(given) else enumerate(listed, start)
        return {int(action): plain(str(name).lower()) for action, name in pairs}
    except Exception:  # the author's own table is broken: numbers say it too
        return {}
