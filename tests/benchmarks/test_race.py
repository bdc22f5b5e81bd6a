"""Races: everybody has a figure or a reason."""

import json
from dataclasses import replace

import pytest

from ludus.benchmarks import Arena, Figure, RacePace, SkippedContestant, bench, compare
from ludus.benchmarks.lineup import PEERS, installed_peers, lineup
from ludus.errors import InvalidArgument, UnknownEnvironment
from ludus.vector.executor import EXECUTORS

QUICK = RacePace(0.002, rounds=3, warm=0.0)


def test_everybody_gets_a_figure_or_a_reason_in_the_order_of_taking_part(tiny):
    crowd = [tiny("leaves"), tiny("good"), tiny("refuses"), replace(tiny("good"), name="small", most_lanes=4)]
    with Arena(QUICK) as arena:
        gone, good, refused, small = arena.race(crowd, 5, {"id": "Sum-v0"})
    assert gone == SkippedContestant("leaves one", 5, "ended with exit code 3: no more of this")
    assert refused == SkippedContestant("refuses one", 5, "there is no Sum-v0 here")
    assert small == SkippedContestant("small", 5, "more than 4 lanes would take too long")
    assert isinstance(good, Figure)
    assert (good.contestant, good.lanes, good.rounds, good.about) == ("good one", 5, 3, {"tiny": "1.0"})
    assert good.steps_per_second > 0
    assert 0 < good.microseconds <= good.microseconds_p99
    assert 0 < good.spread <= 1


def test_contestants_take_turns(tiny):
    told = []
    with Arena(QUICK, told.append) as arena:
        arena.race([tiny(), replace(tiny(), name="other one")], 2, {"id": "Sum-v0"})
    rounds = [text for text in told if "round" in text]
    assert rounds == [f"{name}, 2 lanes: round {k} of 3" for k in (1, 2, 3) for name in ("good one", "other one")]


def test_one_that_left_starts_anew_in_the_next_race(tiny):
    with Arena(QUICK) as arena:
        contestant = tiny("leaves")
        [first] = arena.race([contestant], 1, {"id": "Sum-v0"})
        [second] = arena.race([replace(contestant, options={"mood": "good"})], 1, {"id": "Sum-v0"})
    assert isinstance(first, SkippedContestant)
    assert isinstance(second, Figure)


def test_one_that_fails_at_every_size_is_named_once(tiny):
    with Arena(QUICK) as arena:
        report = compare(arena, "Sum-v0", [tiny("refuses"), replace(tiny(), name="small", most_lanes=1)], [1, 2, 3])
    assert report.skipped == (
        SkippedContestant("refuses one", 0, "there is no Sum-v0 here"),
        SkippedContestant("small", 2, "more than 1 lanes would take too long"),
        SkippedContestant("small", 3, "more than 1 lanes would take too long"),
    )
    assert (report.contestants, report.sizes) == (["small"], [1])


def interpreter(folder, **versions):
    """A program that answers as an interpreter with these packages does."""
    path = folder / f"python-{len(versions)}"
    told = json.dumps(dict.fromkeys(("envpool", "gymnasium", "gymnax")) | versions)
    path.write_text(f"#!/bin/sh\necho '{told}'\n", encoding="utf8")
    path.chmod(0o700)
    return str(path)


def test_all_executors_take_part_and_peers_that_are_missing_are_named(tmp_path):
    bare, home = interpreter(tmp_path), interpreter(tmp_path, gymnasium="1.4.0")
    contestants, missing = lineup("MountainCar-v0", EXECUTORS, [bare, home])
    assert [one.name for one in contestants if one.name.startswith("ludus")] == [f"ludus {name}" for name in EXECUTORS]
    assert {one.name: one.python for one in contestants if one.name.startswith("gymnasium")} == {
        f"gymnasium {mode}": home for mode in ("vector", "sync", "async")
    }
    assert missing == [SkippedContestant(name, 0, f"{name} is not installed") for name in ("envpool", "gymnax")]
    assert len(contestants) + len(missing) == len(EXECUTORS) + len(PEERS)


def test_the_loop_in_c_runs_beside_the_environment_it_is():
    assert [one.name for one in lineup("CartPole-v1", [], [])[0]] == ["C loop"]
    assert lineup("CartPole-v0", [], []) == ([], [])


def test_what_is_no_interpreter_is_refused(tmp_path):
    for wrong in (str(tmp_path / "nothing"), "/bin/false"):
        with pytest.raises(InvalidArgument, match="peers: expected a Python interpreter, got"):
            installed_peers([wrong])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sizes": []}, r"sizes: expected numbers of lanes from 1 to 16777216, got \[\]"),
        ({"sizes": [4, 0]}, r"got \[4, 0\]"),
        ({"sizes": [1.5]}, r"got \[1.5\]"),
        ({"executors": ["cereal"]}, "executors: expected some of serial, .*, got 'cereal'"),
        ({"pace": RacePace(0.0)}, "pace: expected seconds above 0 and 1 to 1000 rounds"),
        ({"pace": RacePace(rounds=0)}, "pace: expected"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, text):
    with pytest.raises(InvalidArgument, match=text):
        bench("GridWorld-v0", peers=[], **arguments)


def test_an_unknown_environment_is_refused_before_anything_is_started():
    with pytest.raises(UnknownEnvironment, match="did you mean 'GridWorld-v0'"):
        bench("GridWrld-v0")
