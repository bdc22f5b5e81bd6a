"""`ludus check` of folders and of servers, as users start it."""

import pytest

from ludus.packaging import scaffold
from ludus.server.run import serve


@pytest.fixture
def game(folder):
    """A new environment in the user's folder."""
    return scaffold("game_to_check", folder, "array")[0].parent


def test_a_folder_is_a_table_of_parts_and_exit_code_0(program, game):
    done = program("check", "game_to_check", "--steps", 10)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = [line.split("│")[1].strip() for line in done.stdout.splitlines() if line.startswith("│")]
    assert parts == ["part", "static", "contract", "isolation", "limits", "service", "openenv", "wire"]
    assert done.stdout.splitlines()[-1].startswith("game_to_check: ")
    assert done.stdout.splitlines()[-1].endswith(" rules, 0 errors, 0 warnings")


def test_json_of_a_folder_has_the_parts(program, game, read):
    (game / ".env").write_text("KEY=1")
    done = program("check", "./game_to_check", "--json", "--no-serve", "--steps", 10)
    report = read(done.stdout)
    assert (done.returncode, report["ok"], report["errors"], report["warnings"]) == (0, True, 0, 1)
    assert list(report["parts"]) == ["static", "contract", "isolation", "limits"]
    strict = program("check", "./game_to_check", "--strict", "--no-serve", "--steps", 10)
    assert strict.returncode == 1


def test_a_bad_folder_is_exit_code_1_with_the_fix(program, game):
    path = game / "ludus.toml"
    path.write_text(path.read_text().replace("name =", "naem ="))
    done = program("check", "game_to_check")
    assert done.returncode == 1
    assert "naem: expected one of the keys" in " ".join(done.stdout.replace("│", " ").split())


def test_a_server_is_checked_by_its_address(program, read):
    with serve("CartPole-v1", port=0, block=False) as running:
        done = program("check", running.url, "--json", "--steps", 10)
    report = read(done.stdout)
    assert (done.returncode, report["ok"]) == (0, True), done.stdout
    assert list(report["parts"]) == ["service", "openenv", "wire"]


def test_a_server_that_is_not_there_is_one_line_and_exit_code_2(program):
    done = program("check", "http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected an answer to GET /health" in done.stderr
    assert "Traceback" not in done.stderr
