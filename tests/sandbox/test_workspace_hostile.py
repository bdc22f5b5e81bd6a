"""Workspaces that belong to somebody hostile: nothing outside is read or written, and nothing lasts for ever."""

import os
import shutil
import socket
import stat
import tempfile
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from ludus.errors import LimitExceeded, SnapshotError
from ludus.sandbox import removal
from ludus.sandbox.workspace import Skipped, Workspace, WorkspaceLimits, restoration, scan
from ludus.sandbox.workspace import diff as comparison
from ludus.sandbox.workspace.tree import TreeEntry

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(folder, tmp_path):
    return Workspace(folder, store=tmp_path / "store")


@pytest.fixture
def outside(tmp_path):
    """What must stay as it is, and be seen by nobody."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (outside / "file").write_text("outside")
    yield outside
    assert sorted(path.name for path in outside.iterdir()) == ["file", "secret"]
    assert (outside / "secret").read_text() == "secret"
    assert (outside / "file").read_text() == "outside"
    assert stat.S_IMODE((outside / "file").stat().st_mode) == 0o644


def contents(tmp_path) -> set[bytes]:
    return {path.read_bytes() for path in tmp_path.glob("store/objects/*/*")}


# Links.


def test_links_are_kept_and_never_followed(workspace, folder, outside, tmp_path):
    (folder / "folder").symlink_to(outside)
    (folder / "file").symlink_to(outside / "secret")
    taken = workspace.snapshot()
    assert (taken.files, taken.links) == (0, 2)
    assert contents(tmp_path) == set()


def test_a_restore_replaces_links_in_its_way_and_writes_nothing_through_them(workspace, folder, outside):
    (folder / "sub/deep").mkdir(parents=True)
    (folder / "sub/file").write_text("mine")
    (folder / "sub/deep/file").write_text("mine")
    (folder / "file").write_text("mine")
    (folder / "file").chmod(0o600)
    taken = workspace.snapshot()
    shutil.rmtree(folder / "sub")
    (folder / "sub").symlink_to(outside)
    (folder / "file").unlink()
    (folder / "file").symlink_to(outside / "file")
    workspace.restore(taken)
    assert (folder / "sub/deep/file").read_text() == "mine"
    assert not (folder / "sub").is_symlink()
    assert (folder / "file").read_text() == "mine"


def test_a_restore_that_only_changes_permissions_spares_files_with_other_names(workspace, folder, outside, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.workspace.index.CLOCK_TICK_NS", -(10**18))
    (folder / "file").write_text("outside")
    (folder / "file").chmod(0o700)
    taken = workspace.snapshot()
    (folder / "file").unlink()
    (folder / "file").hardlink_to(outside / "file")
    workspace.snapshot()  # the index knows it now, with the same content
    workspace.restore(taken)
    assert stat.S_IMODE((folder / "file").stat().st_mode) == 0o700


@pytest.mark.parametrize("victim", ["folder", "file"])
def test_a_link_that_appears_between_the_look_and_the_opening_is_not_followed(
    workspace, folder, outside, tmp_path, monkeypatch, victim
):
    (folder / "folder").mkdir()
    (folder / "folder/inner").write_text("mine")
    (folder / "file").write_text("mine")
    original = scan.Scan._one

    def swap(self, parent, name, found, path, depth):
        if path == victim.encode() and not (folder / victim).is_symlink():
            (folder / victim).rename(tmp_path / "aside")
            (folder / victim).symlink_to(outside / "secret" if victim == "file" else outside)
        return original(self, parent, name, found, path, depth)

    monkeypatch.setattr(scan.Scan, "_one", swap)
    taken = workspace.snapshot()
    assert taken.links == 1
    assert b"secret" not in contents(tmp_path)


def test_a_link_that_appears_during_a_restore_is_not_followed(workspace, folder, outside, monkeypatch):
    (folder / "folder").mkdir()
    (folder / "folder/file").write_text("mine")
    taken = workspace.snapshot()
    shutil.rmtree(folder / "folder")
    original = restoration.make_writable

    def swap(parent, name):
        (folder / "folder").rmdir()
        (folder / "folder").symlink_to(outside)
        original(parent, name)

    monkeypatch.setattr(restoration, "make_writable", swap)
    with pytest.raises(SnapshotError, match="expected to write all of"):
        workspace.restore(taken)


def test_a_name_that_changes_all_the_time_is_an_error(workspace, folder, monkeypatch):
    (folder / "file").write_text("mine")

    def never(self, parent, name, found, path):
        raise OSError(40, "a link again")

    monkeypatch.setattr(scan.Scan, "_file", never)
    with pytest.raises(SnapshotError, match="changes all the time"):
        workspace.snapshot()


def test_a_name_that_vanishes_meanwhile_is_not_there(workspace, folder, monkeypatch):
    (folder / "file").write_text("mine")
    original = scan.Scan._file

    def vanish(self, parent, name, found, path):
        (folder / "file").unlink()
        return original(self, parent, name, found, path)

    monkeypatch.setattr(scan.Scan, "_file", vanish)
    assert workspace.snapshot().files == 0


# What is no file.


def test_special_files_are_skipped_with_a_record_and_gone_after_a_restore(workspace, folder):
    os.mkfifo(folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket"))
    server.close()
    (folder / "file").touch()
    taken = workspace.snapshot()
    assert set(taken.skipped) == {Skipped("pipe", "fifo"), Skipped("socket", "socket")}
    assert workspace.log()[0].skipped == taken.skipped
    workspace.restore(taken)
    assert [path.name for path in folder.iterdir()] == ["file"]


@root_only
def test_devices_are_skipped(workspace, folder):
    os.mknod(folder / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    assert workspace.snapshot().skipped == (Skipped("null", "device"),)


def test_another_file_system_is_skipped_and_left_alone(workspace, folder, monkeypatch):
    (folder / "mounted").mkdir()
    (folder / "mounted/file").touch()
    (folder / "file").touch()
    taken = workspace.snapshot()
    found = scan.Scan(workspace.store, scan.ContentIndex(), WorkspaceLimits())
    found.device = -1
    descriptor = os.open(folder, os.O_RDONLY)
    found._tree(descriptor, b"", 0)
    os.close(descriptor)
    assert {one.kind for one in found.skipped} == {"mount"}
    assert taken.skipped == ()


def test_setuid_setgid_and_sticky_bits_are_dropped(workspace, folder):
    (folder / "file").touch()
    (folder / "file").chmod(0o6755)
    (folder / "sub").mkdir()
    (folder / "sub").chmod(0o1777)
    taken = workspace.snapshot()
    workspace.restore(taken)
    assert stat.S_IMODE((folder / "file").stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "sub").stat().st_mode) == 0o777


def test_names_that_are_no_text_are_shown_escaped(workspace, folder):
    os.mkfifo(os.fsencode(folder) + b"/a\xff\n")
    assert workspace.snapshot().skipped == (Skipped("a\\xff\n", "fifo"),)


# Too much.


def deepen(folder: Path, depth: int) -> None:
    """Folders in folders, deeper than any path may be long."""
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 100, dir_fd=descriptor)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)


def test_a_tree_that_is_too_deep_is_refused_and_can_be_removed(workspace, folder):
    empty = workspace.snapshot()
    deepen(folder, 1100)
    with pytest.raises(LimitExceeded, match="at most 100 folders one in the other"):
        workspace.snapshot()
    assert workspace.log() == (empty,)
    workspace.restore(empty)
    assert list(folder.iterdir()) == []


def test_a_tree_as_deep_as_allowed_comes_back(workspace, folder):
    deepen(folder, 100)
    taken = workspace.snapshot()
    workspace.restore(taken)
    assert workspace.snapshot(full=True).id == taken.id


def test_too_many_names_and_too_many_bytes_are_refused(folder, tmp_path):
    limits = WorkspaceLimits(files=5, bytes=100)
    workspace = Workspace(folder, store=tmp_path / "store", limits=limits)
    for number in range(5):
        (folder / f"file{number}").write_bytes(b"x" * 20)
    assert workspace.snapshot().size == 100
    (folder / "file0").write_bytes(b"x" * 21)
    with pytest.raises(LimitExceeded, match="100 bytes at most"):
        workspace.snapshot()
    (folder / "file0").write_bytes(b"")
    (folder / "one more").touch()
    with pytest.raises(LimitExceeded, match="at most 5 names"):
        workspace.snapshot()
    assert len(workspace.log()) == 1


def test_a_file_that_grows_while_it_is_read_keeps_to_the_limit(folder, tmp_path, monkeypatch):
    workspace = Workspace(folder, store=tmp_path / "store", limits=WorkspaceLimits(bytes=10 << 20))
    (folder / "file").write_bytes(b"x" * (5 << 20))
    original = os.pread

    def pread(file, size, offset):
        if offset == 4 << 20:
            with (folder / "file").open("ab") as growing:
                growing.write(b"x" * (6 << 20))
        return original(file, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    with pytest.raises(LimitExceeded, match="a file with"):
        workspace.snapshot()


def test_a_sparse_file_takes_no_room_in_the_store(workspace, folder, tmp_path):
    with (folder / "sparse").open("wb") as file:
        file.seek(64 << 20)
        file.write(b"end")
    taken = workspace.snapshot()
    assert taken.size == (64 << 20) + 3
    [stored] = tmp_path.glob("store/objects/*/*")
    assert stored.stat().st_blocks * 512 < 4 << 20
    (folder / "sparse").unlink()
    workspace.restore(taken)
    assert (folder / "sparse").stat().st_size == taken.size
    assert (folder / "sparse").stat().st_blocks * 512 < 4 << 20


def test_removal_gives_up_on_somebody_who_never_stops(workspace, folder, monkeypatch):
    empty = workspace.snapshot()
    for number in range(20):
        (folder / f"file{number}").touch()
    monkeypatch.setattr(removal, "MAX_NAMES", 10)
    with pytest.raises(SnapshotError, match="added all the time"):
        workspace.restore(empty)


# Owners.


@root_only
def test_what_is_restored_belongs_to_the_owner_of_the_folder(workspace, folder, tmp_path):
    (folder / "sub").mkdir()
    (folder / "sub/file").touch()
    (folder / "link").symlink_to("x")
    taken = workspace.snapshot()
    shutil.rmtree(folder / "sub")
    (folder / "link").unlink()
    os.chown(folder, 12345, 23456)
    workspace.restore(taken)
    fork = workspace.fork(taken, tmp_path / "fork")
    for base in (folder, fork.folder):
        for name in ("", "sub", "sub/file", "link"):
            found = (base / name).lstat()
            assert (found.st_uid, found.st_gid) == (12345, 23456)


@pytest.fixture
def as_somebody():
    """A folder of somebody who is not root, who then runs the test."""
    base = Path(tempfile.mkdtemp())
    if os.geteuid() != 0:
        yield base
    else:
        os.chown(base, 12345, 12345)
        os.seteuid(12345)
        try:
            yield base
        finally:
            os.seteuid(0)
    os.system(f"chmod -R u+rwx {base}")
    shutil.rmtree(base)


def test_what_cannot_be_read_is_skipped_with_a_record(as_somebody):
    folder = as_somebody / "work"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed").chmod(0)
    (folder / "file").touch()
    (folder / "file").chmod(0)
    (folder / "open").touch()
    taken = Workspace(folder, store=as_somebody / "store").snapshot()
    assert set(taken.skipped) == {Skipped("closed", "unreadable"), Skipped("file", "unreadable")}
    assert taken.files == 1


def test_closed_folders_are_opened_for_a_restore_and_closed_again(as_somebody):
    folder = as_somebody / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("was")
    (folder / "sub/file").chmod(0o400)
    (folder / "sub").chmod(0o500)
    workspace = Workspace(folder, store=as_somebody / "store")
    taken = workspace.snapshot()
    (folder / "sub").chmod(0o700)
    (folder / "sub/file").unlink()
    (folder / "sub").chmod(0)
    (folder / "new/er").mkdir(parents=True)
    (folder / "new/er/file").touch()
    (folder / "new/er").chmod(0)
    (folder / "new").chmod(0o500)
    workspace.restore(taken)
    assert sorted(path.name for path in folder.iterdir()) == ["sub"]
    assert stat.S_IMODE((folder / "sub").stat().st_mode) == 0o500
    assert (folder / "sub/file").read_text() == "was"


# Stores that came with somebody else's run: hashes are right, and what they are of is not.


def stored(workspace, *entries: TreeEntry) -> str:
    """A folder of any entries, as a store keeps it."""
    data = msgspec.msgpack.encode(entries)
    digest = sha256(data).digest()
    workspace.store.add_tree(digest, data)
    return digest.hex()


@pytest.mark.parametrize("name", [b"../outside/file", b".", b"", b"sub/file", b"a\0b", None])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_name_that_leads_out_of_its_folder_is_refused(workspace, folder, outside, name, kind):
    (folder / "sub").mkdir()
    # Whole paths too, and those of this test alone: where this is not refused, what a name leads to is replaced.
    name = bytes(outside / "file") if name is None else name
    content = workspace.store.add_bytes(b"theirs") if kind == "file" else bytes.fromhex(stored(workspace))
    taken = stored(workspace, TreeEntry(name, kind, 0o644, 6, content))
    with pytest.raises(SnapshotError, match="got an entry"):
        workspace.restore(taken)
    with pytest.raises(SnapshotError, match="got an entry"):
        workspace.diff(stored(workspace), taken)
    assert (folder / "sub").is_dir()


@pytest.mark.parametrize(
    "entry",
    [("a", "file", 0o4755, 0, bytes(32)), ("a", "file", 0o644, -1, bytes(32)), ("a", "folder", 0o755, 0, b"short"),
     ("a", "pipe", 0o644, 0, bytes(32)), ("a",), 7],
)  # fmt: skip
def test_what_is_no_entry_is_refused(workspace, entry):
    data = msgspec.msgpack.encode([entry if isinstance(entry, int) else [entry[0].encode(), *entry[1:]]])
    digest = sha256(data).digest()
    workspace.store.add_tree(digest, data)
    with pytest.raises(SnapshotError, match="store: expected the folder"):
        workspace.restore(digest.hex())


def bomb(workspace, leaf: bytes) -> str:
    """Ten folders in each of twelve levels, which are thirteen small files of the store."""
    content = workspace.store.add_bytes(leaf)
    inner = stored(workspace, TreeEntry(b"leaf", "file", 0o644, len(leaf), content))
    for _ in range(12):
        names = (str(number).encode() for number in range(10))
        inner = stored(workspace, *(TreeEntry(name, "folder", 0o755, 0, bytes.fromhex(inner)) for name in names))
    return inner


def test_folders_that_are_in_each_other_many_times_keep_to_the_limits(folder, tmp_path, monkeypatch):
    workspace = Workspace(folder, store=tmp_path / "store", limits=WorkspaceLimits(files=200))
    monkeypatch.setattr(comparison, "MAX_COMPARED", 200)
    one, two = bomb(workspace, b"one"), bomb(workspace, b"two")
    with pytest.raises(LimitExceeded, match="expected at most 200 names"):
        workspace.restore(one)
    with pytest.raises(LimitExceeded, match="expected at most 200 paths"):
        workspace.diff(one, two)
    assert sum(1 for _ in folder.rglob("*")) <= 200


def test_no_link_and_no_pipe_of_a_store_is_read(workspace, folder, outside, tmp_path):
    (folder / "file").write_bytes(b"x" * 6)
    before, _ = workspace.snapshot(), (folder / "file").write_bytes(b"y" * 6)
    after = workspace.snapshot()
    path = Path(workspace.store._path("objects", sha256(b"x" * 6).digest()))
    path.unlink()
    path.symlink_to(outside / "secret")  # as long as what is expected
    with pytest.raises(SnapshotError):
        workspace.restore(before)
    with pytest.raises(SnapshotError, match="got another"):
        workspace.diff(before, after, text=True)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SnapshotError, match="damaged"):
        workspace.restore(before)
    with pytest.raises(SnapshotError, match="something else than a file"):
        workspace.diff(before, after, text=True)
    log = tmp_path / "store" / "workspaces" / workspace.name / "log"
    log.unlink()
    log.symlink_to(outside / "secret")
    with pytest.raises(SnapshotError, match="expected the log of a workspace"):
        Workspace(folder, store=tmp_path / "store").snapshot()
