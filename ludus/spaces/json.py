"""`Json`: any value that JSON carries, for what a schema leaves open."""

from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import is_unicode

__all__ = ["Json"]

DEPTH = 32
PLAIN = (str, int, float, bool, type(None))
ZEROES: dict[str, Any] = {"object": {}, "array": [], "any": None}


class Json(Space[Any]):
    """The values of JSON: all, or only objects or arrays. A sample is the plainest there is.

    >>> space = Json("object")
    >>> {"moves": [1, 2]} in space, [1] in space, {1: 2} in space
    (True, False, False)
    """

    def __init__(self, kind: str = "any", schema: dict[str, Any] | None = None, seed: Any = None) -> None:
        self.kind, self.schema = kind if kind in ZEROES else "any", schema
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """An empty object or array, or null: what else would do is not known."""
        del mask, probability
        return self.zero()

    def zero(self) -> Any:
        """The plainest value."""
        return type(ZEROES[self.kind])() if ZEROES[self.kind] is not None else None

    def contains(self, x: Any) -> bool:
        """Whether JSON carries it."""
        return not self.validate(x)

    def validate(self, x: Any, path: str = "value") -> list[Violation]:
        """The first thing that JSON does not carry."""
        expected: Any = {"object": dict, "array": list}.get(self.kind, object)
        if not isinstance(x, expected):
            return [Violation(path, f"a JSON {self.kind}", shorten(x))]
        return _violations(x, path, DEPTH)

    def encode(self, x: Any, *, binary: bool = False) -> Any:
        """Itself."""
        del binary
        return x

    def decode(self, data: Any) -> Any:
        """Itself, where JSON carries it."""
        found = self.validate(data)
        if found:
            raise CodecError(str(found[0]))
        return data

    def json_schema(self) -> dict[str, Any]:
        """The schema it came from, or one that leaves all open."""
        return self.schema or ({} if self.kind == "any" else {"type": self.kind})

    def arguments(self) -> dict[str, Any]:
        """Its kind."""
        return {"kind": self.kind}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and other.kind == self.kind

    def __hash__(self) -> int:
        return hash((Json, self.kind))  # annotations that name it are hashed

    def __repr__(self) -> str:
        return f"Json({'' if self.kind == 'any' else repr(self.kind)})"


def _violations(x: Any, path: str, depth: int) -> list[Violation]:
    if x is None or (isinstance(x, PLAIN) and not isinstance(x, np.generic)):
        return [] if not isinstance(x, str) or is_unicode(x) else [Violation(path, "Unicode characters", shorten(x))]
    if depth <= 0:
        return [Violation(path, f"at most {DEPTH} levels", "more")]
    if isinstance(x, dict):
        for key, one in x.items():
            if not isinstance(key, str) or not is_unicode(key):
                return [Violation(path, "text for keys", shorten(key))]
            found = _violations(one, f"{path}[{key!r}]", depth - 1)
            if found:
                return found
        return []
    if isinstance(x, list):
        for place, one in enumerate(x):
            found = _violations(one, f"{path}[{place}]", depth - 1)
            if found:
                return found
        return []
    return [Violation(path, "a value of JSON", shorten(x))]
