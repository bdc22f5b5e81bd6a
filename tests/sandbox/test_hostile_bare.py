"""Every attack gets through where there is no isolation: so each of them, and each judge, is known to work."""

import os
from functools import cache
from zlib import crc32

import msgspec
import pytest

from tests.attacks import Account, Attack, Outcome, attacks, run_attack, run_probes, without_isolation
from tests.attacks.isolated import isolated
from tests.sampling import SEED

# What gets through without isolation is in namespaces of its own, of this process: others are not reached.
pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("hostile bare")]

PROGRAMS = [attack for attack in attacks() if attack.kind not in ("step", "moment")]
"""What runs inside as a program; the others are environments."""


@cache
def probed() -> dict[str, Outcome]:
    return run_probes([attack for attack in PROGRAMS if attack.kind == "probe"], without_isolation())


def each(found: list[Attack]) -> pytest.MarkDecorator:
    """A third of them in each run, and what probes do, which is done in one start; `make test-full` shows all."""
    chosen = {one.name for one in found if one.kind == "probe" or (crc32(one.name.encode()) + SEED) % 3 == 0}
    return pytest.mark.parametrize(
        "attack",
        [pytest.param(one, id=one.name, marks=[] if one.name in chosen else pytest.mark.full) for one in found],
    )


@each(PROGRAMS)
def test_an_attack_gets_through_where_there_is_no_isolation(attack: Attack) -> None:
    if attack.root and os.geteuid() != 0:
        pytest.skip("it takes root to succeed even without isolation")
    outcome = probed()[attack.name] if attack.kind == "probe" else run_attack(attack, without_isolation())
    if outcome.held and attack.bare:
        pytest.skip(f"not to be shown on this machine: {attack.bare}")
    assert not outcome.mistake, outcome.evidence
    assert not outcome.held, outcome.evidence


def environments(kind: str) -> pytest.MarkDecorator:
    return each([attack for attack in attacks() if attack.kind == kind and not attack.bare])


@environments("step")
def test_a_hostile_step_harms_whoever_believes_it(attack: Attack) -> None:
    """A child, a pipe of pickles and no deadline; what waits for ever is given up after a second."""
    account = msgspec.convert(isolated().call("tests.sandbox.naive:believe_step", attack.program), Account)
    assert attack.judge(None, account), account


@environments("moment")
def test_a_hostile_environment_harms_whoever_waits_for_it(attack: Attack) -> None:
    account = msgspec.convert(isolated().call("tests.sandbox.naive:believe_moment", attack.program), Account)
    assert attack.judge(None, account), account
