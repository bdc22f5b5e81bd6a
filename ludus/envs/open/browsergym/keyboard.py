"""Keys: what the browser gets when one is pressed."""

from ludus.envs.open.browsergym.tab import PageError
from ludus.errors import did_you_mean, shorten

__all__ = ["MODIFIERS", "is_combination", "key_event", "modifier_bits", "split_combination"]

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
ALIASES = {
    "Ctrl": "Control", "ControlOrMeta": "Control", "Cmd": "Meta", "Command": "Meta", "Esc": "Escape", "Return": "Enter",
    "Del": "Delete", "Spacebar": "Space", "Up": "ArrowUp", "Down": "ArrowDown", "Left": "ArrowLeft",
    "Right": "ArrowRight", "Pageup": "PageUp", "Pagedown": "PageDown",
}  # fmt: skip
CODES = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Shift": 16, "Control": 17, "Alt": 18, "Pause": 19, "CapsLock": 20,
    "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "Insert": 45, "Delete": 46, "Meta": 91,
    **{f"F{number}": 111 + number for number in range(1, 13)},
}  # fmt: skip
TEXTS = {"Enter": "\r", "Space": " ", "Tab": ""}
EDITING = {"a": "selectAll", "z": "undo", "y": "redo"}
"""What Control and a letter do in a text: the browser asks its window for that, and here is none."""
PUNCTUATION = {
    ";": 186, ":": 186, "=": 187, "+": 187, ",": 188, "<": 188, "-": 189, "_": 189, ".": 190, ">": 190, "/": 191,
    "?": 191, "`": 192, "~": 192, "[": 219, "{": 219, "\\": 220, "|": 220, "]": 221, "}": 221, "'": 222, '"': 222,
}  # fmt: skip


def is_combination(text: str) -> bool:
    """Whether a text names a key or several, as Enter or Control+a do."""
    parts = text.split("+") if len(text) > 1 else []
    *held, last = [ALIASES.get(part, part) for part in parts] or [""]
    return all(one in MODIFIERS for one in held) and (last in CODES or (bool(held) and len(last) == 1))


def split_combination(text: str) -> list[str]:
    """The keys of a combination: those that are held, and the last one."""
    parts = ["+"] if text == "+" else text.split("+")
    if text.endswith("++"):
        parts = [*text[:-2].split("+"), "+"]
    keys = [ALIASES.get(part, part) for part in parts]
    for key in keys:
        if key not in CODES and len(key) != 1:
            raise PageError(f"there is no key {shorten(key, 40)}{did_you_mean(key, list(CODES))}")
    for held in keys[:-1]:
        if held not in MODIFIERS:
            raise PageError(f"expected {', '.join(MODIFIERS)} before the last key, got {held!r}")
    return keys


def modifier_bits(keys: list[str] | tuple[str, ...]) -> int:
    """Keys that are held, as the protocol wants them."""
    bits = 0
    for key in keys:
        name = ALIASES.get(key, key)
        if name not in MODIFIERS:
            raise PageError(f"expected modifiers of {', '.join(MODIFIERS)}, got {key!r}")
        bits |= MODIFIERS[name]
    return bits


def key_event(key: str, *, down: bool, modifiers: int = 0) -> dict[str, object]:
    """The event of one key."""
    name = " " if key == "Space" else key
    code = CODES.get(key) or (ord(key.upper()) if key.isascii() and key.isalnum() else PUNCTUATION.get(key, 0))
    event: dict[str, object] = {"type": "keyUp", "key": name, "modifiers": modifiers, "windowsVirtualKeyCode": code}
    event["code"] = _code(key)
    if down:
        text = TEXTS.get(key, key if len(key) == 1 else "")
        plain = not modifiers & ~MODIFIERS["Shift"]
        if text and plain:
            event |= {"type": "keyDown", "text": text.upper() if modifiers and len(key) == 1 else text}
        else:
            event["type"] = "rawKeyDown"
        if modifiers & (MODIFIERS["Control"] | MODIFIERS["Meta"]) and key.lower() in EDITING:
            event["commands"] = [EDITING[key.lower()]]
    return event


def _code(key: str) -> str:
    if len(key) == 1 and key.isascii() and key.isalpha():
        return f"Key{key.upper()}"
    if len(key) == 1 and key.isdigit():
        return f"Digit{key}"
    return f"{key}Left" if key in MODIFIERS else key if len(key) > 1 else ""
