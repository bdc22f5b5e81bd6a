"""Suites, their folders of results, and leaderboards that show nothing but what is confirmed."""

import re
import subprocess

import numpy as np
import pytest

import ludus
from ludus.errors import InvalidArgument
from ludus.evaluate import (
    Suite,
    evaluate,
    evaluate_suite,
    leaderboard,
    leaderboard_page,
    normal_score,
    read_evaluation,
    references,
    suite_named,
    suites,
    verify,
)
from ludus.evaluate import suite as suite_module
from ludus.evaluate.intervals import Interval
from ludus.evaluate.leaderboard import LeaderboardLine
from tests.evaluate.forgery import Forgery

SMALL = Suite(name="small", version=3, ids=("CartPole-v1", "FrozenLake-v1"), episodes=4)


def push(seen):
    return int(seen[2] > 0) if isinstance(seen, np.ndarray) and seen.shape else 1


@pytest.fixture
def small(monkeypatch):
    """A suite that is known here as any other."""
    known = {**suites(), "small": SMALL}
    monkeypatch.setattr(suite_module, "suites", lambda: known)
    return SMALL


def test_every_suite_names_environments_that_are_there_and_have_references():
    for suite in suites().values():
        for name in suite.ids:
            assert ludus.spec(name).id == name
            assert references()[name].reference > references()[name].random


def test_seeds_of_a_suite_are_its_own_and_change_with_its_version():
    first = suite_named("suite:classic").declaration("CartPole-v1", "random")
    other = Suite(name="classic", version=2, ids=("CartPole-v1",), episodes=100).declaration("CartPole-v1", "random")
    assert first.derived(0, 5).tolist() != other.derived(0, 5).tolist()
    assert first.marks == ()
    with pytest.raises(InvalidArgument, match=r"suite: expected classic, toy-text, got 'classics'"):
        suite_named("suite:classics")


def test_a_suite_fills_a_folder_and_goes_on_in_it(small, tmp_path):
    found = evaluate_suite(small, "random", tmp_path / "random")
    assert list(found) == list(small.ids)
    assert sorted(one.name for one in (tmp_path / "random").iterdir()) == ["CartPole-v1.ludus", "FrozenLake-v1.ludus"]
    (tmp_path / "random" / "CartPole-v1.ludus").unlink()
    told = []
    assert evaluate_suite(small, "random", tmp_path / "random", progress=told.append) == found
    assert [one.name for one in told] == list(small.ids)
    assert all(verify(one) for one in (tmp_path / "random").iterdir())


def test_processes_of_their_own_play_the_same(small, tmp_path):
    assert evaluate_suite(small, "random", tmp_path / "two", jobs=2) == evaluate_suite(
        small, "random", tmp_path / "one"
    )


def test_a_leaderboard_shows_what_is_confirmed_and_nothing_else(small, tmp_path):
    evaluate_suite(small, "random", tmp_path / "random")
    evaluate_suite(small, push, tmp_path / "push")
    evaluate("CartPole-v1", "nop", seed=[3, 4], out=tmp_path / "chosen.ludus")
    (tmp_path / "lies").mkdir()
    forged = Forgery(tmp_path / "random" / "CartPole-v1.ludus")
    forged.declaration["agent"] = "<script>alert(1)</script>"
    forged.column("episodes/return")[0] = 500.0
    forged.save(tmp_path / "lies" / "a.ludus")
    (tmp_path / "torn.ludus").write_bytes((tmp_path / "chosen.ludus").read_bytes()[:500])
    board = leaderboard(tmp_path)
    assert sorted((line.suite, line.id, line.agent) for line in board.lines) == [
        ("", "CartPole-v1", "nop"),
        ("small 3", "CartPole-v1", "push"),
        ("small 3", "CartPole-v1", "random"),
        ("small 3", "FrozenLake-v1", "push"),
        ("small 3", "FrozenLake-v1", "random"),
    ]
    places = [(line.suite, line.id, -line.score.value) for line in board.lines]
    assert places == sorted(places)
    assert board.lines[0].marks == ("seeds chosen by hand",)
    assert sorted(one.path.rsplit("/", 1)[-1] for one in board.refused) == ["a.ludus", "torn.ludus"]
    page = leaderboard_page(board, "Mine & yours")
    assert "<title>Mine &amp; yours</title>" in page
    assert "Left out, since not confirmed: 2." in page
    assert "seeds chosen by hand" in page
    assert "<code>ludus verify push/CartPole-v1.ludus</code>" in page
    assert "<svg" in page
    assert "<script" not in page
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?[^#\"']", page)


@pytest.mark.parametrize(
    "name", ["a; touch marker.ludus", "$(touch marker).ludus", "-v.ludus", "a b'c.ludus", "a\nb.ludus"]
)
def test_the_command_beside_a_result_is_one_command_whatever_its_file_is_called(name):
    score = Interval(1.0, 1.0, 1.0, 0.95)
    line = LeaderboardLine("CartPole-v1", "mine", "", score, 1.0, 2, (), name, np.full(2, 1.0))
    assert line.command.startswith("ludus verify ")
    shell = f"ludus() {{ printf '%s|' \"$@\"; }}\n{line.command}"
    said = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert said.stdout in (f"verify|{name}|", f"verify|./{name}|")
    assert not said.stdout.startswith("verify|-")


def test_names_in_results_are_text_on_the_page(tmp_path):
    class Odd:
        name = "<script>alert('x')</script>"

        def predict(self, seen, deterministic=True):
            return 0, None

    evaluate("CartPole-v1", Odd(), episodes=2, out=tmp_path / "odd.ludus")
    assert read_evaluation(tmp_path / "odd.ludus").declaration.agent == Odd.name
    page = leaderboard_page(leaderboard(tmp_path))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_normal_scores_are_0_at_random_and_1_at_the_reference():
    known = references()["Acrobot-v1"]
    assert normal_score("Acrobot-v1", known.random) == 0.0
    assert normal_score("Acrobot-v1", known.reference) == 1.0
    assert normal_score("Nowhere-v0", 3.0) is None


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidArgument, match=r"nowhere: expected a folder of results, got none"):
        leaderboard(tmp_path / "nowhere")
