"""Every attack gets through where there is no wall: so each of them, and each judge, is known to work."""

import os
from functools import cache

import msgspec
import pytest

from ludus.testing.sandbox import Account, Attack, Outcome, attacks, run_attack, run_probes, without_wall
from ludus.testing.sandbox.isolated import isolated

# What gets through without a wall is in namespaces of its own, of this process: others are not reached.
pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("hostile bare")]

PROGRAMS = [attack for attack in attacks() if attack.kind not in ("step", "moment")]
"""What runs inside as a program; the others are environments."""


@cache
def probed() -> dict[str, Outcome]:
    return run_probes([attack for attack in PROGRAMS if attack.kind == "probe"], without_wall())


@pytest.mark.parametrize("attack", PROGRAMS, ids=[attack.name for attack in PROGRAMS])
def test_an_attack_gets_through_where_there_is_no_wall(attack: Attack) -> None:
    if attack.root and os.geteuid() != 0:
        pytest.skip("it takes root to succeed even without a wall")
    outcome = probed()[attack.name] if attack.kind == "probe" else run_attack(attack, without_wall())
    if outcome.held and attack.bare:
        pytest.skip(f"not to be shown on this machine: {attack.bare}")
    assert not outcome.mistake, outcome.evidence
    assert not outcome.held, outcome.evidence


def environments(kind: str) -> pytest.MarkDecorator:
    found = [attack for attack in attacks() if attack.kind == kind and not attack.bare]
    return pytest.mark.parametrize("attack", found, ids=[attack.name for attack in found])


@environments("step")
def test_a_hostile_step_harms_whoever_believes_it(attack: Attack) -> None:
    """A child, a pipe of pickles and no deadline; what waits for ever is given up after a second."""
    account = msgspec.convert(isolated().call("tests.sandbox.naive:believe_step", attack.program), Account)
    assert attack.judge(None, account), account


@environments("moment")
def test_a_hostile_environment_harms_whoever_waits_for_it(attack: Attack) -> None:
    account = msgspec.convert(isolated().call("tests.sandbox.naive:believe_moment", attack.program), Account)
    assert attack.judge(None, account), account
