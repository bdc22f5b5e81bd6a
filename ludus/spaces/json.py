"""`Json`: any value that JSON carries, for what a schema leaves open."""

from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.kinds import class_of, is_dict, is_list
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import is_unicode

__all__ = ["Json"]

MAX_DEPTH = 32
PLAIN = (str, int, float, bool, type(None))
WORDLESS = frozenset((int, float, bool, type(None)))
ZEROES: dict[str, object] = {"object": {}, "array": [], "any": None}
CLASSES: dict[str, type[object]] = {"object": dict, "array": list}


class Json(Space[Any]):
    """The values of JSON: all, or only objects or arrays. A sample is the plainest there is.

    >>> space = Json("object")
    >>> {"moves": [1, 2]} in space, [1] in space, {1: 2} in space
    (True, False, False)
    """

    def __init__(self, kind: str = "any", schema: dict[str, object] | None = None, seed: object = None) -> None:
        self.kind, self.schema = kind if kind in ZEROES else "any", schema
        super().__init__(None, None, seed)

    def sample(self, mask: object = None, probability: object = None) -> object:
        """An empty object or array, or null: what else would do is not known."""
        del mask, probability
        return self.default()

    def default(self) -> object:
        """The plainest value."""
        return type(ZEROES[self.kind])() if ZEROES[self.kind] is not None else None

    def contains(self, x: object) -> bool:
        """Whether JSON carries it."""
        return not self.validate(x)

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """The first thing that JSON does not carry."""
        if not isinstance(x, CLASSES.get(self.kind, object)):
            return [Violation(path, f"a JSON {self.kind}", shorten(x))]
        return [] if _is_json(x, MAX_DEPTH) else _violations(x, path, MAX_DEPTH)

    def encode(self, x: object, *, binary: bool = False) -> object:
        """Itself."""
        del binary
        return x

    def decode(self, data: object) -> object:
        """Itself, where JSON carries it."""
        found = self.validate(data)
        if found:
            raise CodecError(str(found[0]))
        return data

    def json_schema(self) -> dict[str, object]:
        """The schema it came from, or one that leaves all open."""
        return self.schema or ({} if self.kind == "any" else {"type": self.kind})

    def arguments(self) -> dict[str, object]:
        """Its kind."""
        return {"kind": self.kind}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and other.kind == self.kind

    def __hash__(self) -> int:
        return hash((Json, self.kind))  # annotations that name it are hashed

    def __repr__(self) -> str:
        return f"Json({'' if self.kind == 'any' else repr(self.kind)})"


def _is_json(x: Any, depth: int) -> bool:
    """Whether a value is of JSON's own types throughout, as those that were read from JSON are; False tells nothing."""
    kind = class_of(x)
    if kind in WORDLESS:
        return True
    if kind is str:
        return is_unicode(x)
    if depth <= 0:
        return False
    if kind is list:
        return WORDLESS.issuperset(map(type, x)) or all(_is_json(one, depth - 1) for one in x)
    if kind is not dict:
        return False
    for key, one in x.items():
        if type(key) is not str or not (key.isascii() or is_unicode(key)):
            return False
        if type(one) not in WORDLESS and not _is_json(one, depth - 1):
            return False
    return True


def _violations(x: object, path: str, depth: int) -> list[Violation]:
    if x is None or (isinstance(x, PLAIN) and not isinstance(x, np.generic)):
        return [] if not isinstance(x, str) or is_unicode(x) else [Violation(path, "Unicode characters", shorten(x))]
    if depth <= 0:
        return [Violation(path, f"at most {MAX_DEPTH} levels", "more")]
    if is_dict(x):
        for key, one in x.items():
            if not isinstance(key, str) or not is_unicode(key):
                return [Violation(path, "text for keys", shorten(key))]
            found = _violations(one, f"{path}[{key!r}]", depth - 1)
            if found:
                return found
        return []
    if is_list(x):
        for place, one in enumerate(x):
            found = _violations(one, f"{path}[{place}]", depth - 1)
            if found:
                return found
        return []
    return [Violation(path, "a value of JSON", shorten(x))]
