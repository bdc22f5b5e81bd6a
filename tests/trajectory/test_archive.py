"""The container: a plain zip for others, and for us one that cannot lie."""

import io
import struct
import subprocess
import tracemalloc
import zipfile
from shutil import which
from zlib import crc32

import numpy as np
import pytest
import zstandard

from ludus.errors import TrajectoryError
from ludus.trajectory import Run
from ludus.trajectory.archive import LOCAL, Archive, ArchiveWriter, Member, _directory, _local
from tests.trajectory.conftest import batch, record


def written(path, members=(("a/b.json", b"{}"), ("c.npy", bytes(500)))):
    writer = ArchiveWriter(path)
    for name, data in members:
        writer.add(name, data)
    writer.close()
    return path


def raw(path, *members, directory=True, patch=lambda data: data):
    """A file of these stored members, which may be anything."""
    at, data, found = 0, b"", {}
    for name, stored in members:
        member = Member(name, at, len(stored), crc32(stored))
        found[len(found)] = member
        data += _local(member) + stored
        at = len(data)
    path.write_bytes(patch(data + (_directory(found, at) if directory else b"")))
    return path


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def test_others_read_it_with_unzip_zstd_and_numpy(path):
    record(batch(), path, "full", 30)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        data = zstandard.ZstdDecompressor().decompress(archive.read("steps/00000/observation.npy.zst"))
        actions = zstandard.ZstdDecompressor().decompress(archive.read("steps/00000/action.npy.zst"))
    observations = np.load(io.BytesIO(data), allow_pickle=False)
    run = Run.open(path)
    assert observations.shape == (31, 5, 4)
    assert np.array_equal(observations[: run[0].length + 1, run[0].lane], run[0].observations)
    bits = np.unpackbits(np.load(io.BytesIO(actions)))[: 31 * 5].reshape(31, 5)
    assert bits[1 : run[0].length + 1, run[0].lane].tolist() == run[0].actions.tolist()


@pytest.mark.skipif(which("unzip") is None, reason="no unzip here")
def test_unzip_finds_nothing_wrong(path):
    record(batch(), path, "seeds", 10)
    assert subprocess.run(["unzip", "-tq", path], capture_output=True, check=False).returncode == 0


def test_more_members_than_16_bits_count_are_read_by_others_too(path):
    writer = ArchiveWriter(path)
    for number in range(66_000):
        writer.add_stored(f"m/{number}.zst", b"")
    writer.close()
    assert len(Archive(path).members) == 66_000
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 66_000


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../x.zst", "expected a plain name"),
        ("/etc/passwd.zst", "expected a plain name"),
        ("a//b.zst", "expected a plain name"),
        ("a\\b.zst", "expected a plain name"),
        ("a", "expected a plain name that ends in .zst"),
        ("A.zst", "expected a plain name"),
        ("a\n.zst", "expected a plain name"),
        ("x" * 200 + ".zst", "a name of at most 120 bytes"),
        ("", "expected a plain name"),
    ],
)
def test_names_that_are_paths_are_refused(path, name, reason):
    with pytest.raises(TrajectoryError, match=reason):
        Archive(raw(path, (name, b"")))


def test_a_name_that_comes_twice_is_refused(path):
    with pytest.raises(TrajectoryError, match=r"expected each member once, got 'a\.zst' again"):
        Archive(raw(path, ("a.zst", b"1"), ("a.zst", b"2")))


def test_a_directory_that_says_something_else_is_refused(path):
    def lie(data):
        return data.replace(b"PK\x01\x02", b"PK\x01\x02", 1)[:-30] + b"\x07" + data[-29:]

    with pytest.raises(TrajectoryError, match=r"expected the directory of its 2 members .* says something else"):
        Archive(raw(path, ("a.zst", b"1"), ("b.zst", b"2"), patch=lie))


def test_members_that_overlap_by_the_directory_are_refused(path):
    first, second = Member("a.zst", 0, 1, crc32(b"1")), Member("b.zst", 0, 1, crc32(b"1"))
    path.write_bytes(_local(first) + b"1" + _directory({0: first, 1: second}, LOCAL.size + 6))
    with pytest.raises(TrajectoryError, match="says something else"):
        Archive(path)


@pytest.mark.parametrize("field", [2, 3, 10])
def test_members_of_another_kind_are_refused(path, field):
    def other(data):
        values = list(LOCAL.unpack(data[: LOCAL.size]))
        values[field] = 8
        return LOCAL.pack(*values) + data[LOCAL.size :]

    with pytest.raises(TrajectoryError, match="expected a plain stored member at byte 0"):
        Archive(raw(path, ("a.zst", b"1"), patch=other))


def test_changed_bytes_are_found_by_their_checksum(path):
    data = written(path).read_bytes()
    at = data.index(b"c.npy.zst") + len("c.npy.zst") + 8
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(TrajectoryError, match="expected the checksum in its header, got other bytes"):
        Archive(path).read("c.npy")


def test_a_bomb_takes_no_memory(path):
    bomb = packed(bytes(1 << 29))
    raw(path, ("run.json.zst", bomb))
    tracemalloc.start()
    try:
        with pytest.raises(TrajectoryError, match=r"at most .* got an announcement of 536870912"):
            Run.open(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_frame_without_its_size_or_with_more_behind_it_is_refused(path):
    silent = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(5000))
    with pytest.raises(TrajectoryError, match="got an announcement of"):
        Archive(raw(path, ("a.zst", silent))).read("a")
    with pytest.raises(TrajectoryError, match="expected one frame of zstandard"):
        Archive(raw(path, ("a.zst", packed(b"12") + packed(b"34")))).read("a")
    with pytest.raises(TrajectoryError, match="expected one frame of zstandard"):
        Archive(raw(path, ("a.zst", b"nothing of the kind"))).read("a")


def test_what_is_no_file_of_ours_is_refused_or_has_nothing_in_it(path, tmp_path):
    with pytest.raises(TrajectoryError, match="expected a file that can be read"):
        Run.open(tmp_path / "none")
    with pytest.raises(TrajectoryError, match=r"expected a file that can be read|bytes at 0"):
        Run.open(tmp_path)
    for data in (b"", b"PK", b"hello, this is no zip", struct.pack("<I", 7) * 100):
        path.write_bytes(data)
        with pytest.raises(TrajectoryError, match=r"whose first member is run\.json, got none"):
            Run.open(path)


def test_a_full_disk_is_told_by_the_next_call(path):
    writer = ArchiveWriter(path)
    writer._file.close()
    writer._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    with pytest.raises(TrajectoryError, match=r"expected room for .* more bytes, got .*No space left"):
        writer.add("a", b"1")
    writer.abandon()
