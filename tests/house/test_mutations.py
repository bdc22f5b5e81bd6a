"""The mutations of scripts/mutations.py can be made, one in each room, and a suite that misses one is found out."""

import dataclasses

import pytest


@pytest.fixture(scope="module")
def mutations(script):
    return script("mutations")


def test_every_mutation_can_still_be_made(mutations, root):
    for one in mutations.MUTATIONS:
        text = (root / one.file).read_text(encoding="utf8")
        assert one.mutated(text) != text


def test_there_are_ten_rooms_at_least_with_one_each(mutations):
    rooms = [one.room for one in mutations.MUTATIONS]
    assert len(set(rooms)) == len(rooms) >= 10


def test_a_line_that_is_not_there_any_more_says_what_to_do(mutations):
    with pytest.raises(ValueError, match="got it 0 times; choose another line of this room"):
        mutations.MUTATIONS[0].mutated("nothing of the kind")


def test_a_mutation_is_caught_by_a_test_that_looks_and_missed_by_one_that_does_not(mutations, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, text in {
        "ludus/__init__.py": "ANSWER = 42\n",
        "tests/test_looks.py": "import ludus\ndef test_it(): assert ludus.ANSWER == 42\n",
        "tests/test_looks_away.py": "def test_it(): pass\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    one = mutations.Mutation("all", "wrong", "ludus/__init__.py", "42", "43", "tests/test_looks.py")
    caught = mutations.tried(one, tmp_path, [])
    missed = mutations.tried(dataclasses.replace(one, tests="tests/test_looks_away.py"), tmp_path, [])
    assert (caught.caught, missed.caught) == (True, False)
    assert "tests/test_looks.py::test_it" in caught.said
    assert (tmp_path / "ludus" / "__init__.py").read_text() == "ANSWER = 42\n"
