"""Trees: what a snapshot is made of. A folder is the sorted list of its entries, named by the hash of that list."""

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

import msgspec

from ludus.errors import SnapshotError

__all__ = ["FILE", "FOLDER", "LINK", "TreeEntry", "Kind", "decode_tree", "encode_tree", "shown"]

Kind = Literal["file", "folder", "link"]
FILE: Kind = "file"
FOLDER: Kind = "folder"
LINK: Kind = "link"


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
    """The entries of a folder, after a look whether they are what the hash says."""
    if sha256(data).digest() != digest:
        raise SnapshotError(f"store: expected the folder {digest.hex()}, got bytes with another hash; it is damaged")
    return _decoder.decode(data)


def shown(path: bytes) -> str:
    """A path for messages and records: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf8", "backslashreplace")
