"""`ludus list`."""

import pytest

from ludus.cli import list as verb

BAD = "[ludus.envs]\nbad/My Maze = bad:Maze\n"


def test_it_shows_every_environment_with_what_it_is(ludus):
    shown = ludus("list")
    assert shown.exit_code == 0
    assert "GridWorld-v0" in shown.stdout
    assert "teaching" in shown.stdout
    assert "environments. `ludus info ID` tells more." in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["GOAL", "--family", "teaching"], ["GridWorld-v0"]),
        (["--family", "teaching", "--tag", "grid", "--tag", "discrete"], ["GridWorld-v0"]),
        (["--family", "teaching", "arms"], ["Bandit-v0"]),
        (["zebra"], []),
    ],
)
def test_it_filters(ludus, read, arguments, found):
    assert [spec["id"] for spec in read(ludus("list", "--json", *arguments).stdout)] == found


def test_nothing_found_is_said(ludus):
    shown = ludus("list", "zebra")
    assert shown.stdout == ""
    assert shown.stderr.startswith("no environment matches 'zebra'; `ludus list` shows all ")


def test_an_unknown_family_is_an_error(ludus):
    shown = ludus("list", "--family", "teachin")
    assert shown.exit_code == 2
    assert shown.stderr.startswith("family: expected one of ")
    assert shown.stderr.endswith(", got 'teachin'; did you mean 'teaching'?\n")


def test_it_lists_plugins_without_running_them_and_notes_broken_ones(program, folder):
    for name, entry_points in {"good": "[ludus.envs]\ngood/Maze-v0 = good:Maze [fast]\n", "bad": BAD}.items():
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        (folder / f"{name}.py").write_text("open('imported', 'w')")
    done = program("list", PYTHONPATH=str(folder))
    assert done.returncode == 0
    assert "good/Maze-v0" in done.stdout
    assert "Needs the extra fast." in done.stdout
    assert done.stderr.startswith("not usable: bad: id: expected [namespace/]Name[-vN]")
    assert not (folder / "imported").exists()


def test_it_fits_a_terminal_of_80_columns(program):
    assert max(map(len, program("list").stdout.splitlines())) <= 80


def test_brackets_in_descriptions_are_text():
    spec = verb.EnvSpec("Maze-v0", "m:M", description="size [3]", deprecated="old")
    assert verb._about(spec) == r"Deprecated. size \[3]"
