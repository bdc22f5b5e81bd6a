"""Judges that several attacks share: each gives what got through, or nothing."""

import os
import re
from collections.abc import Callable

from tests.attacks.attack import Account, Judge
from tests.attacks.scene import Scene

__all__ = [
    "did_nothing",
    "ended_by",
    "knows_no",
    "left_nothing",
    "no_more_than",
    "processes_with",
    "read_nothing",
    "shut",
    "unchanged",
]


def did_nothing(scene: Scene, account: Account) -> str:
    """For what only the attacker can see: a call that the kernel carried out."""
    del scene
    return account.did


def shut(scene: Scene, account: Account) -> str:
    """For doors of the host's kernel: a kernel of its own may open its own."""
    del scene
    return "" if account.own_kernel else account.did


def read_nothing(scene: Scene, account: Account) -> str:
    """None of the watched files was read."""
    found = scene.canaries.read(account.did)
    return found and f"it read {found}"


def knows_no(secret: Callable[[Scene], str], what: str) -> Judge:
    """A secret that the scene holds is not in what the attacker tells."""

    def judge(scene: Scene, account: Account) -> str:
        return f"it knows {what}" if secret(scene) in account.did.split() else ""

    return judge


def unchanged(*places: str, attack: str) -> Judge:
    """The attack's own folders, outside or shown, are as they were, and it read nothing of them."""

    def judge(scene: Scene, account: Account) -> str:
        found = [changed for place in places if (changed := scene.canaries.changed(place, attack))]
        return f"it changed {', '.join(found)}" if found else read_nothing(scene, account)

    return judge


def left_nothing(scene: Scene, account: Account) -> str:
    """No process of it is there any more."""
    del scene
    return "a process of it was still there after the end" if account.left else ""


def ended_by(*limits: str) -> Judge:
    """It was ended by one of these limits, in time, and left nothing."""

    def judge(scene: Scene, account: Account) -> str:
        if account.did:
            return account.did
        if account.code is None:
            return f"it was still there after {account.seconds:.1f} s"
        if account.usage.limit not in limits and account.kind != "MemoryError":
            return f"it ended with {account.code}, at the limit {account.usage.limit!r}: {account.error}"
        return left_nothing(scene, account)

    return judge


def no_more_than(most: int, slack: int = 0) -> Judge:
    """The first number that the attacker tells is within the limit; the host's own look at it too."""

    def judge(scene: Scene, account: Account) -> str:
        del scene
        found = re.match(r"\d+", account.did)
        if found is not None and int(found[0]) > most + slack:
            return f"it got {account.did} of {most}"
        return account.seen

    return judge


def processes_with(mark: str) -> list[int]:
    """The processes of the host whose command carries a mark."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found += [int(name)] if mark.encode() in file.read() else []
        except OSError:
            pass  # it ended
    return found
