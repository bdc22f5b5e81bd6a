"""`check_env` of rules: compiled with checks, and played beside single environments as long as is asked for."""

import pytest

from ludus.testing import check_env
from ludus.testing.env_rules import compiled
from tests.kernels.strange_games import Nim, Rover

RULE = "a-compiled-batch-is-its-lanes"


def test_rules_that_refuse_illegal_actions_are_played_by_legal_ones():
    report = check_env(Nim, steps=2)
    assert report.ok
    assert RULE in report.rules
    assert RULE not in report.not_checked


def test_a_check_is_bounded_by_time_and_says_how_far_it_went(monkeypatch):
    monkeypatch.setattr(compiled, "MAX_SECONDS", 0.0)
    report = check_env(Rover, steps=20)
    assert report.ok
    assert "of 19,968 steps in 0 s; --full plays all" in report.notes[RULE]


@pytest.mark.full
def test_a_full_check_is_bounded_by_steps_alone(monkeypatch):
    monkeypatch.setattr(compiled, "MAX_SECONDS", 0.0)
    report = check_env(Rover, steps=5, full=True)
    assert report.ok
    assert RULE not in report.notes
