"""Stores: each content once, nothing half written, nothing lost that is still needed, by several processes at once."""

import fcntl
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from ludus.errors import LimitExceeded, SandboxError, SnapshotError
from ludus.sandbox.workspace import Store, Workspace, content
from ludus.sandbox.workspace import store as storing
from ludus.sandbox.workspace.journal import Line, SnapshotJournal


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(folder, tmp_path):
    return Workspace(folder, store=tmp_path / "store")


def objects(workspace) -> list[Path]:
    return list(workspace.store.folder.glob("objects/*/*"))


# Contents.


def test_equal_contents_are_stored_once(workspace, folder):
    for number in range(10):
        (folder / f"file{number}").write_bytes(b"same")
    workspace.snapshot()
    assert [path.read_bytes() for path in objects(workspace)] == [b"same"]


@pytest.mark.parametrize(
    "size",
    [
        0,
        1,
        storing.READ_AT_ONCE_BYTES,
        storing.READ_AT_ONCE_BYTES + 1,
        3 * content.CHUNK_BYTES + storing.READ_AT_ONCE_BYTES,
    ],
)
def test_files_of_every_size_are_kept_whole(workspace, folder, size):
    data = os.urandom(1000) * (size // 1000 + 1)
    (folder / "file").write_bytes(data[:size])
    taken = workspace.snapshot()
    (folder / "file").unlink()
    workspace.restore(taken)
    assert (folder / "file").read_bytes() == data[:size]


def test_clones_are_used_where_they_work(workspace, folder, monkeypatch):
    cloned: list[int] = []

    def clone(source, target):
        size = content.copy(source, target, 1 << 40)
        cloned.append(size)
        return True

    monkeypatch.setattr(storing, "clone", clone)
    (folder / "file").write_bytes(b"x" * (storing.READ_AT_ONCE_BYTES + 1))
    taken = workspace.snapshot()
    (folder / "file").unlink()
    workspace.restore(taken)
    assert cloned == [storing.READ_AT_ONCE_BYTES + 1] * 2
    assert (folder / "file").read_bytes() == b"x" * (storing.READ_AT_ONCE_BYTES + 1)


def test_no_content_is_shared_with_the_workspace_by_a_hard_link(workspace, folder):
    (folder / "file").write_bytes(b"x")
    workspace.restore(workspace.snapshot())
    assert (folder / "file").stat().st_nlink == 1
    assert all(path.stat().st_nlink == 1 for path in objects(workspace))


def test_a_store_that_waits_for_the_disk_gives_the_same(folder, tmp_path):
    (folder / "file").write_bytes(b"x" * (storing.READ_AT_ONCE_BYTES + 1))
    (folder / "small").write_bytes(b"x")
    careful = Workspace(folder, store=Store(tmp_path / "careful", sync=True)).snapshot()
    assert careful.id == Workspace(folder, store=tmp_path / "quick").snapshot().id


def test_copies_keep_to_their_limit(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 100)
    with (tmp_path / "file").open("rb") as file, pytest.raises(LimitExceeded, match="at most 99 bytes"):
        content.copy(file.fileno(), None, 99)


# Crashes and damage.


def test_a_crash_leaves_no_snapshot_and_nothing_that_gc_does_not_remove(workspace, folder, monkeypatch):
    first = workspace.snapshot()
    (folder / "file").write_bytes(b"lost")

    def crash(self, digest, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "add_tree", crash)
    with pytest.raises(KeyboardInterrupt):
        workspace.snapshot()
    monkeypatch.undo()
    assert workspace.log() == (first,)
    assert len(objects(workspace)) == 1
    assert workspace.gc() == (1, 4)
    assert objects(workspace) == []


def test_a_write_that_fails_leaves_nothing(workspace, folder, monkeypatch):
    (folder / "file").write_bytes(b"x")

    def full(file, data, offset=0):
        raise OSError(28, "no space left")

    monkeypatch.setattr(storing, "write_all", full)
    with pytest.raises(OSError, match="no space"):
        workspace.snapshot()
    assert list(workspace.store.folder.glob("temporary/*")) == []


def test_a_torn_line_is_not_counted_and_overwritten(workspace, folder):
    first = workspace.snapshot("first")
    [log] = workspace.store.folder.glob("workspaces/*/log")
    with log.open("ab") as file:
        file.write(b'{"event":"snapshot","id":"ab')
    reopened = Workspace(folder, store=workspace.store)
    assert reopened.log() == (first,)
    second = reopened.snapshot("second")
    assert Workspace(folder, store=workspace.store).log() == (first, second)
    assert workspace.log() == (first, second)


@pytest.mark.parametrize("damage", [b"", b"y", b"xx"])
def test_a_damaged_content_is_an_error_not_a_file(workspace, folder, damage):
    (folder / "file").write_bytes(b"x")
    taken = workspace.snapshot()
    (folder / "file").write_bytes(b"other")
    [path] = objects(workspace)
    path.unlink()
    path.write_bytes(damage)
    with pytest.raises(SnapshotError, match="damaged"):
        workspace.restore(taken)


def test_a_missing_content_is_an_error(workspace, folder):
    (folder / "file").write_bytes(b"x")
    taken = workspace.snapshot()
    (folder / "file").unlink()
    objects(workspace)[0].unlink()
    with pytest.raises(SnapshotError, match="got nothing under that name"):
        workspace.restore(taken)


def test_a_damaged_or_missing_folder_is_an_error(workspace, folder):
    (folder / "sub").mkdir()
    (folder / "sub/file").touch()
    taken = workspace.snapshot()
    trees = {path.parent.name + path.name: path for path in workspace.store.folder.glob("trees/*/*")}
    [below] = [path for name, path in trees.items() if name != taken.id]
    data = below.read_bytes()
    below.unlink()
    with pytest.raises(SnapshotError, match="nothing under that name"):
        workspace.restore(taken)
    below.write_bytes(data + b"\0")
    with pytest.raises(SnapshotError, match="another hash"):
        workspace.restore(taken)


def test_a_content_without_its_bytes_is_written_again(workspace, folder):
    (folder / "file").write_bytes(b"x")
    taken = workspace.snapshot()
    [path] = objects(workspace)
    path.unlink()
    path.touch()
    assert workspace.snapshot(full=True).id == taken.id
    assert path.read_bytes() == b"x"


# Collection.


def test_gc_removes_what_was_dropped_and_keeps_what_others_need(workspace, folder, tmp_path):
    (folder / "shared").write_bytes(b"shared")
    (folder / "old").write_bytes(b"old")
    first = workspace.snapshot()
    fork = workspace.fork(first, tmp_path / "fork")
    (fork.folder / "old").write_bytes(b"mine")
    other = fork.snapshot()
    fork.drop(first)
    (folder / "old").write_bytes(b"new")
    second = workspace.snapshot()
    assert workspace.gc() == (0, 0)
    workspace.drop(first)
    assert workspace.log() == (second,)
    assert workspace.gc()[0] == 2
    assert {path.read_bytes() for path in objects(workspace)} == {b"shared", b"new", b"mine"}
    workspace.restore(other)
    with pytest.raises(ValueError, match="expected one of this store"):
        workspace.restore(first)


def test_a_known_content_that_was_collected_is_read_again(workspace, folder, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.workspace.index.CLOCK_TICK_NS", -(10**18))
    (folder / "file").write_bytes(b"x")
    taken = workspace.snapshot()
    aside = workspace.store.folder / "workspaces" / workspace.name / "log"
    aside.unlink()  # nobody leads to it any more, while the index knows it
    fresh = Workspace(folder, store=workspace.store)
    assert fresh.gc()[0] == 2
    assert fresh.snapshot().id == taken.id
    assert [path.read_bytes() for path in objects(workspace)] == [b"x"]


def test_a_lock_that_is_held_for_ever_is_an_error(workspace, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.locks.PATIENCE_S", 0.05)
    with (workspace.store.folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(SandboxError, match="to be free"):
            workspace.snapshot()


# Several processes.

WRITER = """
import os, sys
from pathlib import Path
from ludus.sandbox.workspace import Workspace

folder, store, name, rounds = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
workspace = Workspace(folder, store=store)
for number in range(rounds):
    (folder / "shared").write_text(f"{number}")
    (folder / f"file-{name}").write_text(f"{name} {number}")
    (folder / f"{name}{number}").mkdir()
    (folder / f"{name}{number}" / "x").write_text(f"{number % 3}")
    workspace.snapshot(f"{name} {number}")
    if number % 3 == 2:
        workspace.gc()
"""


def start(*arguments) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", WRITER, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def finish(*processes) -> None:
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert (process.returncode, error) == (0, "")


def test_two_processes_add_and_collect_in_one_store(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    finish(*(start(folder, tmp_path / "store", folder.name, 12) for folder in folders))
    for folder in folders:
        workspace = Workspace(folder, store=tmp_path / "store")
        assert [taken.label for taken in workspace.log()] == [f"{folder.name} {number}" for number in range(12)]
        for taken in workspace.log():
            workspace.restore(taken)
            assert (folder / "shared").read_text() == taken.label.split()[1]
            assert len(list(folder.iterdir())) == 2 + taken.number + 1
    assert list((tmp_path / "store/temporary").iterdir()) == []


def test_two_processes_share_the_log_of_one_workspace(tmp_path, folder):
    finish(*(start(folder, tmp_path / "store", name, 8) for name in ("a", "b")))
    log = Workspace(folder, store=tmp_path / "store").log()
    assert [taken.number for taken in log] == list(range(16))
    assert [taken.parent for taken in log[1:]] == [taken.id for taken in log[:-1]]


def test_a_journal_that_two_threads_read_has_each_line_once(tmp_path, monkeypatch):
    """Read twice, it would be taken to be longer than it is, and the next line be written behind zeros."""
    writer, journal = (SnapshotJournal(tmp_path / "log") for _ in range(2))
    writer.add(Line(event="fork", id="ab" * 32), sync=False)
    decode, meeting = msgspec.json.decode, threading.Barrier(2)

    def met(*arguments, **options):
        with suppress(threading.BrokenBarrierError):  # the other one waits for this one, as it should
            meeting.wait(0.2)
        return decode(*arguments, **options)

    monkeypatch.setattr(msgspec.json, "decode", met)
    threads = [threading.Thread(target=journal.lines) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(journal.lines()) == 1
    journal.add(Line(event="drop", id="ab" * 32), sync=False)
    assert [line.event for line in SnapshotJournal(tmp_path / "log").lines()] == ["fork", "drop"]
