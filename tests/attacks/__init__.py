"""The hostile suite: attacks on sandboxes, as data and programs. They are no part of the package that is installed.

Not here: the isolation. Every attack is shown to succeed where there is none.
"""

from tests.attacks.attack import Account, Attack, Moment, Outcome
from tests.attacks.no_isolation import NoIsolation, without_isolation
from tests.attacks.running import Deeds, run_attack, run_probes
from tests.attacks.suite import attack_sandbox, attacks, run_attacks

__all__ = [
    "Account",
    "Attack",
    "Deeds",
    "Moment",
    "NoIsolation",
    "Outcome",
    "attack_sandbox",
    "attacks",
    "run_attack",
    "run_attacks",
    "run_probes",
    "without_isolation",
]
