"""A look at what packages announce agrees with the standard library's, or leaves the answer to it."""

import sys
import zipfile
from importlib.metadata import distributions
from types import SimpleNamespace

import pytest

from ludus.registry.plugins import nobody_announces

GROUP = "ludus.tests.nobody"


def announce(folder, text):
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mazes\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(text)


def listed():
    return any(one.group == GROUP for found in distributions() for one in found.entry_points)


@pytest.mark.parametrize("name", ["mazes-1.dist-info", "mazes-1.egg-info", "Mazes-1.DIST-INFO"])
def test_an_installed_package_that_announces_is_seen(tmp_path, monkeypatch, name):
    monkeypatch.syspath_prepend(str(tmp_path))
    assert nobody_announces(GROUP)
    assert not listed()
    announce(tmp_path / name, f"[{GROUP}]\nMaze-v0 = mazes:Maze\n")
    assert not nobody_announces(GROUP)
    assert listed()


def test_what_a_look_does_not_settle_is_left_to_the_standard_library(tmp_path, monkeypatch):
    finder = SimpleNamespace(find_spec=lambda *args: None, find_distributions=lambda *args: [])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "meta_path", [*sys.meta_path, finder])
        assert not nobody_announces(GROUP)
    archive = tmp_path / "mazes.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("mazes-1.dist-info/entry_points.txt", f"[{GROUP}]\nMaze-v0 = mazes:Maze\n")
    for place in (str(archive), str(tmp_path / "mazes.egg"), tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "path", [*sys.path, place])
            assert not nobody_announces(GROUP)
    assert nobody_announces(GROUP)


def test_a_place_that_cannot_be_read_announces_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "nowhere"), ""])
    monkeypatch.chdir(tmp_path)
    assert nobody_announces(GROUP)
    announce(tmp_path / "mazes-1.dist-info", f"[{GROUP}]\n")
    assert not nobody_announces(GROUP)
