"""`ludus new`, as users start it."""

import pytest


def test_it_makes_a_folder_and_says_what_is_next(program, folder):
    done = program("new", "walled-garden")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "made walled-garden: walled_garden.py, test_walled_garden.py, ludus.toml, pyproject.toml, README.md" in words
    assert "next: ludus check walled-garden; ludus serve walled-garden" in words
    assert sorted(path.name for path in (folder / "walled-garden").iterdir())[0] == "README.md"


@pytest.mark.parametrize(("flag", "word"), [("--tools", "ToolEnv"), ("--array", "Box")])
def test_it_makes_other_kinds_elsewhere(ludus, tmp_path, flag, word):
    assert ludus("new", "walled_garden", "--dir", tmp_path / "games", flag).exit_code == 0
    assert word in (tmp_path / "games" / "walled_garden" / "walled_garden.py").read_text()


def test_init_is_another_word_for_it(ludus, tmp_path):
    assert ludus("init", "walled_garden", "--dir", tmp_path).exit_code == 0
    assert (tmp_path / "walled_garden" / "ludus.toml").is_file()


def test_what_cannot_be_made_is_one_line_and_exit_code_2(ludus, tmp_path):
    for arguments, told in (
        (["Walled Garden"], "name: expected lower-case words"),
        (["json"], "expected one that no module has yet"),
        (["a_garden", "--tools", "--array"], "expected --tools or --array, got both"),
    ):
        done = ludus("new", *arguments, "--dir", tmp_path)
        assert done.exit_code == 2
        assert told in done.stderr
    assert list(tmp_path.iterdir()) == []
