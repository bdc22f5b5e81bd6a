"""`ludus demo`."""

from ludus.cli.demo import TOUR
from ludus.registry import list_envs


def test_it_plays_the_built_in_environments_and_says_what_to_try_next(ludus):
    shown = ludus("demo")
    assert shown.exit_code == 0
    assert shown.stdout.count("same history") == len(TOUR)
    assert {spec.family for spec in list_envs() if spec.id in TOUR} == {
        "classic",
        "toy_text",
        "algorithmic",
        "teaching",
    }
    assert "differs" not in shown.stdout
    assert "ludus run GridWorld-v0 --seed 7" in shown.stdout


def test_it_fits_a_terminal_of_80_columns(program):
    done = program("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "ludus check my_module:MyEnv" in done.stdout
