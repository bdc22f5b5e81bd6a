"""Trees: what a snapshot is made of. A folder is the sorted list of its entries, named by the hash of that list."""

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

import msgspec

from ludus.errors import SnapshotError

__all__ = ["FILE", "FOLDER", "LINK", "PERMISSIONS", "TreeEntry", "Kind", "decode_tree", "encode_tree", "shown"]

Kind = Literal["file", "folder", "link"]
FILE: Kind = "file"
FOLDER: Kind = "folder"
LINK: Kind = "link"
PERMISSIONS = 0o777


class TreeEntry(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One name in a folder. Times and owners are no part of it: equal content has an equal hash."""

    name: bytes
    kind: Kind
    mode: int
    """Its permissions, without setuid, setgid and sticky bits."""
    size: int
    content: bytes
    """The hash of a file or folder; where a link leads."""


_decoder = msgspec.msgpack.Decoder(tuple[TreeEntry, ...])
_encoder = msgspec.msgpack.Encoder()


def encode_tree(entries: Iterable[TreeEntry]) -> tuple[bytes, bytes]:
    """The hash of a folder, and the bytes it is the hash of."""
    data = _encoder.encode(sorted(entries, key=lambda entry: entry.name))
    return sha256(data).digest(), data


def decode_tree(digest: bytes, data: bytes) -> tuple[TreeEntry, ...]:
    """The entries of a folder, after a look whether they are what the hash says, and could be a folder's at all.

    A store may come with somebody else's run, and hashes are no signature: a name like `../x` would be written outside.
    """
    if sha256(data).digest() != digest:
        raise SnapshotError(f"store: expected the folder {digest.hex()}, got bytes with another hash; it is damaged")
    try:
        entries = _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise SnapshotError(f"store: expected the folder {digest.hex()}, got {error}") from None
    before = b""
    for one in entries:
        hashed = one.kind == LINK or len(one.content) == len(digest)
        if not (before < one.name and _is_name(one.name) and hashed and 0 <= one.mode <= PERMISSIONS and one.size >= 0):
            raise SnapshotError(f"store: expected the folder {digest.hex()}, got an entry {shown(one.name)!r} of none")
        before = one.name
    return entries


def _is_name(name: bytes) -> bool:
    return name not in (b".", b"..") and b"/" not in name and b"\0" not in name


def shown(path: bytes) -> str:
    """A path for messages and records: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf8", "backslashreplace")
