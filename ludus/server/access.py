"""Access: who may do what. A token stands for a role; without tokens, everybody who reaches the server runs it."""

import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NamedTuple

from ludus.errors import AccessDenied, InvalidArgument, listing, shorten

__all__ = ["Access", "Principal", "Right", "Role"]

Role = Literal["agent", "orchestrator", "observer"]
Right = Literal["read", "step", "run"]
"""`read`: what there is, metadata, health. `step`: act in a session. `run`: open, reset, state, snapshots, close."""
RIGHTS: dict[Role, tuple[Right, ...]] = {
    "observer": ("read",),
    "agent": ("read", "step"),
    "orchestrator": ("read", "step", "run"),
}
MIN_TOKEN_CHARS = 16


class Principal(NamedTuple):
    """Somebody, as a token made known.

    >>> Principal("agent", "1f0c").may("step")
    True
    """

    role: Role
    name: str
    """Tells one token from another; not the token."""

    def may(self, right: Right) -> bool:
        """Whether the role has the right."""
        return right in RIGHTS[self.role]

    def need(self, right: Right, action: str) -> None:
        """AccessDenied where the role has not the right."""
        if not self.may(right):
            raise AccessDenied(f"{action}: expected a role with the right to {right}, got {self.role}")


class Access:
    """The tokens of a server, each with its role.

    >>> access = Access({"a-token-of-sixteen": "agent"})
    >>> access.principal("a-token-of-sixteen").may("run")
    False
    >>> Access().principal("").role
    'orchestrator'
    """

    def __init__(self, tokens: Mapping[str, Role] | None = None) -> None:
        self._known: list[tuple[bytes, Principal]] = []
        for number, (token, role) in enumerate((tokens or {}).items()):
            if len(token) < MIN_TOKEN_CHARS:
                raise InvalidArgument(
                    f"token {number}: expected at least {MIN_TOKEN_CHARS} characters, got {len(token)}"
                )
            if not token.isascii() or not token.isprintable() or " " in token:
                raise InvalidArgument(f"token {number}: expected letters, digits and signs of ASCII, got others")
            if role not in RIGHTS:
                raise InvalidArgument(f"token {number}: expected one of {listing(RIGHTS)}, got {shorten(role)}")
            digest = sha256(token.encode()).digest()
            self._known.append((digest, Principal(role, digest.hex()[:8])))

    @property
    def open(self) -> bool:
        """Whether there are no tokens."""
        return not self._known

    def principal(self, token: str) -> Principal:
        """Whose token it is; every known one is compared, so that the time tells nothing."""
        if self.open:
            return Principal("orchestrator", "anybody")
        given, found = sha256(token.encode("utf8", "replace")).digest(), None
        for digest, one in self._known:
            if hmac.compare_digest(digest, given):
                found = one
        if found is None:
            raise AccessDenied(
                f"token: expected one of the server's, got {'none' if not token else 'another'}; "
                "send it as 'Authorization: Bearer …'"
            )
        return found

    @staticmethod
    def new_token() -> str:
        """A token that nobody guesses."""
        return secrets.token_urlsafe(24)
