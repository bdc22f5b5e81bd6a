"""Compaction: the small chunks of a slow run put together into few, once it is closed.

Every chunk is written within half a second, so that a kill loses little; an hour of an agent's steps are thousands of
them, whose names and headers are larger than what they hold.
"""

import os
from pathlib import Path

import msgspec
import numpy as np

from ludus.spaces.array_space import Array
from ludus.trajectory.archive import Archive, ArchiveWriter
from ludus.trajectory.chunk import write_chunk
from ludus.trajectory.chunk_reader import Chunks
from ludus.trajectory.header import read_header
from ludus.trajectory.table import episode_part

__all__ = ["compact", "worth_compacting"]

MIN_CHUNKS_TO_COMPACT = 8
"""Up to so many chunks are left as they are."""
SMALL_BYTES = 1 << 16
"""How large chunks are, on average, that are put together."""
TOGETHER_BYTES = 8 << 20
TOGETHER_ROWS = 1 << 13


def worth_compacting(chunks: int, size: int) -> bool:
    """Whether a file of this size has many chunks, and small ones."""
    return chunks > MIN_CHUNKS_TO_COMPACT and size < chunks * SMALL_BYTES


def compact(path: Path) -> None:
    """Write a closed run anew with fewer chunks, in the same place; until that is done the old file stays."""
    archive = Archive(path)
    new = path.with_name(f".{path.name}.compacting")
    new.unlink(missing_ok=True)
    writer = ArchiveWriter(new)
    try:
        for name in ("run.json", *archive.names("blobs/")):
            writer.add_stored(f"{name}.zst", archive.read_stored(name))
        chunks = Chunks(archive, read_header(archive.read("run.json")))
        for number, group in enumerate(_groups(chunks)):
            _write_group(writer, number, chunks, group)
        writer.close()
        os.replace(new, path)
    except BaseException:
        writer.abandon()
        new.unlink(missing_ok=True)
        raise
    finally:
        archive.close()


def _groups(chunks: Chunks) -> list[list[int]]:
    """Numbers of chunks that follow one another and have the same columns, as many as are not too large together."""
    found: list[list[int]] = []
    before, size, rows = None, 0, 0
    for number, head in enumerate(chunks.heads):
        steps = {name: one for name, one in head.columns.items() if _is_step(name)}
        key = {name: (one.dtype, one.shape[1:]) for name, one in steps.items()}, head.objects
        own = sum(one.value_bytes for one in steps.values())
        own += sum(chunks.stored_bytes(number, name) for name in head.objects)
        if key != before or size + own > TOGETHER_BYTES or rows + head.rows > TOGETHER_ROWS:
            found.append([])
            before, size, rows = key, 0, 0
        found[-1].append(number)
        size, rows = size + own, rows + head.rows
    return found


def _is_step(name: str) -> bool:
    return name.startswith("steps/") and not name.startswith("steps/at_")


def _write_group(writer: ArchiveWriter, number: int, chunks: Chunks, group: list[int]) -> None:
    heads = [chunks.heads[one] for one in group]
    names = dict.fromkeys(name for head in heads for name in head.columns if name.startswith("steps/"))
    arrays: dict[str, Array] = {
        name: np.concatenate([part for one in group if (part := chunks.array(one, name)) is not None]) for name in names
    }
    parts = [
        episode_part(chunks, one) for one, head in zip(group, heads, strict=True) if "episodes/lane" in head.columns
    ]
    arrays |= {
        f"episodes/{name}": np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())
    }
    objects = {
        name: msgspec.msgpack.encode([row for one in group for row in chunks.objects(one, name) or ()])
        for name in heads[0].objects
    }
    write_chunk(
        writer,
        number,
        heads[0].first,
        sum(head.rows for head in heads),
        arrays,
        objects,
        events=[event for one in group for event in chunks.events_of(one)],
        resets=[reset for one in group for reset in chunks.resets_of(one)],
        digests=[digest for head in heads for digest in head.digests],
    )
