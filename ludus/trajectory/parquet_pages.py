"""Pages of a Parquet file: how much each says that it unfolds to, read from their heads before any is unfolded.

A file of kilobytes may have pages of gigabytes, or rows of billions of numbers that are equal; Arrow takes their word.
What stands at the file's end tells sizes, too, but nobody holds the pages to it.
"""

import os
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple, Protocol

from ludus.errors import TrajectoryError
from ludus.trajectory.archive import MEMBER_LIMIT_BYTES

__all__ = ["check_pages"]

MAX_HEAD_BYTES = 1 << 16
MAX_NUMBER_BYTES, MAX_LEVEL_BYTES = 32, 1 << 16
"""Of a number with its levels, and of what a page has beside its numbers."""
TEXTS = ("BYTE_ARRAY",)
DICTIONARY = 2
HEADERS_OF_KINDS = (5, 7, 8)
"""Fields of a page's head that tell how many values it has, first of all."""


class ColumnChunk(Protocol):
    """What Arrow says of a column in a group of rows."""

    @property
    def path_in_schema(self) -> str: ...
    @property
    def physical_type(self) -> str: ...
    @property
    def dictionary_page_offset(self) -> int | None: ...
    @property
    def data_page_offset(self) -> int: ...
    @property
    def total_compressed_size(self) -> int: ...


class RowGroup(Protocol):
    """What Arrow says of a group of rows."""

    @property
    def num_rows(self) -> int: ...
    @property
    def num_columns(self) -> int: ...
    def column(self, number: int, /) -> ColumnChunk: ...


class FileMetadata(Protocol):
    """What Arrow says of a file."""

    @property
    def num_row_groups(self) -> int: ...
    def row_group(self, number: int, /) -> RowGroup: ...


class _Page(NamedTuple):
    kind: int
    size: int
    compressed: int
    values: int
    head: int


def check_pages(file: BinaryIO, metadata: FileMetadata, widths: Mapping[str, int]) -> float:
    """Refuse a file that unfolds to more than its rows may; how many bytes of text a row has at most, page by page.

    `widths` are the numbers that a row has in a column, where that is not one.
    """
    densest = 0.0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            name = str(column.path_in_schema)
            texts, values = column.physical_type in TEXTS, 0
            for page in _pages(file, column):
                most = MEMBER_LIMIT_BYTES if texts else page.values * MAX_NUMBER_BYTES + MAX_LEVEL_BYTES
                if page.size > most:
                    raise TrajectoryError(f"{name}: expected pages of at most {most} bytes, got one of {page.size}")
                if page.kind != DICTIONARY:
                    values += page.values
                    densest = max(densest, page.size / max(page.values, 1)) if texts else densest
            width = widths.get(name.rpartition(".list.")[0] or name, 1)
            if values > group.num_rows * max(width, 1):
                raise TrajectoryError(f"{name}: expected {width} values in each of {group.num_rows} rows, got {values}")
    return densest


def _pages(file: BinaryIO, column: ColumnChunk) -> Iterator[_Page]:
    offsets = [one for one in (column.dictionary_page_offset, column.data_page_offset) if one]
    at = min(offsets)
    end = at + column.total_compressed_size
    while at < end:
        page = _Head(os.pread(file.fileno(), MAX_HEAD_BYTES, at)).page()
        if min(page.size, page.compressed, page.values) < 0:
            raise TrajectoryError(f"{column.path_in_schema}: expected pages of some size, got {page}")
        yield page
        at += page.head + page.compressed


class _Head:
    """The head of a page, in Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def page(self) -> _Page:
        """Its kind, how large it is unfolded and as it lies there, how many values it has, how long the head is."""
        told = {1: 0, 2: 0, 3: 0}
        values = 0
        for field, kind in self._fields():
            if field in told:
                told[field] = self._number()
            elif field in HEADERS_OF_KINDS:
                values = self._first_number()
            else:
                self._skip(kind)
        return _Page(told[1], told[2], told[3], values, self.at)

    def _first_number(self) -> int:
        """The first field of a struct."""
        found = 0
        for field, kind in self._fields():
            if field == 1:
                found = self._number()
            else:
                self._skip(kind)
        return found

    def _fields(self) -> Iterator[tuple[int, int]]:
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            yield field, head & 15

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _number(self) -> int:
        raw = self._varint()
        return raw >> 1 ^ -(raw & 1)

    def _skip(self, kind: int, *, inside: bool = False) -> None:
        """Pass over a value; of truth values only those in lists have a byte."""
        if kind in (1, 2):
            self.at += inside
        elif kind == 3:
            self.at += 1
        elif kind in (4, 5, 6):
            self._varint()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self._varint()
            self.at += length
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
                self._skip(head & 15, inside=True)
        elif kind == 12:
            for _, one in self._fields():
                self._skip(one)
        else:
            raise TrajectoryError(f"page: expected the head of one, got a field of the kind {kind}")
