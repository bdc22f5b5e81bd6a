"""The contract as a test class: three lines, one test for each rule."""

import subprocess
import sys
import warnings
from unittest import SkipTest

import pytest

from ludus.envs.teaching import Bandit, GridWorld
from ludus.errors import ContractViolation, InvalidType
from ludus.testing import ENV_RULES, EnvContract
from ludus.wrappers import ContractWarning
from tests.testing import broken


class TestGridWorld(EnvContract):
    make = GridWorld


class TestBanditById(EnvContract):
    make = "Bandit-v0"
    seed = 3
    steps = 20


class TestSmallBandit(EnvContract):
    make = lambda: Bandit(arms=2)  # noqa: E731
    steps = 20  # its rules are compiled, and played beside it for a thousand steps for each of these


class TestWalk(EnvContract):
    make = lambda render_mode=None: broken.Walk(render_mode)  # noqa: E731


class TestLargeGridWorld(EnvContract):
    size = 9

    def make(self):
        return GridWorld(self.size)


def names(kind):
    return [name for name in dir(kind) if name.startswith("test_")]


def test_there_is_one_test_for_each_rule_and_it_states_the_law():
    assert sorted(names(EnvContract)) == sorted(f"test_{rule.name.replace('-', '_')}" for rule in ENV_RULES)
    assert EnvContract.test_same_seed_same_history.__doc__.startswith("The same seed and actions give the same history")


def test_every_rule_has_a_name_of_its_own_and_a_law_of_one_sentence():
    assert len({rule.name for rule in ENV_RULES}) == len(ENV_RULES)
    assert [rule.name for rule in ENV_RULES if not rule.law.endswith(".")] == []


def test_a_rule_needs_only_rules_that_come_before_it():
    known = []
    for rule in ENV_RULES:
        assert set(rule.needs) <= set(known), rule.name
        known.append(rule.check)


def contract(env):
    return type("TestIt", (EnvContract,), {"make": env})()


def test_a_breach_fails_the_test_of_its_rule_alone_with_message_and_fix():
    test = contract(broken.RewardIsNaN)
    with pytest.raises(ContractViolation, match="step 3 reward: expected a finite number, got nan\nfix: look for"):
        test.test_rewards_are_finite()
    test.test_rewards_are_numbers()


def test_a_warning_is_warned_about_and_does_not_fail():
    with pytest.warns(ContractWarning, match="snapshot-can-be-taken: snapshot: expected attributes that can be copied"):
        contract(broken.HoldsALock).test_snapshot_can_be_taken()


def test_what_cannot_be_checked_is_skipped_with_the_reason():
    with pytest.raises(SkipTest, match="step-returns-five has to hold first"):
        contract(broken.FourValues).test_same_seed_same_history()


def test_a_contract_without_make_says_what_is_missing():
    with pytest.raises(InvalidType, match="Nothing: expected `make = MyClass`, or a method make"):
        type("Nothing", (EnvContract,), {})().test_makes_an_env()


def test_two_contracts_do_not_share_what_they_found_out():
    class One(EnvContract):
        make = GridWorld

    class Two(One):
        make = broken.CloseRaises

    One().test_close_runs()
    with pytest.raises(ContractViolation):
        Two().test_close_runs()


THREE_LINES = """
from ludus.testing import EnvContract
{define}
class TestMine(EnvContract):
    make = {make}
"""


@pytest.fixture
def outcome(tmp_path):
    """What pytest says about a file with a three-line contract."""

    def run(make, define=""):
        file = tmp_path / "test_mine.py"
        file.write_text(THREE_LINES.format(make=make, define=define))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-ra", file.name]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_three_lines_are_a_whole_test_file(outcome):
    done = outcome("GridWorld", "from ludus.envs.teaching import GridWorld")
    assert done.returncode == 0, done.stdout
    assert f"{len(ENV_RULES)} passed" in done.stdout


def test_a_failure_is_named_by_its_rule_and_shows_the_finding_not_the_suite(outcome):
    define = """
from ludus.envs.teaching import GridWorld
class Mine(GridWorld):
    def close(self):
        raise OSError("stuck")
"""
    done = outcome("Mine", define)
    assert done.returncode == 1
    assert "FAILED test_mine.py::TestMine::test_close_runs" in done.stdout
    assert "close() after an episode: expected no exception, got OSError: stuck (test_mine.py:" in done.stdout
    assert "SKIPPED" in done.stdout
    assert "close-runs has to hold first" in done.stdout
    assert "1 failed" in done.stdout
    assert "def test(self" not in done.stdout


def test_a_rule_can_be_switched_off(outcome):
    done = outcome("GridWorld\n    test_close_runs = None", "from ludus.envs.teaching import GridWorld")
    assert f"{len(ENV_RULES) - 1} passed" in done.stdout


def test_nothing_here_needs_pytest():
    program = "import sys, ludus.testing; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def test_passing_contracts_warn_about_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in names(EnvContract):
            getattr(contract(GridWorld), name)()
