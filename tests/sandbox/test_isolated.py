"""What is shown without isolation is shown in namespaces of its own, and reaches nothing outside of them."""

import pytest

from ludus.errors import SandboxError
from tests.attacks import attacks, run_attack, without_isolation
from tests.attacks.isolated import Isolated, isolated
from tests.sandbox.everybody import kill_everybody, namespaces
from tests.sandbox.naive import NaiveEnv


def test_a_worker_shares_no_namespace_that_an_attack_could_reach_others_by():
    here, there = namespaces(), isolated().call("tests.sandbox.everybody:namespaces")
    assert {name for name in here if here[name] == there[name]} == set()


def test_a_decoy_outside_survives_what_is_sent_to_everybody():
    """Both are in namespaces around them, so that the machine is out of reach should it fail."""
    assert isolated().call("tests.sandbox.everybody:kill_from_within") == [True, True, True]


def test_nothing_is_attacked_without_isolation_outside_of_a_worker():
    with pytest.raises(SandboxError, match="expected namespaces of their own around an attack, got a process of the"):
        without_isolation().start(["/bin/true"])
    with pytest.raises(SandboxError, match="expected namespaces of their own"):
        NaiveEnv(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SandboxError, match="expected namespaces of their own"):
        kill_everybody()


def test_an_attack_without_isolation_is_run_in_a_worker():
    [attack] = [attack for attack in attacks() if attack.name == "kill-processes"]
    assert not run_attack(attack, without_isolation()).held  # a start outside would be refused


def test_a_worker_that_is_lost_is_replaced():
    with Isolated() as worker:
        with pytest.raises(SandboxError, match="or the end of the worker"):
            worker.call("os:_exit", 3)
        assert worker.call("os:getpid") == 1


def test_what_is_raised_in_a_worker_is_told():
    with pytest.raises(SandboxError, match="ZeroDivisionError"):
        isolated().call("operator:truediv", 1, 0)


def test_what_is_left_behind_in_a_worker_does_not_stay_as_zombies():
    with Isolated() as worker:
        worker.call("tests.sandbox.everybody:leave_orphans", 20)
        assert worker.call("tests.sandbox.everybody:zombies") == []
