"""Room, docs page and test folder carry the same word."""

from pathlib import Path

from tests.house.offenders import none_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [path for path in sorted(ROOT.joinpath("ludus").iterdir()) if any(path.glob("*.py"))]
ROOMS = [path.name for path in FOLDERS]
# The two single-file rooms are tested where they are used first.
PAGES = [*ROOMS, "errors", "seeding"]


def test_the_ground_floor_is_there():
    assert {"core", "spaces", "wrappers", "registry", "envs", "testing", "cli"} <= set(ROOMS)


def test_every_room_has_a_page():
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf8")
    found = (room for room in PAGES if not ROOT.joinpath("docs", f"{room}.md").is_file() or f"{room}.md" not in listed)
    none_of(found, "a room has a page docs/<room>.md, listed in mkdocs.yml")


def test_every_room_has_tests():
    found = (room for room in ROOMS if not any(ROOT.joinpath("tests", room).rglob("test_*.py")))
    none_of(found, "a room has tests in tests/<room>/test_*.py")


def test_every_room_has_a_door_that_says_what_lives_in_it():
    doors = (ROOT.joinpath("ludus", room, "__init__.py") for room in ROOMS)
    found = (str(door) for door in doors if not door.is_file() or not door.read_text(encoding="utf8").startswith('"""'))
    none_of(found, "a room has an __init__.py with a docstring")


def test_every_room_is_on_the_architecture_page():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf8")
    assert [room for room in PAGES if f"`{room}`" not in text] == []
