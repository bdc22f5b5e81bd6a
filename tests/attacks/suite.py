"""The suite: all attacks, and what comes of them on one sandbox."""

from collections.abc import Iterable
from typing import Any

import msgspec

from ludus.errors import InvalidArgument, shorten
from ludus.sandbox import Guarantees, Sandbox
from ludus.testing.report import Finding, Report
from tests.attacks.attack import Attack, Outcome
from tests.attacks.environment_attacks import ENVIRONMENT_ATTACKS
from tests.attacks.file_attacks import FILE_ATTACKS
from tests.attacks.kernel_attacks import KERNEL_ATTACKS
from tests.attacks.limit_attacks import LIMIT_ATTACKS
from tests.attacks.network_attacks import NETWORK_ATTACKS
from tests.attacks.no_isolation import without_isolation
from tests.attacks.process_attacks import PROCESS_ATTACKS, STAYING_ATTACKS
from tests.attacks.running import Deeds, run_attack, run_probes

__all__ = ["attack_sandbox", "attacks", "run_attacks", "run_bare"]

SECTIONS: dict[str, tuple[Attack, ...]] = {
    "Limits": LIMIT_ATTACKS,
    "Staying": STAYING_ATTACKS,
    "Files": FILE_ATTACKS,
    "Processes": PROCESS_ATTACKS,
    "The kernel": KERNEL_ATTACKS,
    "Sockets": NETWORK_ATTACKS,
    "Environments, on their channel": ENVIRONMENT_ATTACKS,
}
ATTACKS = tuple(attack for section in SECTIONS.values() for attack in section)


def attacks() -> tuple[Attack, ...]:
    """Every attack, in the order in which they are run.

    >>> len(attacks()) >= 40
    True
    """
    return ATTACKS


def run_attacks(chosen: Iterable[Attack], sandbox: Sandbox) -> dict[str, Outcome]:
    """Run attacks on a sandbox: probes in one start, deeds of environments one after the other, all others each alone.

    >>> from tests.attacks import without_isolation
    >>> chosen = [attack for attack in attacks() if attack.name in ("read-keys", "host-loopback")]
    >>> [outcome.held for outcome in run_attacks(chosen, without_isolation()).values()]
    [False, False]
    """
    found = list(chosen)
    probes, deeds = ([attack for attack in found if attack.kind == kind] for kind in ("probe", "step"))
    outcomes = run_probes(probes, sandbox) if probes else {}
    with Deeds(sandbox) as open_deeds:
        outcomes.update({attack.name: open_deeds.run(attack) for attack in deeds})
    outcomes.update({one.name: run_attack(one, sandbox) for one in found if one.kind not in ("probe", "step")})
    return {attack.name: outcomes[attack.name] for attack in found}


def run_bare(names: list[str]) -> dict[str, Any]:
    """What comes of attacks without isolation, as plain data; called in a worker with namespaces of its own."""
    chosen = [attack for attack in ATTACKS if attack.name in names]
    if len(chosen) < len(set(names)):
        raise InvalidArgument(f"attacks without isolation: expected names of attacks(), got {shorten(names)}")
    return {name: msgspec.to_builtins(outcome) for name, outcome in run_attacks(chosen, without_isolation()).items()}


def attack_sandbox(sandbox: Sandbox | str | None = None, *, attacks: Iterable[Attack] = ATTACKS) -> Report:
    """Attack a sandbox, and report what got through; a name is the sandbox of that backend, None the default one.

    The sandbox's own policy is attacked, with smaller limits where an attack is on a limit, and two more mounts. A
    backend that is no boundary is attacked only where it enforces something, and is not known to be open.

    >>> from tests.attacks import attacks
    >>> [bomb] = [attack for attack in attacks() if attack.name == "fork-bomb"]
    >>> print(attack_sandbox("process", attacks=[bomb]))
    process: 1 rule, 0 errors, 0 warnings
    """
    box = sandbox if isinstance(sandbox, Sandbox) else Sandbox(sandbox)
    given, guarantees = list(attacks), box.guarantees
    left = {} if guarantees.boundary else {one.name: why for one in given if (why := _left_out(one, guarantees))}
    due = [one for one in given if one.name not in left]
    outcomes = run_attacks(due, box)
    return Report(
        box.backend.name,
        tuple(outcomes),
        tuple(_finding(attack, outcomes[attack.name]) for attack in due if not outcomes[attack.name].held),
        left,
    )


def _left_out(attack: Attack, guarantees: Guarantees) -> str:
    """Why a backend that is no boundary is not attacked so; empty where it is."""
    return not_promised(attack, guarantees) or attack.open_on.get(guarantees.backend, "")


def not_promised(attack: Attack, guarantees: Guarantees) -> str:
    """Why a backend that is no boundary need not withstand an attack; empty where it must, or is known to fail."""
    if attack.guarantee not in ("channel", *guarantees.enforced):
        return f"{guarantees.backend} does not enforce {attack.guarantee}"
    told = getattr(guarantees, attack.guarantee, "")
    return f"{guarantees.backend}: {told}" if attack.excepted and attack.excepted in told else ""


def _finding(attack: Attack, outcome: Outcome) -> Finding:
    message = f"{attack.title}: expected {attack.expects}, got: {outcome.evidence}"
    return Finding(
        "error", attack.name, message, f"do not run hostile code there until guarantees.{attack.guarantee} holds"
    )
