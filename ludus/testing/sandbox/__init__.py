"""The hostile suite: attacks on sandboxes, as data and programs, for anyone to run against a wall of theirs.

Not here: the walls. Every attack is shown to succeed where there is none.
"""

from ludus.testing.sandbox.attack import Account, Attack, Moment, Outcome
from ludus.testing.sandbox.no_wall import NoWall, without_wall
from ludus.testing.sandbox.running import Deeds, run_attack, run_probes
from ludus.testing.sandbox.suite import attacks, check_sandbox, run_attacks

__all__ = [
    "Account",
    "Attack",
    "Deeds",
    "Moment",
    "NoWall",
    "Outcome",
    "attacks",
    "check_sandbox",
    "run_attack",
    "run_attacks",
    "run_probes",
    "without_wall",
]
