"""What is shown without a wall is shown in namespaces of its own, and reaches nothing outside of them."""

import pytest

from ludus.errors import SandboxError
from ludus.testing.sandbox import attacks, run_attack, without_wall
from ludus.testing.sandbox.isolated import Isolated, isolated
from tests.sandbox.everybody import kill_everybody, namespaces
from tests.sandbox.naive import NaiveEnv


def test_a_worker_shares_no_namespace_that_an_attack_could_reach_others_by():
    here, there = namespaces(), isolated().call("tests.sandbox.everybody:namespaces")
    assert {name for name in here if here[name] == there[name]} == set()


def test_a_decoy_outside_survives_what_is_sent_to_everybody():
    """Both are in namespaces around them, so that the machine is out of reach should it fail."""
    assert isolated().call("tests.sandbox.everybody:kill_from_within") == [True, True, True]


def test_nothing_is_attacked_without_a_wall_outside_of_a_worker():
    with pytest.raises(SandboxError, match="expected namespaces of their own around an attack, got a process of the"):
        without_wall().start(["/bin/true"])
    with pytest.raises(SandboxError, match="expected namespaces of their own"):
        NaiveEnv(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SandboxError, match="expected namespaces of their own"):
        kill_everybody()


def test_an_attack_without_a_wall_is_run_in_a_worker():
    [attack] = [attack for attack in attacks() if attack.name == "kill-processes"]
    assert not run_attack(attack, without_wall()).held  # a start outside would be refused


def test_a_worker_that_is_lost_is_replaced():
    with Isolated() as worker:
        with pytest.raises(SandboxError, match="or the end of the worker"):
            worker.call("os:_exit", 3)
        assert worker.call("os:getpid") == 1


def test_what_is_raised_in_a_worker_is_told():
    with pytest.raises(SandboxError, match="ZeroDivisionError"):
        isolated().call("operator:truediv", 1, 0)
