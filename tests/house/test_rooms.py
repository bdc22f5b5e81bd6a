"""Room, docs page and test folder carry the same word."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [path for path in sorted(ROOT.joinpath("ludus").iterdir()) if any(path.glob("*.py"))]
ROOMS = [path.name for path in FOLDERS]
# The two single-file rooms are tested where they are used first.
PAGES = [*ROOMS, "errors", "seeding"]


def test_the_ground_floor_is_there():
    assert {"core", "spaces", "wrappers", "registry", "envs", "testing", "cli"} <= set(ROOMS)


@pytest.mark.parametrize("room", PAGES)
def test_every_room_has_a_page(room):
    page = ROOT / "docs" / f"{room}.md"
    assert page.is_file(), f"ludus/{room} has no page: write docs/{room}.md and list it in mkdocs.yml"
    assert f"{room}.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf8")


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_tests(room):
    tests = list(ROOT.joinpath("tests", room).rglob("test_*.py"))
    assert tests, f"ludus/{room} has no tests: write tests/{room}/test_*.py"


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_door_that_says_what_lives_in_it(room):
    door = ROOT.joinpath("ludus", room, "__init__.py")
    assert door.is_file()
    assert door.read_text(encoding="utf8").startswith('"""')


def test_every_room_is_on_the_architecture_page():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf8")
    assert [room for room in PAGES if f"`{room}`" not in text] == []
