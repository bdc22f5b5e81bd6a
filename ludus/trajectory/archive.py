"""The container of a run: a zip whose members are written once, one after another, and each compressed by zstandard.

A strict form of zip: stored members with their size and checksum in front of them, nothing between them, plain names.
So a file that was cut short is read from its beginning as far as it goes, and the directory at its end is never
believed: it is computed from the members and compared. `unzip` and `zstd` read the same file.

Not Python's `zipfile`: it patches sizes in afterwards, so that a file cut short has a member without one, and it
believes the directory.
"""

import os
import re
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple
from weakref import finalize
from zlib import crc32

import zstandard

from ludus.errors import TrajectoryError, shorten

__all__ = ["MEMBER_LIMIT_BYTES", "Archive", "ArchiveWriter", "Member"]

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR64 = struct.Struct("<4sIQI")
LOCAL_MARK, CENTRAL_MARK = b"PK\x03\x04", b"PK\x01\x02"
VERSION, UTF8, STORED = 45, 0x800, 0
DATE = 0x21
"""The first of January 1980: a file depends on what happened and not on when it was written."""
NAME = re.compile(r"[a-z0-9_]+(?:[./-][a-z0-9_]+)*", re.ASCII)
MAX_NAME_CHARS = 120
MEMBER_LIMIT_BYTES = 1 << 28
"""What one member may unfold to, unless the caller allows more."""
MAX_MEMBERS = 1 << 20
MAX_UINT32 = 0xFFFFFFFF
COMPRESSION_LEVEL = 1


class Member(NamedTuple):
    """Where a member is: the offset of its header, how many bytes are stored, and their checksum."""

    name: str
    offset: int
    size: int
    checksum: int

    @property
    def data_offset(self) -> int:
        """Where its bytes begin."""
        return self.offset + LOCAL.size + len(self.name)


class ArchiveWriter:
    """Appends members to a new file; whatever has been added stays readable if the process is killed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.zip")
    >>> writer = ArchiveWriter(path)
    >>> writer.add("notes.txt", b"hello")
    >>> _ = writer.close()
    >>> Archive(path).read("notes.txt")
    b'hello'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self._file: BinaryIO = open(path, "xb", buffering=0)  # noqa: SIM115  (held until `close`)
        except OSError as error:
            raise TrajectoryError(f"{path}: expected a path for a new file, got {error}") from error
        self.path = Path(path)
        self.members: dict[str, Member] = {}
        self.size = 0
        """Bytes that were written."""
        self._compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_content_size=True)

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Compress and append a member, `.zst` added to its name, in one write."""
        self.add_stored(f"{name}.zst", self._compressor.compress(data))

    def add_stored(self, name: str, data: bytes) -> None:
        """Append a member whose bytes are compressed already."""
        if name in self.members or len(data) > MAX_UINT32:
            raise TrajectoryError(f"{name}: expected a new member of less than 4 GiB, got {len(data)} bytes")
        member = Member(name, self.size, len(data), crc32(data))
        self._write(_local(member) + data)
        self.members[name] = member

    def _write(self, data: bytes) -> None:
        try:
            view = memoryview(data)
            while view:
                written = self._file.write(view)
                view = view[written:]
        except OSError as error:
            raise TrajectoryError(f"{self.path}: expected room for {len(data)} more bytes, got {error}") from error
        self.size += len(data)

    def close(self) -> int:
        """Write the directory, which says that nothing is missing; how many bytes the file has."""
        if not self._file.closed:
            self._write(_directory(self.members, self.size))
            self._file.close()
        return self.size

    def abandon(self) -> None:
        """Close the file as it is, as a kill would leave it."""
        self._file.close()


class Archive:
    """A file of members, read one at a time; raises TrajectoryError, and nothing else, whatever the file holds.

    `missing` says in words what a file that was cut short lacks; it is empty for one that was closed.
    """

    def __init__(self, path: str | os.PathLike[str], *, limit_bytes: int = MEMBER_LIMIT_BYTES) -> None:
        self.path, self.limit_bytes = Path(path), limit_bytes
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would keep us waiting for its writer
            found = os.fstat(self._file)
        except (OSError, ValueError) as error:
            raise TrajectoryError(f"{path}: expected a file that can be read, got {error}") from error
        self.close = finalize(self, os.close, self._file)
        """Closes the file; so does the end of the last reference."""
        self.size = found.st_size
        self.members: dict[str, Member] = {}
        self.missing = ""
        try:
            if not stat.S_ISREG(found.st_mode):
                raise TrajectoryError(f"{path}: expected a file that can be read, got a folder, pipe or device")
            self._scan()
        except TrajectoryError:
            self.close()
            raise

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and f"{name}.zst" in self.members

    def names(self, prefix: str = "") -> list[str]:
        """The members whose names begin so, without `.zst`, in the order they were written."""
        return [name.removesuffix(".zst") for name in self.members if name.startswith(prefix)]

    def read(self, name: str, *, expected_bytes: int | None = None) -> bytes:
        """The bytes of a member, unfolded; no memory is taken for more than was expected or is allowed."""
        stored = self.read_stored(name)
        member = f"{self.path.name}: {name}"
        try:
            size = zstandard.get_frame_parameters(stored).content_size
            limit = self.limit_bytes if expected_bytes is None else min(expected_bytes, self.limit_bytes)
            if size > limit or (expected_bytes is not None and size != expected_bytes):
                raise TrajectoryError(
                    f"{member}: expected {'at most ' if expected_bytes is None else ''}"
                    f"{limit if expected_bytes is None else expected_bytes} bytes (the limit is {self.limit_bytes}), "
                    f"got an announcement of {size}"
                )
            if not size:
                return b""
            return zstandard.ZstdDecompressor().decompress(stored, max_output_size=size, allow_extra_data=False)
        except (zstandard.ZstdError, ValueError, MemoryError) as error:
            if isinstance(error, TrajectoryError):
                raise
            raise TrajectoryError(f"{member}: expected one frame of zstandard, got {error}") from error

    def read_stored(self, name: str) -> bytes:
        """The bytes of a member as they are in the file, checked against its checksum."""
        member = self.members.get(f"{name}.zst")
        if member is None:
            raise TrajectoryError(f"{self.path.name}: expected a member {name!r}, got none")
        data = self._bytes(member.data_offset, member.size)
        if crc32(data) != member.checksum:
            raise TrajectoryError(f"{self.path.name}: {name}: expected the checksum in its header, got other bytes")
        return data

    def _bytes(self, offset: int, count: int) -> bytes:
        if not self.close.alive:
            raise TrajectoryError(f"{self.path}: expected a file that is open, got one that was closed")
        try:
            data = os.pread(self._file, count, offset)
        except (OSError, ValueError, OverflowError) as error:
            raise TrajectoryError(f"{self.path}: expected {count} bytes at {offset}, got {error}") from error
        if len(data) != count:
            raise TrajectoryError(f"{self.path}: expected {count} bytes at {offset}, got {len(data)}")
        return data

    # --- finding members ---

    def _scan(self) -> None:
        at = 0
        while self.size - at >= 4 and self._bytes(at, 4) == LOCAL_MARK:
            member = self._member(at)
            if member is None:
                break
            if member.name in self.members or len(self.members) >= MAX_MEMBERS:
                raise TrajectoryError(f"{self.path.name}: expected each member once, got {member.name!r} again")
            self.members[member.name] = member
            at = member.data_offset + member.size
        self._check_directory(at)

    def _member(self, at: int) -> Member | None:
        """The member whose header is here; None where the file ends within it."""
        if self.size - at < LOCAL.size:
            return None
        _, version, flags, method, time, date, checksum, size, full, length, extra = LOCAL.unpack(
            self._bytes(at, LOCAL.size)
        )
        if (version, flags, method, time, date, extra) != (VERSION, UTF8, STORED, 0, DATE, 0) or size != full:
            raise TrajectoryError(f"{self.path.name}: expected a plain stored member at byte {at}, got another kind")
        if length > MAX_NAME_CHARS:
            raise TrajectoryError(f"{self.path.name}: expected a name of at most {MAX_NAME_CHARS} bytes, got {length}")
        if self.size - at < LOCAL.size + length:
            return None
        name = self._bytes(at + LOCAL.size, length).decode("latin-1")
        if not NAME.fullmatch(name) or not name.endswith(".zst"):
            raise TrajectoryError(f"{self.path.name}: expected a plain name that ends in .zst, got {shorten(name)}")
        member = Member(name, at, size, checksum)
        return None if member.data_offset + size > self.size else member

    def _check_directory(self, at: int) -> None:
        """What follows the last member is its directory, byte for byte, or the file was cut short."""
        left = self.size - at
        directory = _directory(self.members, at)
        if left == len(directory) and self._bytes(at, left) == directory:
            return
        if left >= 4 and self._bytes(at, 4) == CENTRAL_MARK and left >= len(directory):
            raise TrajectoryError(
                f"{self.path.name}: expected the directory of its {len(self.members)} members at byte {at}, "
                "got one that says something else"
            )
        self.missing = f"cut short after {len(self.members)} members: {left} bytes at byte {at} are no whole member"


def _local(member: Member) -> bytes:
    head = (LOCAL_MARK, VERSION, UTF8, STORED, 0, DATE, member.checksum, member.size, member.size, len(member.name), 0)
    return LOCAL.pack(*head) + member.name.encode("ascii")


def _directory(members: Mapping[str, Member], at: int) -> bytes:
    entries = b"".join(map(_entry, members.values()))
    count, size, end = len(members), len(entries), at + len(entries)
    large = count > 0xFFFE or end > MAX_UINT32 - 1
    tail = b""
    if large:
        tail = END64.pack(b"PK\x06\x06", END64.size - 12, VERSION, VERSION, 0, 0, count, count, size, at)
        tail += LOCATOR64.pack(b"PK\x06\x07", 0, end, 1)
    short, long = min(count, 0xFFFF) if not large else 0xFFFF, MAX_UINT32
    return (
        entries + tail + END.pack(b"PK\x05\x06", 0, 0, short, short, long if large else size, long if large else at, 0)
    )


def _entry(member: Member) -> bytes:
    far = member.offset >= MAX_UINT32
    extra = struct.pack("<2HQ", 1, 8, member.offset) if far else b""
    head = (CENTRAL_MARK, VERSION, VERSION, UTF8, STORED, 0, DATE, member.checksum, member.size, member.size)
    rest = (len(member.name), len(extra), 0, 0, 0, 0, MAX_UINT32 if far else member.offset)
    return CENTRAL.pack(*head, *rest) + member.name.encode("ascii") + extra
