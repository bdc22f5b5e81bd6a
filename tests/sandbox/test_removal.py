"""What sandboxed code leaves is removed, however deep it is and whoever left it."""

import os

import pytest

from ludus.sandbox.leftovers import identity, private_folder, sweep_folders
from ludus.sandbox.removal import remove_tree
from tests.attacks.canaries import remove_tree as remove_by_system

DEEP = 1200


def dig(folder):
    """Folders one in the other, more than Python can walk."""
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)


@pytest.fixture
def place(tmp_path):
    """A folder that pytest can remove, whatever a test that fails leaves in it."""
    (tmp_path / "place").mkdir()
    yield tmp_path / "place"
    remove_by_system(str(tmp_path / "place"))


def test_a_folder_is_removed_with_all_that_is_in_it_and_nothing_that_links_lead_to(place):
    outside = place / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    dig(place / "box")
    (place / "box" / "link").symlink_to(outside)
    (place / "box" / "d" / "link").symlink_to(outside / "file")
    (place / "box" / "closed").mkdir()
    (place / "box" / "closed" / "file").write_text("")
    (place / "box" / "closed").chmod(0)
    os.mkfifo(place / "box" / "pipe")
    remove_tree(place / "box")
    assert os.listdir(place) == ["outside"]
    (place / "link").symlink_to(outside)
    for nothing in ("link", "not-there", "outside/file"):
        remove_tree(place / nothing)
    assert sorted(os.listdir(place)) == ["link", "outside"]
    assert (outside / "file").read_text() == "mine"


def test_what_a_killed_process_left_is_swept_however_deep_it_is(place, monkeypatch):
    boot, namespace, pid, started = identity().split(".")
    dead = ".".join((boot, namespace, pid, str(int(started) + 1)))
    dig(place / f"ludus-home-{dead}-abc")
    sweep_folders(str(place))
    assert os.listdir(place) == []
    dig(place / f"ludus-swept-{dead}-abc")
    monkeypatch.setattr("ludus.sandbox.leftovers._base", lambda: str(place))
    made = private_folder("task")
    assert os.listdir(place) == [os.path.basename(made)]
