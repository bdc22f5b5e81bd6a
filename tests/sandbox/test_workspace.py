"""Workspaces: what was is what comes back, to the byte and the permission, and history never changes."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.errors import InvalidArgument, SnapshotError
from ludus.sandbox import Mount, Sandbox, give
from ludus.sandbox.workspace import Store, Workspace, WorkspaceSnapshot, index, scan


def described(folder: Path | bytes) -> dict[bytes, tuple[object, ...]]:
    """All that is in a folder, found without any of the code under test."""
    found: dict[bytes, tuple[object, ...]] = {}
    root = os.fsencode(folder)
    for entry in os.scandir(root):
        status = entry.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if entry.is_symlink():
            found[entry.name] = ("link", os.readlink(entry.path))
        elif entry.is_dir(follow_symlinks=False):
            found[entry.name] = ("folder", mode)
            found |= {entry.name + b"/" + name: what for name, what in described(entry.path).items()}
        else:
            found[entry.name] = ("file", mode, Path(os.fsdecode(entry.path)).read_bytes())
    return found


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(folder, tmp_path):
    return Workspace(folder, store=tmp_path / "store")


def fill(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "sub/deep").mkdir(parents=True)
    (folder / "sub/deep/data.bin").write_bytes(bytes(range(256)) * 100)
    (folder / "script.sh").write_text("#!/bin/sh\n")
    (folder / "script.sh").chmod(0o755)
    (folder / "nothing").touch()
    (folder / "secret").write_text("x")
    (folder / "secret").chmod(0o400)
    (folder / "dangling").symlink_to("nowhere/at/all")
    (folder / "absolute").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("../..")
    for name in (b"new\nline", b"\xff\xfe", b"-rf", b" ", b"n" * 255, "grüße".encode()):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(name)


# Back and forth.


def test_everything_comes_back(workspace, folder):
    fill(folder)
    before = described(folder)
    taken = workspace.snapshot("full")
    assert (taken.files, taken.folders, taken.links, taken.label) == (10, 3, 3, "full")
    assert taken.size == sum(len(what[2]) for what in before.values() if what[0] == "file")
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (folder / "other").write_text("other")
    workspace.restore(taken)
    assert described(folder) == before


def test_an_empty_folder_is_a_snapshot_too(workspace, folder):
    empty = workspace.snapshot()
    fill(folder)
    workspace.restore(empty)
    assert described(folder) == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "script.sh").write_text("#!/bin/zz\n"),
        lambda folder: (folder / "script.sh").chmod(0o700),
        lambda folder: (folder / "empty").rmdir(),
        lambda folder: (folder / "empty").chmod(0o500),
        lambda folder: (folder / "sub").rename(folder / "moved"),
        lambda folder: ((folder / "nothing").unlink(), (folder / "nothing").mkdir()),
        lambda folder: ((folder / "empty").rmdir(), (folder / "empty").write_text("")),
        lambda folder: ((folder / "nothing").unlink(), (folder / "nothing").symlink_to("script.sh")),
        lambda folder: ((folder / "dangling").unlink(), (folder / "dangling").symlink_to("elsewhere")),
        lambda folder: ((folder / "dangling").unlink(), (folder / "dangling").mkdir()),
        lambda folder: (folder / "hard").hardlink_to(folder / "script.sh"),
        lambda folder: (folder / "sub/deep/new").write_text("new"),
    ],
)
def test_each_change_has_an_id_of_its_own_and_is_undone(workspace, folder, change):
    fill(folder)
    before, taken = described(folder), workspace.snapshot()
    change(folder)
    changed, other = described(folder), workspace.snapshot()
    assert other.id != taken.id
    assert workspace.diff(taken, other)
    workspace.restore(taken)
    assert described(folder) == before
    workspace.restore(other)
    assert described(folder) == changed


NAMES = st.sampled_from([b"a", b"b", b"c\n", b"\xff", b"d"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
MODES = st.sampled_from([0o644, 0o600, 0o755, 0o500, 0o400, 0o777, 0o711])
CONTENTS = st.sampled_from([b"", b"x", b"y", b"text\n", b"\0" * 5000, bytes(range(256))])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, CONTENTS),
        st.tuples(st.just("mkdir"), PATHS, MODES),
        st.tuples(st.just("symlink"), PATHS, PATHS),
        st.tuples(st.just("remove"), PATHS, st.none()),
        st.tuples(st.just("chmod"), PATHS, MODES),
        st.tuples(st.just("rename"), PATHS, PATHS),
        st.tuples(st.just("link"), PATHS, PATHS),
    ),
    max_size=20,
)


def apply(folder: bytes, changes) -> None:
    for do, name, value in changes:
        path = folder + b"/" + name
        try:
            if do == "write":
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
                os.write(descriptor, value)
                os.close(descriptor)
            elif do == "mkdir":
                os.mkdir(path, value)
            elif do == "symlink":
                os.symlink(value, path)
            elif do == "remove":
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
            elif do == "chmod" and not os.path.islink(path):
                os.chmod(path, value)
            elif do == "rename":
                os.rename(path, folder + b"/" + value)
            elif do == "link" and not os.path.islink(path):
                os.link(path, folder + b"/" + value)
        except OSError:
            pass  # not possible there


@settings(max_examples=30)
@given(CHANGES, CHANGES, CHANGES)
def test_whatever_happens_a_restored_snapshot_is_what_was(first, second, third):
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "work")
        folder.mkdir()
        workspace = Workspace(folder, store=Path(base, "store"))
        states: list[tuple[dict[bytes, tuple[object, ...]], WorkspaceSnapshot]] = []
        for changes in (first, second, third):
            apply(os.fsencode(folder), changes)
            states.append((described(folder), workspace.snapshot()))
        for was, taken in (states[0], states[2], states[1], states[0]):
            workspace.restore(taken)
            assert described(folder) == was
        for was, taken in states:
            assert described(workspace.fork(taken, Path(base, f"fork{taken.number}")).folder) == was
            assert workspace.snapshot(full=True).id == states[0][1].id
            assert bool(workspace.diff(states[0][1], taken)) == (was != states[0][0])


# Ids.


def test_equal_content_has_an_equal_id_wherever_and_whenever(tmp_path):
    ids = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        fill(tmp_path / name)
        os.utime(tmp_path / name / "nothing", (1, 1))
        ids.add(Workspace(tmp_path / name, store=tmp_path / f"store {name}").snapshot().id)
    assert len(ids) == 1


def test_the_log_has_parents_labels_and_numbers_and_survives_the_process(workspace, folder, tmp_path):
    first = workspace.snapshot("first")
    (folder / "a").touch()
    second = workspace.snapshot("second")
    workspace.restore(first)
    third = workspace.snapshot("third")
    assert [one.parent for one in (first, second, third)] == [None, first.id, first.id]
    assert third.id == first.id
    reopened = Workspace(folder, store=tmp_path / "store")
    assert reopened.log() == (first, second, third)
    assert [one.number for one in reopened.log()] == [0, 1, 2]
    assert reopened.head == first.id


def test_a_fork_goes_its_own_way_in_the_same_store(workspace, folder, tmp_path):
    fill(folder)
    taken = workspace.snapshot()
    before = described(folder)
    fork = workspace.fork(taken, tmp_path / "fork")
    assert described(fork.folder) == before
    assert fork.folder.stat().st_mode == folder.stat().st_mode
    (fork.folder / "script.sh").write_text("changed")
    (fork.folder / "sub/deep/data.bin").write_bytes(b"")
    mine = fork.snapshot()
    assert mine.parent == taken.id
    assert fork.log() == (mine,)
    assert described(folder) == before
    assert [one.path for one in workspace.diff(taken, mine).changed] == ["script.sh", "sub/deep/data.bin"]
    workspace.restore(mine)
    assert described(folder) == described(fork.folder)


def test_a_fork_needs_an_empty_folder(workspace, folder, tmp_path):
    taken = workspace.snapshot()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    with pytest.raises(InvalidArgument, match="empty or not there"):
        workspace.fork(taken, tmp_path / "full")


def test_writing_to_the_workspace_never_changes_history(workspace, folder):
    (folder / "file").write_bytes(b"before")
    taken = workspace.snapshot()
    with (folder / "file").open("r+b") as file:
        file.write(b"after!")
    workspace.snapshot()
    workspace.restore(taken)
    assert (folder / "file").read_bytes() == b"before"
    with (folder / "file").open("r+b") as file:  # in place, where a hard link would reach the store
        file.write(b"again!")
    workspace.restore(taken)
    assert (folder / "file").read_bytes() == b"before"


# What is noticed, and what is not read again.


def test_a_change_that_hides_its_time_is_noticed(workspace, folder):
    file = folder / "file"
    file.write_bytes(b"one")
    was = file.stat()
    first = workspace.snapshot()
    file.write_bytes(b"two")
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert workspace.snapshot().id != first.id


def test_changes_in_the_same_tick_as_the_snapshot_are_noticed(workspace, folder):
    file = folder / "file"
    ids = set()
    for number in range(100):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"%05d" % number)
        os.close(descriptor)
        ids.add(workspace.snapshot().id)
    assert len(ids) == 100


def test_what_changed_shortly_before_is_not_remembered(folder):
    file = folder / "file"
    file.touch()
    found = file.stat()
    known = index.ContentIndex()
    known.remember(b"file", found, b"content", found.st_ctime_ns + index.CLOCK_TICK_NS)
    assert known.content(b"file", found) is None
    known.remember(b"file", found, b"content", found.st_ctime_ns + 2 * index.SECOND_NS + 1)
    assert known.content(b"file", found) == b"content"
    file.chmod(0o700)
    assert known.content(b"file", file.stat()) is None


def reads(monkeypatch) -> list[int]:
    """The sizes of files that are read from now on."""
    seen: list[int] = []
    original = Store.add_file

    def add_file(self, source, most):
        seen.append(os.fstat(source).st_size)
        return original(self, source, most)

    monkeypatch.setattr(Store, "add_file", add_file)
    return seen


def test_what_did_not_change_is_not_read_again(workspace, folder, monkeypatch, tmp_path):
    monkeypatch.setattr(index, "CLOCK_TICK_NS", -(10**18))
    for number in range(20):
        (folder / f"file{number}").write_bytes(b"x" * number)
    workspace.snapshot()
    (folder / "file7").write_bytes(b"y" * 7)
    seen = reads(monkeypatch)
    workspace.snapshot()
    assert seen == [7]
    Workspace(folder, store=tmp_path / "store").snapshot()
    assert seen == [7]
    workspace.snapshot(full=True)
    assert len(seen) == 21


def test_a_damaged_index_only_costs_time(workspace, folder, tmp_path):
    fill(folder)
    taken = workspace.snapshot()
    [saved] = tmp_path.glob("store/workspaces/*/index")
    for damage in (b"", b"\xc1", b"\x92\x00\x00"):
        saved.write_bytes(damage)
        assert Workspace(folder, store=tmp_path / "store").snapshot().id == taken.id


def test_a_restore_leaves_alone_what_is_right(workspace, folder, monkeypatch):
    monkeypatch.setattr(index, "CLOCK_TICK_NS", -(10**18))
    fill(folder)
    taken = workspace.snapshot()
    untouched = (folder / "sub/deep/data.bin").stat()
    (folder / "nothing").write_text("something")
    workspace.restore(taken)
    assert (folder / "sub/deep/data.bin").stat() == untouched


def test_a_restore_of_permissions_alone_keeps_the_file(workspace, folder, monkeypatch):
    monkeypatch.setattr(index, "CLOCK_TICK_NS", -(10**18))
    (folder / "file").write_text("x")
    taken, inode = workspace.snapshot(), (folder / "file").stat().st_ino
    (folder / "file").chmod(0o700)
    workspace.snapshot()
    workspace.restore(taken)
    found = (folder / "file").stat()
    assert (found.st_ino, stat.S_IMODE(found.st_mode)) == (inode, 0o644)


def test_a_file_that_changes_while_it_is_read_is_not_remembered(workspace, folder, monkeypatch):
    monkeypatch.setattr(index, "CLOCK_TICK_NS", -(10**18))
    file = folder / "file"
    file.write_bytes(b"x")
    original = Store.add_file

    def add_file(self, source, most):
        found = original(self, source, most)
        with file.open("ab") as growing:
            growing.write(b"x")
        return found

    monkeypatch.setattr(Store, "add_file", add_file)
    torn = workspace.snapshot()
    monkeypatch.undo()
    assert (torn.files, file.stat().st_size) == (1, 1 + scan.MAX_TRIES)
    assert workspace.snapshot().size == 1 + scan.MAX_TRIES


# Differences.


def test_a_difference_has_groups_sizes_and_modes(workspace, folder):
    fill(folder)
    before = workspace.snapshot()
    (folder / "script.sh").write_text("#!/bin/bash\n")
    (folder / "secret").chmod(0o600)
    (folder / "empty").chmod(0o700)
    shutil.rmtree(folder / "sub")
    (folder / "new/er").mkdir(parents=True)
    (folder / "new/er/file").write_text("12345")
    (folder / "nothing").unlink()
    (folder / "nothing").symlink_to("x")
    diff = workspace.diff(before, workspace.snapshot())
    assert [one.path for one in diff.added] == ["new", "new/er", "new/er/file"]
    assert [one.path for one in diff.removed] == ["sub", "sub/deep", "sub/deep/data.bin"]
    assert [one.path for one in diff.changed] == ["nothing", "script.sh"]
    assert [(one.path, one.mode) for one in diff.modes] == [("empty", (0o755, 0o700)), ("secret", (0o400, 0o600))]
    assert diff.changed[0].kind == ("file", "link")
    assert (diff.changed[1].size, diff.added[2].size) == ((10, 12), (None, 5))
    assert not workspace.diff(before, before)


def test_a_difference_of_small_texts_is_shown_line_by_line(workspace, folder):
    (folder / "text").write_text("one\ntwo\nthree\n")
    (folder / "binary").write_bytes(b"\0one")
    (folder / "large").write_text("line\n" * 20_000)
    before = workspace.snapshot()
    (folder / "text").write_text("one\n2\nthree")
    (folder / "binary").write_bytes(b"\0two")
    (folder / "large").write_text("other\n" * 20_000)
    (folder / "new").write_text("hello\n")
    diff = workspace.diff(before, workspace.snapshot(), text=True)
    texts = {one.path: one.text for one in (*diff.changed, *diff.added)}
    assert texts["binary"] is texts["large"] is None
    assert texts["new"] == "--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+hello\n"
    assert "-two\n" in texts["text"]
    assert "+2\n" in texts["text"]
    assert texts["text"].endswith("+three\n\\ no newline at the end\n")


# Wrong ways to use it.


def test_folders_that_cannot_be_are_refused(tmp_path, folder):
    with pytest.raises(InvalidArgument, match="a folder that is there"):
        Workspace(tmp_path / "nowhere", store=tmp_path / "store")
    for store in (folder, folder / "store"):
        with pytest.raises(InvalidArgument, match="a store outside of"):
            Workspace(folder, store=store)
    with pytest.raises(InvalidArgument, match="letters, digits"):
        Workspace(folder, store=tmp_path / "store", name="../x")


def test_a_store_that_others_may_write_is_refused(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(InvalidArgument, match="nobody else may write"):
        Store(tmp_path / "open")


@pytest.mark.parametrize("wrong", ["", "ab", "z" * 64, "0" * 64, "../" * 20, None, 5])
def test_an_id_that_is_none_is_refused(workspace, wrong):
    with pytest.raises(InvalidArgument, match="expected one of this store"):
        workspace.restore(wrong)


def test_a_workspace_is_a_writable_mount(workspace, folder):
    assert workspace.mount() == Mount(str(folder), writable=True)
    assert workspace.mount("/work").where == "/work"
    assert str(folder) in repr(workspace)


def test_a_restore_that_something_writes_into_is_an_error(workspace, folder, monkeypatch):
    taken = workspace.snapshot()

    def tree(self, descriptor, digest, above, depth):
        (folder / "intruder").touch()

    monkeypatch.setattr("ludus.sandbox.workspace.restoration.Restoration._tree", tree)
    with pytest.raises(SnapshotError, match="something writes in"):
        workspace.restore(taken)
    monkeypatch.undo()
    workspace.restore(taken)
    assert described(folder) == {}


# With sandboxed code.


@pytest.mark.parametrize("name", ["process", "bubblewrap"])
def test_confined_code_works_in_a_workspace_that_is_restored_under_it(workspace, folder, name):
    give(folder)
    with Sandbox(name, mounts=[workspace.mount()], folder=str(folder)).open_session() as session:
        session.run("mkdir src; echo 1 > src/file; chmod 700 src")
        first = workspace.snapshot()
        session.run("echo 2 >> src/file; rm -r src; ln -s /etc src; echo more > other")
        assert workspace.snapshot().links == 1
        workspace.restore(first)
        assert session.run("cat src/file; ls; echo 3 >> src/file").stdout == b"1\nsrc\n"
        assert (folder / "src/file").read_text() == "1\n3\n"
