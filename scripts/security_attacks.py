"""Run every attack of the suite on every backend that starts here, as whoever runs this: the cells, as JSON on stdout.

    PYTHONPATH=. python scripts/security_attacks.py [BACKEND ...]

`security_figures.py` runs it as root and as an ordinary user, and writes what comes of it to docs/assets/security.json.
Docker is attacked where DOCKER_HOST names a daemon. `landlock@3` is Landlock as an older kernel keeps it, whose
interface has that version: what it lacks is left to the filter of system calls.
"""

import json
import os
import sys
from typing import Any

from ludus.errors import LudusError
from ludus.sandbox import Backend, Guarantees, Sandbox, backend, landlock
from tests.attacks import Attack, Outcome, attacks, run_attacks
from tests.attacks.suite import not_promised

OF_ITSELF = ("stand-still", "channel-stop", "channel-kill", "channel-fault", "channel-signals")
"""Attacks by a signal to itself, which Landlock of older kernels leaves to a filter that allows none at all."""
BACKENDS = ("bubblewrap", "landlock", "podman", "docker", "gvisor", "process")


def chosen_backend(name: str) -> Backend:
    """A backend by its name; that of an older kernel is one of its own."""
    kind, _, version = name.partition("@")
    if not version:
        return backend(kind)
    landlock._version = lambda: int(version)  # pyright: ignore[reportPrivateUsage]
    return landlock.Landlock()


def cell(name: str, user: str) -> dict[str, Any]:
    """What came of all attacks on one backend."""
    kind = chosen_backend(name)
    found = kind.probe()
    about = {"user": user, "backend": name}
    if not found.works:
        return {**about, "refused": " ".join(found.detail.split())}
    box = Sandbox(kind)
    guarantees = box.guarantees
    due = [one for one in attacks() if guarantees.boundary or not not_promised(one, guarantees)]
    outcomes: dict[str, Outcome] = {}
    for how in dict.fromkeys(one.kind for one in due):
        chosen = [one for one in due if one.kind == how]
        print(f"{user}, {name}: {len(chosen)} of kind {how}", file=sys.stderr, flush=True)
        outcomes |= run_attacks(chosen, box)
    through = [one for one in due if not outcomes[one.name].held]
    known = [one for one in through if is_excepted(one, guarantees)]
    evidence = {one.name: outcomes[one.name].evidence for one in through if one not in known}
    failed, not_made = sorted_out(evidence)
    return {
        **about,
        "version": found.detail,
        "attacks": len(outcomes),
        "held": sum(one.held for one in outcomes.values()),
        "known to get through": {one.name: one.open_on[kind.name] for one in known},
        "not promised": len(attacks()) - len(due),
        "not made": not_made,
        "failed": failed,
        "enforced by": enforced_by(guarantees),
    }


def sorted_out(found: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """What got through, and what could not be tried, since its own signal was refused."""
    not_made = [name for name, text in found.items() if name in OF_ITSELF and "Operation not permitted" in text]
    return {name: text for name, text in found.items() if name not in not_made}, not_made


def is_excepted(attack: Attack, guarantees: Guarantees) -> bool:
    """Whether it is known to get through, and the guarantee itself says so."""
    words = attack.open_on.get(guarantees.backend, "")
    return bool(words) and words in getattr(guarantees, attack.guarantee, "")


def enforced_by(guarantees: Guarantees) -> dict[str, str]:
    """What keeps each limit."""
    return {name: getattr(guarantees, name) for name in ("memory", "processes", "cpu", "disk", "network", "kill")}


def main(names: list[str]) -> int:
    """Attack the backends that are named, or all; the exit code tells whether something got through."""
    cells: list[dict[str, Any]] = []
    user = "root" if os.geteuid() == 0 else "ordinary user"
    for name in names or BACKENDS:
        try:
            cells.append(cell(name, user))
        except LudusError as error:
            cells.append({"user": user, "backend": name, "refused": str(error), "failed": {"start": str(error)}})
        finally:
            getattr(
                backend(name.partition("@")[0]), "close", lambda: None
            )()  # engines of containers keep one open for the next start
    json.dump(cells, sys.stdout, indent=1)
    return int(any(one.get("failed") for one in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
