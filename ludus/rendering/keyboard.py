"""Terminal keys: from the bytes that a terminal sends to the names of keys."""

__all__ = ["decode_keys"]

SEQUENCES = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
}  # fmt: skip
CHARACTERS = {" ": "space", "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace"}


def decode_keys(text: str) -> tuple[list[str], str]:
    r"""The keys in what a terminal sent, and the rest: a sequence that has begun and not ended.

    >>> decode_keys("a\x1b[D \x1b[")
    (['a', 'left', 'space'], '\x1b[')
    """
    keys: list[str] = []
    while text:
        if text[0] != "\x1b":
            keys.append(CHARACTERS.get(text[0], text[0].lower()))
            text = text[1:]
            continue
        length = _sequence_length(text)
        if length == 0:
            return keys, text
        keys += _named(text[:length])
        text = text[length:]
    return [key for key in keys if len(key) > 1 or key.isprintable()], ""


def _sequence_length(text: str) -> int:
    """How long the escape sequence at the start is; 0 if its end is not there yet."""
    if len(text) == 1 or text in ("\x1b[", "\x1bO"):
        return 0
    if text[1] not in "[O":
        return 1
    end = next((place for place in range(2, len(text)) if "@" <= text[place] <= "~"), None)
    return 0 if end is None else end + 1


def _named(sequence: str) -> list[str]:
    if sequence == "\x1b":
        return ["escape"]
    # Modifiers stand between: `\x1b[1;5D` is left with control held, and as good as left.
    name = SEQUENCES.get(sequence[-1])
    return [] if name is None else [name]
