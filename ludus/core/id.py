"""`EnvId`: the grammar of names, `[namespace/]Name[-vN]`."""

import re
from typing import NamedTuple

from ludus.errors import InvalidType, MalformedId, shorten

__all__ = ["EnvId"]

_PATTERN = re.compile(r"(?:(?P<namespace>[\w.-]+(?:/[\w.-]+)*)/)?(?P<name>[\w.-]+?)(?:-v(?P<version>[0-9]{1,18}))?")


class EnvId(NamedTuple):
    """A parsed id; `str` gives the id back.

    >>> EnvId.parse("ALE/Pong-v5")
    EnvId(namespace='ALE', name='Pong', version=5)
    >>> str(EnvId(None, "CartPole", 1))
    'CartPole-v1'
    """

    namespace: str | None
    name: str
    version: int | None

    @classmethod
    def parse(cls, text: object) -> "EnvId":
        """Read an id; raises MalformedId with the grammar."""
        if not isinstance(text, str):
            raise InvalidType(f"id: expected text like 'CartPole-v1', got {shorten(text)}")
        match = _PATTERN.fullmatch(text)
        if match is None:
            raise MalformedId(
                f"id: expected [namespace/]Name[-vN], as in 'CartPole-v1' or 'my/Maze', got {text!r}; "
                "use letters, digits, '_', '.' and '-'"
            )
        version = match["version"]
        return cls(match["namespace"], match["name"], None if version is None else int(version))

    def __str__(self) -> str:
        version = "" if self.version is None else f"-v{self.version}"
        return f"{self.base}{version}"

    @property
    def base(self) -> str:
        """The id without its version."""
        return self.name if self.namespace is None else f"{self.namespace}/{self.name}"
