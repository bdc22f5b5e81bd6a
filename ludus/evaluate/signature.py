"""Signatures of results, by an Ed25519 key of one's own: who says so, beside what anybody can check.

By `cryptography`, which has keys in the form that openssl and ssh write them; PyNaCl reads raw bytes only. It is the
one file that imports it: `pip install ludus-rl[sign]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.errors import InvalidArgument, MissingExtra
from ludus.spaces.kinds import is_dict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

__all__ = ["check_signature", "public_key", "signer"]

STATEMENT = b"ludus result 1\0"
"""What goes before the digest: a signature of something else is none of a result."""
Signature = dict[str, str]


def signer(key: str | os.PathLike[str] | None) -> Callable[[str], Signature] | None:
    """Signs digests with the private key in a file (PEM, or OpenSSH's form); None without one."""
    if key is None:
        return None
    private = _private_key(Path(key))

    def sign(digest: str) -> Signature:
        made = private.sign(STATEMENT + bytes.fromhex(digest))
        return {"algorithm": "ed25519", "public_key": _raw(private.public_key()), "signature": made.hex()}

    return sign


def public_key(key: str | os.PathLike[str]) -> str:
    """The public key in a file, of the pair or alone, as results show it: 64 hexadecimal digits."""
    path = Path(key)
    serialization = _Library().serialization
    try:
        data = path.read_bytes()
        return _raw(serialization.load_pem_public_key(data))
    except OSError as error:
        raise InvalidArgument(f"{path}: expected a file with a key, got {error}") from error
    except (ValueError, TypeError):
        return _raw(_private_key(path).public_key())


def check_signature(signature: object, digest: str) -> str:
    """Why a signature is not one of that digest; empty where it is."""
    fields = ("algorithm", "public_key", "signature")
    if not is_dict(signature) or any(not isinstance(signature.get(one), str) for one in fields):
        return "expected algorithm, public_key and signature"
    known = {one: str(signature[one]) for one in fields}
    if known["algorithm"] != "ed25519":
        return f"expected ed25519, got {known['algorithm'][:40]!r}"
    library = _Library()
    try:
        key = library.Ed25519PublicKey.from_public_bytes(bytes.fromhex(known["public_key"]))
        key.verify(bytes.fromhex(known["signature"]), STATEMENT + bytes.fromhex(digest))
    except (ValueError, library.InvalidSignature):
        return "it was made over another file, or by another key"
    return ""


def _private_key(path: Path) -> Ed25519PrivateKey:
    library = _Library()
    try:
        data = path.read_bytes()
        load = library.serialization
        reader = load.load_ssh_private_key if b"OPENSSH" in data else load.load_pem_private_key
        key = reader(data, password=None)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidArgument(
            f"{path}: expected a file with an Ed25519 key and no password, got {error}; "
            f"`openssl genpkey -algorithm ed25519 -out {path}` makes one"
        ) from error
    if not isinstance(key, library.Ed25519PrivateKey):
        raise InvalidArgument(f"{path}: expected an Ed25519 key, got {type(key).__name__}")
    return key


def _raw(key: PublicKeyTypes) -> str:
    serialization = _Library().serialization
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()


class _Library:
    """What is used of the library; raises MissingExtra where it is not installed."""

    def __init__(self) -> None:
        try:
            # An extra: results are checked without it, unless they are signed.
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
        except ImportError as error:
            raise MissingExtra("signatures: expected `cryptography`, got none; pip install ludus-rl[sign]") from error
        self.InvalidSignature, self.serialization = InvalidSignature, serialization
        self.Ed25519PrivateKey, self.Ed25519PublicKey = Ed25519PrivateKey, Ed25519PublicKey
